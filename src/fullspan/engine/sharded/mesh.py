"""The devices that JAX sees, over all processes, as one row; and why it cannot be used where it cannot."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from fullspan.engine.memory import budget
from fullspan.errors import FullspanError

AXIS = "device"
"""Name of the row's only axis."""
_WAY_OUT = "use device='cpu', or install the extra: pip install 'fullspan[sharded]'"


@functools.cache
def why_not() -> str | None:
    """Why no device can be used, or None if one can."""
    try:
        import jax
    except ImportError:
        return "JAX is not installed"
    if not hasattr(jax, "shard_map") or not hasattr(jax, "enable_x64"):
        return f"JAX {jax.__version__} is too old, 0.8 or newer is needed"
    try:
        jax.devices()
    except RuntimeError as error:
        return f"JAX cannot start ({error})"
    return None


def devices(chosen: Sequence[Any] | None = None) -> tuple[Any, ...]:
    """The devices that share a table, those of one process side by side: all, over all processes, or ``chosen``.

    Raises
    ------
    FullspanError : JAX is not there, or their number is not a power of two.
    """
    if (reason := why_not()) is not None:
        raise FullspanError(f"device is 'sharded', but {reason}; {_WAY_OUT}")
    import jax

    found = tuple(sorted(chosen or jax.devices(), key=lambda device: (device.process_index, device.id)))
    if len(found) & (len(found) - 1):
        raise FullspanError(
            f"JAX sees {len(found)} devices; a table is shared by a power of two of them: "
            f"hide some, so that {1 << (len(found).bit_length() - 1)} are left (CUDA_VISIBLE_DEVICES)"
        )
    return found


def free_memory(found: Sequence[Any]) -> int:
    """Bytes that a table may take on each device: what JAX may allocate there, or a share of the host's memory."""
    import jax

    local = [device for device in found if device.process_index == jax.process_index()]
    stats = [device.memory_stats() for device in local]
    if local and all(stats):
        return int(min(s["bytes_limit"] - s["bytes_in_use"] for s in stats))
    return budget() // max(len(local), 1)


@functools.cache
def mesh(found: tuple[Any, ...]) -> Any:
    """The row of devices."""
    import jax
    import numpy as np

    return jax.sharding.Mesh(np.array(found), (AXIS,))
