"""Who holds which state: the top bits of an index name the device, the next ones the block, the rest the place.

    index = (device * blocks_per_device + block) * size + place

Multiplying by Phi_y maps z to ``z xor y``: a permutation of places, of a device's blocks, and of devices, by the three
parts of y. A device therefore exchanges its shard with one partner, ``device xor top(y)``, or, if y has no top bits,
with nobody.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.dual.layout import Layout
from fullspan.engine.memory import budget
from fullspan.errors import FullspanError
from fullspan.model.algebra.basis import Basis

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

    # The same order on every process: the place in it is the device's number.
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


LARGEST_BLOCK = 1 << 22
"""Places in a block: large enough for links to run at full speed, small next to a shard."""
_PER_PLACE, _PER_BLOCK = 128, 64
"""Bytes next to the tables: intermediate results and prices of a block, prices of all blocks."""
REPORTING_PARTS = 64
"""Parts of the table, however many devices share it, that each report their best candidate."""


@dataclass(frozen=True)
class Shards:
    """A Walsh table over ``basis`` in ``n_devices`` equal shards, cut into blocks of at most ``largest`` places."""

    basis: Basis
    n_devices: int
    largest: int = LARGEST_BLOCK

    def __post_init__(self) -> None:
        if self.basis.kinds.any():
            raise FullspanError(
                f"the {self.basis.name} basis of {sorted(set(self.basis.cards))} levels cannot be shared by devices; "
                "only Walsh functions can: use basis='walsh' with 2, 4, 8, ... levels in every variable "
                "(merge levels), or device='cpu' or 'cuda'"
            )
        if self.n_devices > self.basis.n_states:
            raise FullspanError(
                f"{self.n_devices} devices cannot share a table of {self.basis.n_states} states; use device='cpu'"
            )

    @cached_property
    def n_parts(self) -> int:
        """Parts that report a candidate: those of the table on one CPU, so that all devices see the same."""
        return min(REPORTING_PARTS, Layout.of(self.basis).n_blocks)

    @cached_property
    def layout(self) -> Layout:
        """Blocks that lie within a shard and within a part."""
        most = min(self.largest, self.per_device, self.basis.n_states // self.n_parts)
        n_low, size = 0, 1
        while n_low < len(self.basis.cards) and size * self.basis.cards[n_low] <= most:
            size *= self.basis.cards[n_low]
            n_low += 1
        return Layout(self.basis, n_low)

    @property
    def per_device(self) -> int:
        """States of a shard."""
        return self.basis.n_states // self.n_devices

    @property
    def size(self) -> int:
        """Places in a block."""
        return self.layout.size

    @property
    def blocks(self) -> int:
        """Blocks of a shard."""
        return self.per_device // self.size

    @property
    def parts(self) -> int:
        """Parts of a shard; devices that share a part report one each."""
        return max(1, self.n_parts // self.n_devices)

    def split(self, y: int) -> tuple[int, int, int]:
        """Device, block and place of an index."""
        block, place = divmod(y, self.size)
        return *divmod(block, self.blocks), place

    def places(self, indices: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Block, counted over all devices, and place of indices: both fit 32 bits where an index need not."""
        return (indices // self.size).astype(np.int32), (indices % self.size).astype(np.int32)

    def n_bytes(self, item: int) -> int:
        """Peak memory of a device: eta and d, and what one block needs next to its prices."""
        return 2 * self.per_device * item + _PER_PLACE * self.size + _PER_BLOCK * self.blocks

    def exchanged(self, y: int, item: int) -> int:
        """Bytes that each device sends in a step along term ``y``: its shard if y has top bits, else nothing."""
        return self.per_device * item if self.split(y)[0] else 0
