"""The one place that holds the options of compiled code.

A step on a small table takes a tenth of a millisecond. Threads that sleep between steps take half of that to wake up;
threads that wait for each other by spinning make it twenty times slower as soon as anything else runs on the machine.
So they spin for some ten microseconds, long enough for the next step to follow, and sleep then. GNU OpenMP reads its
waiting policy once, when it is loaded, which is when the first kernel is compiled or fetched from the cache; a user's
own setting is respected.
"""

from __future__ import annotations

import os

if "OMP_WAIT_POLICY" not in os.environ:
    os.environ["OMP_WAIT_POLICY"] = "passive"
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")

from numba import njit

# Rounding may be reassociated and contracted, so that loops vectorise; NaN and infinity keep their meaning.
_FAST = {"reassoc", "contract", "arcp", "nsz"}

serial = njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
"""Compile a function that runs on one core and may be called from other compiled code."""

ordered = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
"""The same, for arithmetic whose order is part of its precision."""

inlined = njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST, inline="always")
"""The same, written out where it is called: short functions of many arrays, whose references are not counted then."""

parallel = njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST, parallel=True)
"""Compile a function whose ``prange`` loops use all cores."""

__all__ = ["inlined", "ordered", "parallel", "serial"]
