"""The one place that holds the options of compiled code."""

from __future__ import annotations

from numba import njit

# Rounding may be reassociated and contracted, so that loops vectorise; NaN and infinity keep their meaning.
_FAST = {"reassoc", "contract", "arcp", "nsz"}

serial = njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
"""Compile a function that runs on one core and may be called from other compiled code."""

parallel = njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST, parallel=True)
"""Compile a function whose ``prange`` loops use all cores."""

__all__ = ["parallel", "serial"]
