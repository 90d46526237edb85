"""Matrix products on one core: as long as some thread asks for it, and no longer."""

from __future__ import annotations

import numpy as np  # noqa: F401  its BLAS must be there to be found
import scipy.linalg  # noqa: F401  as must this other one
from threadpoolctl import threadpool_info, threadpool_limits

from fullspan.model.algebra import one_core


def cores() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_the_last_to_leave_gives_the_cores_back() -> None:
    """In whatever order they leave."""
    with threadpool_limits(2, "blas"):
        first, second = one_core(), one_core()
        first.__enter__()
        second.__enter__()
        assert cores() == {1}
        first.__exit__(None, None, None)
        assert cores() == {1}
        second.__exit__(None, None, None)
        assert cores() == {2}
        with one_core():
            assert cores() == {1}
        assert cores() == {2}
