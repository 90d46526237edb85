"""Tables as scikit-learn passes them, refused in its words where they are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fullspan.errors import DataError


def checked_table(X: Any, n_features: int | None = None, estimator: str = "the model") -> Any:
    """The table; what is only convertible to an array becomes one. ``estimator`` is named in messages.

    Raises
    ------
    TypeError : it is a sparse matrix.
    DataError : it is an array that is complex, has no column, or not ``n_features`` of them.
    """
    import scipy.sparse

    if scipy.sparse.issparse(X):
        raise TypeError("a sparse matrix was given, dense data is required; use X.toarray()")
    if hasattr(X, "__array__") and not any(hasattr(X, name) for name in ("columns", "schema", "shape")):
        X = np.asarray(X)
    if isinstance(X, np.ndarray):
        _check_array(X, n_features, estimator)
    return X


def _check_array(X: np.ndarray, n_features: int | None, estimator: str) -> None:
    if np.iscomplexobj(X):
        raise DataError("Complex data not supported: a column holds numbers, text or truth values")
    if X.ndim == 1 and n_features is not None:
        raise DataError(
            f"Expected 2D array, got 1D array of {X.size} cells instead. Reshape your data to rows and columns, with "
            "X.reshape(1, -1) if it is a single row."
        )
    if X.ndim == 2 and X.shape[1] == 0:
        raise DataError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if X.ndim == 2 and n_features is not None and X.shape[1] != n_features:
        raise DataError(f"X has {X.shape[1]} features, but {estimator} is expecting {n_features} features as input")


def checked_weight(sample_weight: Any) -> Any:
    """The weights, as an array unless they name a column.

    Raises
    ------
    DataError : all of them are zero.
    """
    if sample_weight is None or isinstance(sample_weight, str):
        return sample_weight
    weights = np.asarray(sample_weight)
    if weights.size and not weights.any():
        raise DataError("every sample weight is zero; there is nothing to learn from")
    return weights


def kind_of(X: Any) -> str:
    """The kind of a table, which samples are returned as: array, pandas, polars or arrow."""
    if isinstance(X, np.ndarray | list | tuple) and not (len(X) and isinstance(X[0], Mapping)):
        return "array"
    module = type(X).__module__.split(".")[0]
    return module if module in ("pandas", "polars") else "arrow"


def empty_of(kind: str) -> Any:
    """An empty table of a kind; None stands for Arrow."""
    if kind == "array":
        return np.empty((0, 0))
    if kind in ("pandas", "polars"):
        from importlib import import_module

        return import_module(kind).DataFrame()
    return None
