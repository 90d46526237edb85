"""The cells that the rows of a table fall into: codes of a few variables, and one weight per row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.data.empirical import checked_weights
from fullspan.data.relations.columns import Column, Key, NaValues, check_names
from fullspan.data.relations.duck import DuckRelation
from fullspan.data.relations.source import find, opened, refuse_nested
from fullspan.data.relations.tokens import Tokens, read_tokens
from fullspan.data.space import Space, Variable, did_you_mean
from fullspan.data.tables.schema import ABSENT, codes_of, exact_tokens
from fullspan.errors import DataError


@dataclass(frozen=True, eq=False)
class RowCells:
    """The distinct cells of a table's rows.

    Attributes
    ----------
    cells : (cells, variables) codes.
    cell_of : (rows,) the cell of each row, in order.
    weights : (rows,) the weights, or None if none were named.
    columns : the names of all columns of the table.
    """

    cells: Ints
    cell_of: Ints
    weights: Array | None
    columns: tuple[str, ...]


def read_cells(source: Any, space: Space, weights: Any = None, na_values: NaValues = None) -> RowCells:
    """Read the variables of ``space``, and the weights, from every row.

    Raises
    ------
    DataError : a column is missing, a cell holds no level of its variable, or a weight is no number of at least 0.
    """
    with opened(source, na_values) as relation:
        assert isinstance(relation, DuckRelation), "an Ibis table is read into memory first"
        check_names(na_values, [c.name for c in relation.columns])
        chosen = [find(relation, name) for name in space.names]
        for column in chosen:
            refuse_nested(column)
        weight = find(relation, weights) if isinstance(weights, str) else None
        if weight is not None and weight in chosen:
            raise DataError(f"column {weights!r} holds the weights, and cannot be in a margin as well")
        tokens, found = _read(relation, [Key(c, v) for c, v in zip(chosen, space.variables, strict=True)], weight)
        if weights is not None and not isinstance(weights, str):
            found = checked_weights(weights, relation.n_rows())
        codes = [_codes(relation, v, chosen[j], tokens, j) for j, v in enumerate(space.variables)]
        cells, cell_of = _distinct(codes, space.cards)
        return RowCells(cells, cell_of, found, tuple(c.name for c in relation.columns))


def _read(relation: DuckRelation, keys: Sequence[Key], weight: Column | None) -> tuple[Tokens, Array | None]:
    if weight is None:
        return exact_tokens(read_tokens(relation.rows(keys), len(keys)), keys), None
    if not (weight.is_number or weight.kind == "raw"):
        raise DataError(f"column {weight.name!r} holds the weights, but is not numeric ({weight.kind})")
    parts: list[Array] = []

    def batches() -> Iterator[Any]:
        for batch in relation.weighted_rows(keys, weight):
            parts.append(batch.column(len(keys)).fill_null(-1.0).to_numpy(zero_copy_only=False))
            yield batch.select(list(range(len(keys))))

    tokens = exact_tokens(read_tokens(batches(), len(keys)), keys)
    found = np.concatenate(parts) if parts else np.empty(0)
    if not (np.isfinite(found) & (found >= 0)).all():
        row, value = relation.bad_weight(weight)
        raise DataError(
            f"column {weight.name!r} has the weight {value!r} in row {row}; weights are finite numbers of at least 0"
        )
    return tokens, found


def _codes(relation: DuckRelation, variable: Variable, column: Column, tokens: Tokens, j: int) -> Ints:
    """The code of each row; raises for a cell that no margin has."""
    if not tokens.complete:
        raise DataError(f"column {variable.name!r} has too many distinct values to be a margin variable")
    table = codes_of(variable, tokens.values[j], relation.marks.of(column)).astype(np.int64)
    if (table < 0).any():
        is_wrong = (table < 0)[tokens.codes[j]]
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            value, n = tokens.values[j][int(tokens.codes[j][row])], int(is_wrong.sum())
            raise _no_level(variable, value, row + 1, n, missing=bool(table[tokens.codes[j][row]] == ABSENT))
    codes: Ints = table[tokens.codes[j]]
    return codes


def _no_level(variable: Variable, value: Any, row: int, n: int, *, missing: bool) -> DataError:
    known = ", ".join(map(repr, variable.levels[:12])) + (", ..." if variable.card > 12 else "")
    if missing:
        return DataError(
            f"column {variable.name!r} has a missing cell in row {row}, and {n:,} in all; fill them, leave these rows "
            f"out, or give the margin a count for them, as the level '(missing)'; its levels are {known}"
        )
    near = did_you_mean(value, [str(level) for level in variable.levels])
    return DataError(
        f"column {variable.name!r} holds {value!r} in row {row}, which is in no margin of {variable.name!r}{near}; "
        f"rows with such values: {n:,}; its levels there are {known}. Add the level with its count, or mend the cells"
    )


def _distinct(codes: Sequence[Ints], cards: Sequence[int]) -> tuple[Ints, Ints]:
    """(distinct rows of codes, which of them each row is), without sorting where a table of all cells is small."""
    n_states, n_rows = math.prod(cards), len(codes[0])
    if n_states > max(4 * n_rows, 1 << 20) or n_states >= 2**62:
        cells, cell_of = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
        return cells.astype(np.int64), cell_of.reshape(-1)
    index = np.zeros(n_rows, dtype=np.int64)
    stride = 1
    for card, column in zip(cards, codes, strict=True):
        index += stride * column
        stride *= card
    is_seen = np.zeros(n_states, dtype=bool)
    is_seen[index] = True
    seen = np.flatnonzero(is_seen)
    number = np.zeros(n_states, dtype=np.int64)
    number[seen] = np.arange(len(seen))
    strides = np.cumprod([1, *cards[:-1]])
    return seen[:, None] // strides % np.array(cards), number[index]
