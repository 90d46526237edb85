"""Arguments that kernels take by value: the same fields in the same order as in ``kernels.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_POINTER = np.uint64
PRICES = np.dtype(
    [(name, _POINTER) for name in ("block_orders", "block_costs", "by_order", "least", "orders", "costs")]
    + [("size", np.int64)]
)
DATUM = np.dtype([("d", _POINTER), ("unit", np.float64), ("low", np.float64), ("high", np.float64)])
BEST = np.dtype(
    [("bar", _POINTER), ("shared", np.int32), ("padding", np.int32), ("gains", _POINTER), ("indices", _POINTER)]
)


def struct(kind: np.dtype[Any], *fields: Any) -> NDArray[Any]:
    """One value of a struct; device arrays stand for their addresses."""
    values = tuple(f.data.ptr if hasattr(f, "data") and hasattr(f.data, "ptr") else f for f in fields)
    return np.array(values, dtype=kind)
