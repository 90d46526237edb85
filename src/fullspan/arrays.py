"""The types of arrays that pass between modules, declared once.

Kernels take and return C-contiguous arrays of exactly these element types, so that Numba compiles one version of each.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Weights, expectations, probabilities, logarithms: every real number is a double."""

Ints = NDArray[np.int64]
"""Codes of levels, indices of terms and states, counts, row numbers."""

Numbers32 = NDArray[np.int32]
"""Nodes and half-edges of large graphs, which are held in half the room."""

Mask = NDArray[np.bool_]
"""Which entries, rows or states are meant."""

Spins = NDArray[np.int8]
"""States of two-level variables as -1 and +1; 0 is a spin that is not fixed."""
