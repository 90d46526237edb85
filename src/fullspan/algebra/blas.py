"""Matrix products on one core, where kernels or fits share the others.

Looking for the libraries takes some milliseconds, longer than a fit of a small table: it is done once.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_core() -> AbstractContextManager[Any]:
    """Inside it BLAS uses one core."""
    limited: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limited


@cache
def _libraries() -> Any:
    import scipy.linalg  # noqa: F401  its BLAS is another than NumPy's, and must be there to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
