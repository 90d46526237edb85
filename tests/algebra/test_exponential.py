"""The vectorised exponential against NumPy's in extended precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.model.algebra import exponential, serial


@serial
def _fill(x: NDArray[Any], out: NDArray[Any]) -> None:
    for i in range(x.size):
        out[i] = exponential(x[i])


def evaluate(x: NDArray[Any]) -> NDArray[Any]:
    out = np.empty_like(x)
    _fill(x, out)
    return out


@pytest.mark.parametrize(("dtype", "lowest", "error"), [(np.float32, -87.0, 2e-7), (np.float64, -700.0, 1e-15)])
def test_relative_error_is_as_promised(dtype: type[np.floating], lowest: float, error: float) -> None:
    """Over the whole range, also where k ln 2 is large and its rounding would show."""
    x = np.linspace(lowest, 0, 100_003).astype(dtype)
    exact = np.exp(x.astype(np.longdouble))
    assert float(np.abs(evaluate(x) / exact - 1).max()) < error


@pytest.mark.parametrize(("dtype", "limit"), [(np.float32, 1e-37), (np.float64, 1e-303)])
def test_far_below_it_is_tiny_and_never_zero(dtype: type[np.floating], limit: float) -> None:
    values = evaluate(np.array([-800.0, -1e30, -np.inf], dtype=dtype))
    assert (values > 0).all()
    assert (values < limit).all()


def test_outside_of_compiled_code_it_is_numpys() -> None:
    assert exponential(0.3) == np.exp(0.3)
