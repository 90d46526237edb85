"""Matrix products on one core, where kernels or fits share the others.

Looking for the libraries takes some milliseconds, longer than a fit of a small table: it is done once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()
_inside: list[Any] = []
"""The limits that the first thread inside has set, once for each thread that is."""


@contextmanager
def one_core() -> Iterator[None]:
    """Inside it BLAS uses one core, until the last thread has left."""
    with _lock:
        _inside.append(_inside[0] if _inside else _libraries().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limits = _inside.pop()
            if not _inside:
                limits.restore_original_limits()


@cache
def _libraries() -> Any:
    import scipy.linalg  # noqa: F401  its BLAS is another than NumPy's, and must be there to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
