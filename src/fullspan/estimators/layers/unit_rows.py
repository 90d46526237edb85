"""Tables as units of a machine in layers, with labels among the variables where there is a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data import Empirical
from fullspan.data.canonical import canonical_columns
from fullspan.data.empirical import checked_weights
from fullspan.data.space import Space, Variable
from fullspan.errors import DataError
from fullspan.estimators.inputs.reading import Reading
from fullspan.estimators.inputs.tables import checked_table
from fullspan.estimators.inputs.targets import refuse_counts_with_outputs
from fullspan.learn.layered.fit import Data
from fullspan.model.units import OPEN, Units

if TYPE_CHECKING:
    from fullspan.estimators.layers.layered import LayeredEstimator

_EXPANDED_UNITS = 1 << 26
"""Most units of repeated rows that are written out; beyond, rows have weights."""


@dataclass(frozen=True)
class UnitRows:
    """Rows as units, and what was read."""

    units: Units
    data: Data
    n_rows: int
    n_dropped: int
    missing_cells: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.units.count == 0:
            raise DataError(f"every column has one level only (n_samples = {self.n_rows}): there is nothing to learn")

    def sorted(self, columns: Sequence[int] | None = None) -> tuple[UnitRows, list[int]]:
        """The rows in an order that follows their counts, as often as they were counted, and that of their columns.

        The columns are in the order that is given, or, of the first rows, in one that follows their counts, too. Random
        batches and weights then depend on neither the order of the table nor how its repeated rows are written.
        """
        table = self.counted()
        order = canonical_columns(table) if columns is None else list(columns)
        found = _counted(table.reordered(order))
        return replace(self, units=found.units, data=found.data), order

    def counted(self) -> Empirical:
        """The rows as distinct states."""
        codes, space = self.units.decode(self.data.units), self.units.space
        for i, card in enumerate(space.cards):
            if card > 1:
                codes[(self.data.units[:, self.units.of_variable(i)] == OPEN).any(axis=1), i] = OPEN
        return Empirical.from_codes(codes, self.data.weights, space, allow_missing=True)


def rows_of_table(
    X: Any, labels: NDArray[Any] | None, of: LayeredEstimator, weights: Any = None, space: Space | None = None
) -> UnitRows:
    """Read a table; ``space`` has the variables if they are known.

    Raises
    ------
    DataError : the table cannot be read, a value is not allowed, or there are not as many labels as rows.
    """
    reading = Reading.by(of)
    if labels is not None:
        refuse_counts_with_outputs(reading)
    elif not _is_zero_one(X, reading):
        return _counted(reading.count(X, weights) if space is None else reading.count_again(X, space, weights))
    inputs, codes, cells = _coded(X, reading, None if space is None else _without(space, of.target, labels is not None))
    if labels is not None:
        inputs, codes = _with_labels(inputs, codes, labels, str(of.target), space)
    if space is not None and inputs != space:
        raise DataError(f"the rows have other variables than the machine, which has {', '.join(space.names[:12])}")
    rows = _weighted(Units(inputs), codes, np.ones(len(codes)) if weights is None else weights, of.missing)
    if space is None:
        _refuse_unseen(rows)
    return replace(rows, missing_cells=cells)


def _counted(empirical: Empirical) -> UnitRows:
    """Rows of distinct states, as often as they were counted."""
    units = Units(empirical.space)
    states, counts = _expanded(empirical.states, empirical.counts, units.count)
    data = Data(units.encode(states.astype(np.int64)), counts)
    return UnitRows(units, data, empirical.n_rows, empirical.n_dropped + empirical.n_empty, empirical.missing_cells)


def _coded(
    X: Any, reading: Reading, space: Space | None
) -> tuple[Space, NDArray[np.int32], Mapping[str, Mapping[str, int]]]:
    """Variables and codes of rows in their order, and the missing cells of a table that is read for the first time."""
    if _is_zero_one(X, reading):
        codes = _binary_codes(X, reading.missing)
        empty = (codes < 0).sum(axis=0)
        return Space.of_cards((2,) * codes.shape[1]), codes, {f"x{j}": {"": int(n)} for j, n in enumerate(empty) if n}
    cells: Mapping[str, Mapping[str, int]] = {}
    if space is None:
        counted = reading.count(X)
        space, cells = counted.space, counted.missing_cells
    return space, reading.encode(X, space, allow_missing=reading.missing in ("em", "drop")), cells


def _weighted(units: Units, codes: NDArray[np.int32], weights: Any, missing: str) -> UnitRows:
    """Rows with a positive weight and, under ``"drop"``, without a missing cell."""
    if isinstance(weights, str):
        raise DataError(f"the weights are named by {weights!r}; with labels or 0/1 arrays, give them as numbers")
    known = checked_weights(weights, len(codes))
    complete = (codes >= 0).all(axis=1)
    kept: NDArray[np.bool_] = (known > 0) & (complete | (missing != "drop"))
    if not kept.any():
        raise DataError("no row is left to learn from: all have missing cells or no weight")
    return UnitRows(units, Data(units.encode(codes[kept]), known[kept]), len(codes), int((~kept).sum()))


def _refuse_unseen(rows: UnitRows) -> None:
    """Refuse a variable of which no cell is observed: nothing could be learned about it."""
    seen = (rows.data.units != OPEN).any(axis=0)
    if not seen.all():
        space = rows.units.space
        names = [space.names[i] for i in range(len(space)) if not seen[rows.units.of_variable(i)].all()]
        raise DataError(
            f"column {', '.join(names[:12])} has no observed cell in {rows.n_rows} rows: leave it out of the table"
        )


def codes_of_table(X: Any, of: LayeredEstimator) -> NDArray[np.int32]:
    """Codes of rows for a fitted machine, −1 for what is missing; the target may be left out.

    Raises
    ------
    DataError : a value is no level, or a cell is missing under ``missing="error"``.
    """
    space, target = of.space_, of.target
    with_target = target is not None and isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == len(space)
    table = checked_table(X, None if with_target else of.n_features_in_, type(of).__name__)
    if target is not None and not isinstance(table, np.ndarray | list | tuple):  # found by name, the target too
        codes = Reading.by(of).encode(table, space, allow_missing=True)
        _refuse_open(np.delete(codes, space.position(target), axis=1), of.missing)
        return codes
    inputs = space if with_target else _without(space, target, target is not None)
    if _is_zero_one(table, None) and all(v.levels == (0, 1) for v in inputs.variables):
        codes = _binary_codes(table, of.missing)
    else:
        codes = Reading.by(of).encode(table, inputs, allow_missing=of.missing != "error")
    out = np.full((len(codes), len(space)), OPEN, dtype=np.int32)
    out[:, [space.position(name) for name in inputs.names]] = codes
    return out


def _refuse_open(codes: NDArray[Any], missing: str) -> None:
    if missing == "error" and (codes < 0).any():
        raise DataError(
            f"row {int(np.argmax((codes < 0).any(axis=1))) + 1} has a missing cell, and missing cells are not allowed "
            "here: fit with missing='em'"
        )


def _is_zero_one(X: Any, reading: Reading | None) -> bool:
    """Whether a table is an array of numbers or truth values that is to be read as units directly."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biuf" or X.shape[0] == 0:
        return False
    if reading is not None and (
        reading.columns
        or reading.levels
        or reading.bins
        or reading.count_column
        or reading.na_values
        or reading.missing == "level"
    ):
        return False
    known = X[~np.isnan(X)] if X.dtype.kind == "f" else X
    if np.isinf(known).any():
        i, j = np.argwhere(np.isinf(X))[0]
        raise DataError(f"row {i + 1} has {X[i, j]} in column {j + 1}; units are 0 or 1, and levels are finite")
    if reading is not None and X.dtype.kind == "f" and (known != np.round(known)).any():
        i, j = np.argwhere((np.round(X) != X) & ~np.isnan(X))[0]
        raise DataError(
            f"row {i + 1} has {X[i, j]:g} in column {j + 1}; units are 0 or 1 and levels are whole numbers or text: "
            "binarise the values, (X > 0.5), or cut them with bins="
        )
    return bool(((known == 0) | (known == 1)).all())


