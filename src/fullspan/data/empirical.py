"""The empirical distribution: the distinct states seen, and how often."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.merging import (
    Pattern,
    code_dtype,
    grouped,
    has_missing,
    joined,
    merged,
    n_missing_cells,
    side_by_side,
)
from fullspan.data.space import Space, Variable
from fullspan.errors import DataError

LEAST_TOTAL, MOST_TOTAL = 2.0**-53, 2.0**53
"""Sums of counts or weights that are taken: whole numbers are exact up to there."""


@dataclass(frozen=True, eq=False)
class Empirical:
    """Distinct states with positive counts; −1 is a missing cell.

    Attributes
    ----------
    space : the variables and their levels.
    states : (m, n) one distinct state per row, sorted by mixed-radix index (the last variable is the most
        significant digit, a missing cell comes before every level). Small unsigned integers, or small signed ones
        if a cell is missing.
    counts : (m,) float64, positive: rows, or summed weights, per state.
    n_rows : rows read, dropped and empty ones included.
    n_dropped : rows dropped because of missing values.
    n_empty : rows without a single observed cell, which say nothing and are in no state.
    n_missing : missing cells of the rows that the states stand for, each row once whatever its weight. Empty rows
        and hidden variables (:meth:`with_hidden`) do not count.
    missing_cells : {column: {text: cells}}, the missing cells of the table by the text that stands there, "" if none.
    """

    space: Space
    states: NDArray[np.integer[Any]]
    counts: Array
    n_rows: int
    n_dropped: int = 0
    n_empty: int = 0
    n_missing: int = 0
    missing_cells: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Sum of the counts."""
        return float(self.counts.sum())

    @cached_property
    def is_complete(self) -> bool:
        """Whether no state has a missing cell."""
        return not has_missing([self.states])

    def patterns(self) -> Iterator[Pattern]:
        """The states grouped by which cells are missing, complete ones first.

        Examples
        --------
        >>> e = Empirical.from_codes([[0, 1], [-1, 1], [1, 0], [-1, 1]], allow_missing=True)
        >>> [(p.missing, p.states.tolist(), p.counts.tolist()) for p in e.patterns()]
        [((), [[1, 0], [0, 1]], [1.0, 1.0]), ((0,), [[-1, 1]], [2.0])]
        """
        return grouped(self.states, self.counts)

    def with_hidden(self, variables: Sequence[Variable]) -> Empirical:
        """The same data over further variables, appended last, of which no cell is observed.

        Raises
        ------
        DataError : a hidden variable has the name of another.
        """
        for variable in variables:
            if variable.name in self.space.names:
                raise DataError(
                    f"the hidden variable {variable.name!r} has the name of an observed one; give it another name"
                )
        if not variables:
            return self
        space = Space((*self.space.variables, *variables))
        states = np.full((len(self.states), len(space)), -1, dtype=code_dtype(space.cards, signed=True))
        states[:, : len(self.space)] = self.states
        states.flags.writeable = False
        return replace(self, space=space, states=states)

    def reordered(self, order: Sequence[int]) -> Empirical:
        """The same data with the columns in another order: place i holds the column that was at ``order[i]``."""
        space, columns = self.space.reordered(order), [self.states[:, i] for i in order]
        rows, counts = merged(space.cards, columns, self.counts, missing=not self.is_complete)
        states = side_by_side(columns, self.states.dtype.type).take(rows, axis=0)
        states.flags.writeable = counts.flags.writeable = False
        return replace(self, space=space, states=states, counts=counts)

    @classmethod
    def merge(cls, *parts: Empirical) -> Empirical:
        """The counts of all parts together, as of one table with all their rows; levels are joined.

        Raises
        ------
        DataError : the variables differ, or one is cut into other bins or has its levels in another order.

        Examples
        --------
        >>> from fullspan.data import count
        >>> whole = count([["a"], ["b"]]) + count([["a"], ["c"]])
        >>> whole.space.variables[0].levels, whole.counts.tolist()
        (('a', 'b', 'c'), [2.0, 1.0, 1.0])
        """
        if not parts:
            raise DataError("there are no counts to add; give at least one part")
        space = functools.reduce(joined, (part.space for part in parts))
        columns = [np.concatenate([part._recoded(v) for part in parts]) for v in space.variables]
        counts = np.concatenate([part.counts for part in parts])
        n_rows, n_dropped = sum(p.n_rows for p in parts), sum(p.n_dropped for p in parts)
        whole = tally(space, columns, counts, n_rows=n_rows, n_dropped=n_dropped)
        return replace(whole, n_empty=sum(p.n_empty for p in parts), n_missing=sum(p.n_missing for p in parts))

    def _recoded(self, variable: Variable) -> NDArray[np.integer[Any]]:
        """One column in the codes of a variable with more levels; a missing cell stays −1."""
        i = self.space.position(variable.name)
        table = [variable.code(level) for level in self.space.variables[i].levels]
        # Indexed by the code, so that -1, a missing cell, finds the last entry.
        codes = np.array([*table, -1], dtype=code_dtype((variable.card,), signed=True))  # the last one is that of -1
        return codes[self.states[:, i].astype(np.int64)]

    def level_counts(self) -> list[Array]:
        """Of each variable, how often each of its levels was observed."""
        columns = zip(self.states.T, self.space.cards, strict=True)
        found: list[Array] = []
        for column, card in columns:
            seen = column >= 0
            found.append(np.bincount(column[seen].astype(np.int64), self.counts[seen], card).astype(np.float64))
        return found

    def copies(self) -> list[list[str]]:
        """Names of columns each of which determines all others in every row, such as codes and their labels.

        Examples
        --------
        >>> Empirical.from_codes([[0, 1, 0], [1, 0, 0], [1, 0, 1]]).copies()
        [['x0', 'x1']]
        """
        same: dict[bytes, list[str]] = {}
        for name, codes in zip(self.space.names, self.states.T, strict=True):
            shifted = codes.astype(np.int64) + 1  # a missing cell is -1
            first = np.full(int(shifted.max()) + 1, len(codes))
            first[shifted[::-1]] = np.arange(len(codes))[::-1]
            if (first < len(codes)).sum() > 1:
                same.setdefault(first[shifted].tobytes(), []).append(name)
        return [names for names in same.values() if len(names) > 1]

    def __add__(self, other: Empirical) -> Empirical:
        return Empirical.merge(self, other) if isinstance(other, Empirical) else NotImplemented

    @classmethod
    def from_codes(
        cls,
        codes: NDArray[Any] | Sequence[Sequence[int]],
        weights: NDArray[Any] | Sequence[float] | None = None,
        space: Space | None = None,
        *,
        allow_missing: bool = False,
    ) -> Empirical:
        """Count rows of codes, shape (rows, n); without a space each variable has ``max + 1`` levels.

        Parameters
        ----------
        allow_missing : take −1 as a missing cell.

        Raises
        ------
        DataError : shapes disagree, a code is out of range, a weight is negative or not finite, or all are 0; every
            cell is missing, or every one of a variable whose levels are not given by ``space``.
        """
        rows = np.asarray(codes)
        if rows.ndim != 2 or rows.shape[0] == 0 or rows.shape[1] == 0:
            raise DataError(
                f"codes of shape {rows.shape} were given; (rows, variables) with at least one each is needed"
            )
        if not np.issubdtype(rows.dtype, np.integer):
            raise DataError(f"codes are integers, but {rows.dtype} was given")
        cards = rows.max(axis=0).astype(np.int64) + 1
        inferred = Space.of_cards(np.maximum(cards, 1)) if space is None else space
        _check_codes(rows, inferred, allow_missing)
        if space is None and cards.any() and not cards.all():
            unknown = [inferred.names[j] for j in np.flatnonzero(cards == 0)]
            raise unobserved(unknown, len(rows), "give space= to make a hidden variable of it, or leave it out")
        w = np.ones(len(rows)) if weights is None else checked_weights(weights, len(rows))
        return tally(inferred, [rows[:, j] for j in range(len(inferred))], w, n_rows=len(rows))

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
        """SHA-256 of space, states and counts, as hex; the same data give the same text on every machine.

        Codes are hashed as 32-bit words, a missing cell as ``2**32 - 1``, whatever the type of ``states``.
        """
        variables = [[v.name, list(v.levels), v.edges] for v in self.space.variables]
        digest = hashlib.sha256(json.dumps(variables, ensure_ascii=True).encode())
        # One type and byte order, whatever the machine and the number of levels.
        digest.update(np.ascontiguousarray(self.states, dtype="<u4").tobytes())
        digest.update(np.ascontiguousarray(self.counts, dtype="<f8").tobytes())
        return digest.hexdigest()

    def provenance(self) -> dict[str, Any]:
        """What the record of a model keeps of the rows that it was learned from."""
        dropped = self.n_dropped + self.n_empty
        return {"total": self.total, "n_rows": self.n_rows, "n_dropped": dropped, "fingerprint": self.fingerprint()}


