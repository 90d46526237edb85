"""Outputs that come apart from the table, as scikit-learn passes them in ``y``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from fullspan.data.space import Space, Variable
from fullspan.errors import DataError
from fullspan.estimators.inputs.reading import Reading
from fullspan.estimators.inputs.tables import checked_weight

if TYPE_CHECKING:
    from fullspan.data import Empirical


def counted_with_outputs(
    reading: Reading, table: Any, y: Any, sample_weight: Any, called: Sequence[str] | None = None
) -> tuple[Empirical, list[str]]:
    """Counts of a table of inputs and of its outputs in ``y``, which come last, and the names of the outputs.

    Raises
    ------
    DataError : y does not fit the table, a name is that of an input too, or a column holds counts.
    """
    from fullspan.data import Empirical
    from fullspan.data.empirical import checked_weights

    refuse_counts_with_outputs(reading)
    missing = reading.missing
    outputs, variables = targets(y, allow_missing=missing in ("drop", "em"), called=called)
    inputs = replace(reading, missing="em" if missing in ("drop", "em") else missing).count(table)
    space = inputs.space
    codes = reading.encode(table, space, allow_missing=missing in ("drop", "em"))
    if len(codes) != len(outputs):
        raise DataError(f"the table has {len(codes)} rows and y has {len(outputs)}; one output per row is needed")
    for variable in variables:
        if variable.name in space.names:
            raise DataError(f"an input is named {variable.name!r}, as y is; rename one of them")
    rows = np.concatenate([codes, outputs], axis=1)
    weight = checked_weight(sample_weight)
    weights = np.ones(len(rows)) if weight is None else checked_weights(weight, len(rows))
    if missing == "drop":
        keep = (rows >= 0).all(axis=1)
        rows, weights = rows[keep], weights[keep]
    full = Space((*space.variables, *variables))
    counted = Empirical.from_codes(rows, weights, full, allow_missing=missing == "em")
    return replace(counted, missing_cells=inputs.missing_cells), [variable.name for variable in variables]


def refuse_unknown_inputs(codes: NDArray[Any], space: Space) -> None:
    """Refuse an input whose value is no level: what predicts outputs from inputs has no probabilities of inputs.

    Raises
    ------
    DataError : names the first such column and row.
    """
    if (codes < 0).any():
        i, j = (int(k) for k in np.argwhere(codes < 0)[0])
        raise DataError(
            f"the input {space.names[j]!r} has a value in row {i + 1} that is not a level, and a model of outputs "
            "given inputs cannot sum an input out: fit with missing='level' and missing cells in that column, or list "
            "the level with levels="
        )


def refuse_counts_with_outputs(reading: Reading) -> None:
    """Refuse a column of counts where the outputs are in ``y``: it would be left out in silence."""
    if reading.count_column is not None:
        raise DataError(
            f"count_column={reading.count_column!r} counts whole rows, but the outputs are in y, apart from the table; "
            "give the counts as sample_weight=, or the outputs as columns of the table"
        )


def share_right(found: Any, y: Any, sample_weight: Any) -> float:
    """Share of rows whose outputs are all as y says.

    Raises
    ------
    DataError : y is not as many outputs as are predicted.
    """
    predicted, expected = np.asarray(found), np.asarray(y)
    predicted, expected = predicted.reshape(len(predicted), -1), expected.reshape(len(expected), -1)
    if predicted.shape != expected.shape:
        raise DataError(f"y has the shape {np.shape(y)}, but {predicted.shape} outputs are predicted: rows, outputs")
    return float(np.average((predicted == expected).all(axis=1), weights=sample_weight))


def targets(
    y: Any, *, allow_missing: bool, called: Sequence[str] | None = None
) -> tuple[NDArray[np.int64], list[Variable]]:
    """Codes (rows, outputs) of y, and the variables they are levels of; None and NaN are -1 where these may be.

    The outputs are ``called`` so, or by the names that y has, or ``"y"``, several ``"y0"``, ``"y1"``, ...

    Raises
    ------
    DataError : y has no or too many dimensions, no row, a single level, infinity, a missing cell, or not as many
        columns as there are names.
    """
    name = getattr(y, "name", None)
    names = _column_names(y)
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array, name = array[:, 0], names[0] if names else None
        names = None
    if array.ndim not in (1, 2) or not array.size:
        raise DataError(f"y has the shape {array.shape}; (rows,) or (rows, outputs) is needed")
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported: y holds numbers, text or truth values")
    columns = [array] if array.ndim == 1 else list(array.T)
    if called is not None:
        names = list(called)
        if len(names) != len(columns):
            raise DataError(f"y has {len(columns)} columns; one for each of the outputs {', '.join(names)} is needed")
    elif names is None:
        names = [str(name) if name else "y"] if array.ndim == 1 else [f"y{j}" for j in range(len(columns))]
    found, variables = [], []
    for column, label in zip(columns, names, strict=True):
        absent = _absent(column, label, allow_missing)
        present = np.array(column[~absent].tolist()) if column.dtype == object else column[~absent]
        check_classification_targets(present)
        levels, codes = np.unique(present, return_inverse=True)
        if len(levels) < 2:
            classes = ", ".join(map(repr, levels.tolist()))
            raise DataError(f"the output {label!r} has one class, {classes}; at least 2 are needed to learn from")
        placed = np.full(len(column), -1, dtype=np.int64)
        placed[~absent] = codes.ravel()
        found.append(placed)
        variables.append(Variable(label, tuple(levels.tolist())))
    return np.stack(found, axis=1), variables


def _column_names(y: Any) -> list[str] | None:
    """Names of the columns of a frame."""
    columns = getattr(y, "column_names", None) or getattr(y, "columns", None)  # Arrow's, and pandas' or polars'
    return None if columns is None else [str(c) for c in columns]


def _absent(column: NDArray[Any], label: str, allow_missing: bool) -> NDArray[np.bool_]:
    """Which cells of an output are missing."""
    if column.dtype.kind == "f" and np.isinf(column).any():
        raise DataError(f"Input y contains infinity or a value too large for dtype('{column.dtype}').")
    absent = np.array([cell is None or (cell == cell) is not True for cell in column.tolist()], dtype=bool)
    if absent.any() and not allow_missing:
        raise DataError(
            f"Input y contains NaN: the output {label!r} is missing in {int(absent.sum())} rows; missing='drop' leaves "
            "them out, missing='em' learns from the others"
        )
    return absent
