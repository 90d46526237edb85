"""Arguments that kernels take by value: the same fields in the same order as in ``kernels.cu``, eight bytes each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def struct(*fields: Any) -> NDArray[np.void]:
    """Fields of eight bytes as one value: device arrays by their addresses, integers, floats in double precision."""
    words = np.empty(len(fields), np.uint64)
    for i, value in enumerate(fields):
        if isinstance(value, float):
            words.view(np.float64)[i] = value
        else:
            words[i] = value if isinstance(value, int) else value.data.ptr
    return words.view(f"V{words.nbytes}")  # one value: CuPy passes arrays of size one as they are