def _check_codes(rows: NDArray[Any], space: Space, allow_missing: bool) -> None:
    if rows.shape[1] != len(space):
        raise DataError(f"codes have {rows.shape[1]} columns, the space has {len(space)} variables")
    wrong = (rows < (-1 if allow_missing else 0)) | (rows >= np.array(space.cards))
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        variable = space.variables[j]
        raise DataError(
            f"row {i + 1} has code {rows[i, j]} for {variable.name!r}, which has codes 0 to {variable.card - 1}"
            + (", and -1 for a missing cell" if allow_missing else "")
            + ("; allow_missing=True takes it as a missing cell" if rows[i, j] == -1 else "")
        )


def checked_weights(weights: Any, n_rows: int) -> Array:
    """Weights as float64, one per row.

    Raises
    ------
    DataError : they are not numbers, too few or many, negative or not finite.
    """
    try:
        given = np.asarray(weights)
        # Complex numbers are refused below; NumPy would only warn that it drops a part.
        w = np.asarray(given.real if np.iscomplexobj(given) else given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the weights are not numbers: {error}") from error
    if np.iscomplexobj(given):
        raise DataError(f"the weights are complex numbers ({given.dtype}); weights are real numbers")
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
    weights: Array,
    *,
    n_rows: int,
    n_dropped: int = 0,
    rows: NDArray[np.int64] | None = None,
) -> Empirical:
    """Sort rows of codes, given by column, merge equal ones, and leave out those of weight 0 or without a cell.

    Parameters
    ----------
    rows : how many rows of the table each of these stands for; one by default.

    Raises
    ------
    DataError : no row has an observed cell, or the weights sum to 0, or to more or less than can be counted.
    """
    keep, n_empty, n_missing = weights > 0, 0, 0
    if has_missing(columns):
        rows = np.ones(len(weights), dtype=np.int64) if rows is None else rows
        n_absent = n_missing_cells(columns)
        is_empty = n_absent == len(columns)
        if is_empty.all():
            raise all_missing(n_rows)
        # A row without any observed cell has the likelihood 1 under every model.
        keep &= ~is_empty
        n_empty, n_missing = int(rows[is_empty].sum()), int(rows[keep] @ n_absent[keep])
    if not keep.any():
        raise DataError("the counts or weights sum to 0; there is nothing to learn from")
    if not keep.all():
        columns, weights = [c[keep] for c in columns], weights[keep]
    order, counts = merged(space.cards, columns, weights, missing=n_missing > 0)
    _check_total(counts)
    states = side_by_side(columns, code_dtype(space.cards, signed=n_missing > 0)).take(order, axis=0)
    states.flags.writeable = counts.flags.writeable = False
    return Empirical(space, states, counts, n_rows, n_dropped, n_empty, n_missing)


def _check_total(counts: Array) -> None:
    with np.errstate(over="ignore"):
        total = float(counts.sum())
    if not LEAST_TOTAL <= total <= MOST_TOTAL:
        remedy = "divide" if total > MOST_TOTAL else "multiply"
        raise DataError(
            f"the counts or weights sum to {total:.3g} rows; from 2^-53 to 2^53 are possible, up to which one row more "
            f"makes a difference: {remedy} them by a common number"
        )


def all_missing(n_rows: int) -> DataError:
    """The error for a table without a single observed cell."""
    return DataError(
        f"all rows are missing: not one of the {n_rows} rows has an observed cell, and there is nothing to learn from; "
        "check the table and the columns chosen"
    )


def unobserved(names: Sequence[str], n_rows: int, remedy: str) -> DataError:
    """The error for columns without an observed cell, whose levels nobody knows."""
    listed = ", ".join(map(repr, names))
    return DataError(f"no cell of {listed} is observed in {n_rows} rows, and the levels are not known; {remedy}")