def _binary_codes(X: NDArray[Any], missing: str) -> NDArray[np.int32]:
    if X.dtype.kind != "f":
        return X.astype(np.int32)
    empty = np.isnan(X)
    codes: NDArray[np.int32] = np.where(empty, OPEN, X).astype(np.int32)
    _refuse_open(codes, missing)
    return codes


def _without(space: Space, target: str | None, leave_out: bool) -> Space:
    """The variables, without the target if it is to be left out."""
    return Space(tuple(v for v in space.variables if not (leave_out and v.name == target)))


def _with_labels(
    inputs: Space, codes: NDArray[Any], labels: NDArray[Any], target: str, space: Space | None
) -> tuple[Space, NDArray[np.int32]]:
    """The variables with the target as their last, and the codes with a column for it."""
    if labels.shape != (len(codes),):
        raise DataError(f"labels of shape {labels.shape} were given for {len(codes)} rows; one per row is needed")
    if space is None:
        levels = tuple(v.item() if isinstance(v, np.generic) else v for v in np.unique(labels))
        variable = Variable(target, levels)
    else:
        variable = space.variables[space.position(target)]
    column = np.array([variable.code(v) for v in labels.tolist()], dtype=np.int32)
    return Space((*inputs.variables, variable)), np.column_stack([codes, column]).astype(np.int32)


def _expanded(
    states: NDArray[Any], counts: NDArray[np.float64], n_units: int
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Rows as often as they were counted, where counts are whole and that is not too many; else weighted."""
    if (counts == np.floor(counts)).all() and counts.sum() * n_units <= _EXPANDED_UNITS:
        times = counts.astype(np.int64)
        return np.repeat(states, times, axis=0), np.ones(int(times.sum()))
    return states, counts
