"""The empirical distribution: the distinct states seen, and how often."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.errors import DataError
from fullspan.space import Space

BLOCK_ROWS = 1 << 14


@dataclass(frozen=True, eq=False)
class Empirical:
    """Distinct states with positive counts.

    Attributes
    ----------
    space : the variables and their levels.
    states : (m, n) small unsigned integers, one distinct state per row, sorted by mixed-radix index (the last
        variable is the most significant digit).
    counts : (m,) float64, positive: rows, or summed weights, per state.
    n_rows : rows read, dropped ones included.
    n_dropped : rows dropped because of missing values.
    """

    space: Space
    states: NDArray[np.unsignedinteger[Any]]
    counts: NDArray[np.float64]
    n_rows: int
    n_dropped: int = 0

    @property
    def total(self) -> float:
        """Sum of the counts."""
        return float(self.counts.sum())

    @classmethod
    def from_codes(
        cls,
        codes: NDArray[Any] | Sequence[Sequence[int]],
        weights: NDArray[Any] | Sequence[float] | None = None,
        space: Space | None = None,
    ) -> Empirical:
        """Count rows of codes, shape (rows, n); without a space each variable has ``max + 1`` levels.

        Raises
        ------
        DataError : shapes disagree, a code is out of range, a weight is negative or not finite, or all are 0.
        """
        rows = np.asarray(codes)
        if rows.ndim != 2 or rows.shape[0] == 0 or rows.shape[1] == 0:
            raise DataError(
                f"codes of shape {rows.shape} were given; (rows, variables) with at least one each is needed"
            )
        if not np.issubdtype(rows.dtype, np.integer):
            raise DataError(f"codes are integers, but {rows.dtype} was given")
        space = Space.of_cards(np.maximum(rows.max(axis=0) + 1, 1)) if space is None else space
        _check_codes(rows, space)
        w = np.ones(len(rows)) if weights is None else checked_weights(weights, len(rows))
        return tally(space, [rows[:, j] for j in range(len(space))], w, n_rows=len(rows))

    @classmethod
    def from_table(cls, table: NDArray[Any], space: Space | None = None) -> Empirical:
        """Counts as an array with one axis per variable: ``table[x_0, ..., x_{n-1}]``.

        Raises
        ------
        DataError : the shape is not ``space.cards``, or a count is negative, not finite, or all are 0.
        """
        counts = np.asarray(table)
        space = Space.of_cards(counts.shape) if space is None else space
        if counts.shape != space.cards or counts.ndim == 0:
            raise DataError(f"the table has the shape {counts.shape}, the variables have {space.cards} levels")
        weights = checked_weights(counts.ravel(), counts.size)
        columns = [axis.ravel() for axis in np.indices(counts.shape)]
        total = weights.sum()
        return tally(space, columns, weights, n_rows=int(total) if float(total).is_integer() else counts.size)

    def fingerprint(self) -> str:
        """SHA-256 of space, states and counts, as hex; the same data give the same text on every machine."""
        variables = [[v.name, list(v.levels), v.edges] for v in self.space.variables]
        digest = hashlib.sha256(json.dumps(variables, ensure_ascii=True).encode())
        digest.update(np.ascontiguousarray(self.states, dtype="<u4").tobytes())
        digest.update(np.ascontiguousarray(self.counts, dtype="<f8").tobytes())
        return digest.hexdigest()


def _check_codes(rows: NDArray[Any], space: Space) -> None:
    if rows.shape[1] != len(space):
        raise DataError(f"codes have {rows.shape[1]} columns, the space has {len(space)} variables")
    wrong = (rows < 0) | (rows >= np.array(space.cards))
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        variable = space.variables[j]
        raise DataError(
            f"row {i + 1} has code {rows[i, j]} for {variable.name!r}, which has codes 0 to {variable.card - 1}"
        )


def checked_weights(weights: Any, n_rows: int) -> NDArray[np.float64]:
    """Weights as float64, one per row.

    Raises
    ------
    DataError : they are not numbers, too few or many, negative or not finite.
    """
    try:
        w = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the weights are not numbers: {error}") from error
    if w.shape != (n_rows,):
        raise DataError(f"weights of shape {w.shape} were given for {n_rows} rows; one weight per row is needed")
    bad = ~(np.isfinite(w) & (w >= 0))
    if bad.any():
        i = int(np.argmax(bad))
        raise DataError(f"the weight of row {i + 1} is {float(w[i])!r}; weights are finite and not negative")
    return w


def tally(
    space: Space,
    columns: Sequence[NDArray[Any]],
    weights: NDArray[np.float64],
    *,
    n_rows: int,
    n_dropped: int = 0,
) -> Empirical:
    """Sort rows of codes, given by column, merge equal ones, and leave out those of weight 0.

    Raises
    ------
    DataError : the weights sum to 0.
    """
    if not weights.sum() > 0:
        raise DataError("the counts or weights sum to 0; there is nothing to learn from")
    if not (keep := weights > 0).all():
        columns, weights = [c[keep] for c in columns], weights[keep]
    order, counts = _merged(space, columns, weights)
    states = _side_by_side(columns, code_dtype(space)).take(order, axis=0)
    states.flags.writeable = counts.flags.writeable = False
    return Empirical(space, states, counts, n_rows, n_dropped)


def code_dtype(space: Space) -> type[np.unsignedinteger[Any]]:
    """The smallest unsigned type that holds every code."""
    largest = max(space.cards) - 1
    return np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.uint32


def _side_by_side(
    columns: Sequence[NDArray[Any]], dtype: type[np.unsignedinteger[Any]]
) -> NDArray[np.unsignedinteger[Any]]:
    """The columns as rows, written block by block, so that a block stays in the cache."""
    rows = np.empty((len(columns[0]), len(columns)), dtype=dtype)
    for start in range(0, len(rows), BLOCK_ROWS):
        for j, column in enumerate(columns):
            rows[start : start + BLOCK_ROWS, j] = column[start : start + BLOCK_ROWS]
    return rows


def _merged(
    space: Space, columns: Sequence[NDArray[Any]], weights: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """One row of each distinct state, in the order of the index, and the summed weights."""
    if space.n_states >= 2**63:
        order = np.lexsort(columns)
        ranked = np.stack([c[order] for c in columns])
        return _run_sums(order, (ranked[:, 1:] != ranked[:, :-1]).any(axis=0), weights)
    index = np.zeros(len(weights), dtype=np.int64)
    for column, stride in zip(columns, space.strides, strict=True):
        index += column.astype(np.int64) * stride
    if space.n_states <= 8 * len(index):
        return _dense_sums(index, weights, space.n_states)
    order = np.argsort(index)
    ranked = index[order]
    return _run_sums(order, ranked[1:] != ranked[:-1], weights)


def _run_sums(
    order: NDArray[np.intp], is_new: NDArray[np.bool_], weights: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Sums over runs of equal sorted rows; ``is_new`` says which rows differ from the one before."""
    first = np.concatenate([[0], np.flatnonzero(is_new) + 1])
    return order[first], np.add.reduceat(weights[order], first, dtype=np.float64)


def _dense_sums(
    index: NDArray[np.int64], weights: NDArray[np.float64], n_states: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The same without sorting, where a table of all states is no larger than the rows."""
    row = np.empty(n_states, dtype=np.intp)
    row[index] = np.arange(len(index))
    sums: NDArray[np.float64] = np.bincount(index, weights=weights, minlength=n_states).astype(np.float64, copy=False)
    seen = np.flatnonzero(sums)
    return row[seen], sums[seen]
