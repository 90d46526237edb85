"""The one place that holds the options of compiled code.

A step on a small table takes a tenth of a millisecond. Threads that sleep between steps take half of that to wake up;
threads that wait for each other by spinning make it twenty times slower as soon as anything else runs on the machine.
So they spin for some ten microseconds, long enough for the next step to follow, and sleep then. GNU OpenMP reads its
waiting policy once, when it is loaded, which is when the first kernel is compiled or fetched from the cache; a user's
own setting is respected.

Compiled code is kept on disk by Numba. A file of it that is damaged is written anew, and where none can be written,
code is compiled for this process alone.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if "OMP_WAIT_POLICY" not in os.environ:
    os.environ["OMP_WAIT_POLICY"] = "passive"
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")

from numba import njit
from numba.core.caching import FunctionCache

# Rounding may be reassociated and contracted, so that loops vectorise; NaN and infinity keep their meaning.
_FAST = {"reassoc", "contract", "arcp", "nsz"}


class _Cache(FunctionCache):
    """Numba's cache of a function, in which damage is a miss and a failure to write is none."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # unpickling what is damaged may raise anything
            with contextlib.suppress(OSError):
                # The index is read again when the new code is saved.
                self.flush()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # a full disk, or a folder that is no longer writable
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]


def _cached_njit(**options: Any) -> Any:
    """``njit(cache=True)`` with the cache above; without a cache where no folder for it is writable."""
    decorate = njit(nogil=True, error_model="numpy", **options)

    def decorator(function: Callable[..., Any]) -> Any:
        dispatcher = decorate(function)
        if hasattr(dispatcher, "enable_caching"):  # with NUMBA_DISABLE_JIT it is the function itself
            with contextlib.suppress(RuntimeError, OSError):
                dispatcher._cache = _Cache(dispatcher.py_func)  # type: ignore[no-untyped-call]
        return dispatcher

    return decorator


if TYPE_CHECKING:  # kernels are checked as Numba declares them
    _compiled = njit
else:
    _compiled = _cached_njit

serial = _compiled(fastmath=_FAST)
"""Compile a function that runs on one core and may be called from other compiled code."""

ordered = _compiled(fastmath={"contract", "nsz"})
"""The same, for arithmetic whose order is part of its precision."""

inlined = _compiled(fastmath=_FAST, inline="always")
"""The same, written out where it is called: short functions of many arrays, whose references are not counted then."""

parallel = _compiled(fastmath=_FAST, parallel=True)
"""Compile a function whose ``prange`` loops use all cores."""

__all__ = ["inlined", "ordered", "parallel", "serial"]
