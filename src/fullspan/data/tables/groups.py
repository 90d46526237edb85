"""The distinct raw rows of a table, their levels and codes: what one GROUP BY returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data.merging import code_dtype
from fullspan.data.relations.columns import Column, Key
from fullspan.data.relations.relation import Relation
from fullspan.data.relations.tokens import Tokens, coded, read_tokens
from fullspan.data.space import MISSING, Level, Variable
from fullspan.data.tables.missing import UNKNOWN_REMEDY, Coded, Unknown
from fullspan.data.tables.overfull import refuse_overfull, too_many_levels
from fullspan.data.tables.schema import (
    ABSENT,
    UNSEEN,
    bad_cell,
    bin_codes,
    codes_of,
    exact_tokens,
    inferred_levels,
    is_mark,
    plain_values,
    refuse_infinite,
)
from fullspan.errors import DataError


@dataclass(frozen=True)
class Groups:
    """The distinct raw rows of a relation and how many rows each stands for."""

    relation: Relation
    columns: Sequence[Column]
    given: Mapping[str, Variable]
    tokens: Tokens
    rows: Ints
    weights: Array

    @classmethod
    def read(
        cls, relation: Relation, columns: Sequence[Column], given: Mapping[str, Variable], weight: Column | None
    ) -> Groups:
        keys = [Key(c, given.get(c.name)) for c in columns]
        tokens = exact_tokens(read_tokens(relation.groups(keys, weight), len(keys)), keys)
        if "n" not in tokens.measures or not len(tokens.measures["n"]):
            raise DataError("the table has no rows")
        rows = tokens.measures["n"]
        if weight is None:
            return cls(relation, columns, given, tokens, rows, rows.astype(np.float64))
        if tokens.measures["bad"].any():
            raise _bad_weight(relation, weight)
        return cls(relation, columns, given, tokens, rows, tokens.measures["w"].astype(np.float64))

    def coded(self, max_levels: int, unknown: Unknown | None = None) -> list[Coded]:
        """All columns as codes; ``unknown="missing"`` leaves UNSEEN where a value is no level of its variable.

        None is for a table that a model is learned from, whose levels may be listed.

        Raises
        ------
        DataError : columns have too many levels, all of which are named, or a value is not allowed.
        """
        free = [c for c in self.columns if c.name not in self.given]
        if not self.tokens.complete and self.columns[self.tokens.overfull] in free:
            refuse_overfull(self.relation, [c for c in free if c.levels is None], max_levels)
        found = [self.column(j, unknown) for j in range(len(self.columns))]
        overfull = {
            c: coded.variable.card
            for c, coded in zip(self.columns, found, strict=True)
            if c in free and coded.variable.card > max_levels
        }
        if overfull:
            raise too_many_levels(self.relation, overfull, max_levels)
        return found

    def column(self, j: int, unknown: Unknown | None = None) -> Coded:
        """Codes of column ``j``, its variable inferred unless given."""
        column, values = self.columns[j], self.tokens.values[j]
        variable = self.given.get(column.name)
        if variable is None:
            return self._inferred(j)
        if variable.edges is not None:
            # The database has cut the column already; what it returns are codes of bins.
            codes = bin_codes(variable, values)
            if (codes == UNSEEN).any():
                bad = values[int(np.argmax(codes == UNSEEN))]
                raise bad_cell(variable, bad, self.relation.example(column, variable, bad))
        else:
            codes = codes_of(variable, values, self.relation.marks.of(column))
            if (codes == UNSEEN).any():
                refuse_infinite(column.name, [v for v, c in zip(values, codes, strict=True) if c == UNSEEN])
                if unknown != "missing":
                    remedy = "Add it to levels=" if unknown is None else UNKNOWN_REMEDY
                    raise self._unseen(j, variable, codes, remedy)
        return Coded(variable, coded(codes, self.tokens.codes[j]))

    def missing_cells(self, columns: Sequence[Coded]) -> dict[str, dict[str, int]]:
        """How many cells are missing in each column that lacks some, by their text; "" for an empty cell."""
        found: dict[str, dict[str, int]] = {}
        for j, own in enumerate(columns):
            absent = own.codes == ABSENT
            if not absent.any():
                continue
            if own.variable.edges is not None:
                found[own.variable.name] = self.relation.missing_texts(self.columns[j])
                continue
            cells = np.bincount(self.tokens.codes[j][absent], self.rows[absent])
            texts = [("" if v is None else str(v).strip()) for v in self.tokens.values[j]]
            by_text = found.setdefault(own.variable.name, {})
            for token in np.flatnonzero(cells).tolist():
                # " NA" and "NA" are two tokens with one text.
                by_text[texts[token]] = by_text.get(texts[token], 0) + int(cells[token])
        return found

    def _inferred(self, j: int) -> Coded:
        column = self.columns[j]
        marks = self.relation.marks.of(column)
        plain = plain_values(column, self.tokens.values[j], marks)
        levels = inferred_levels(column, plain, marks)
        code = {level: i for i, level in enumerate(levels)}
        variable = Variable(
            column.name, levels or (MISSING,), ordered=column.ordered and _is_declared(column, levels, marks)
        )
        codes = np.array(
            [ABSENT if v is None else code[v] for v in plain], dtype=code_dtype((len(levels),), signed=True)
        )
        return Coded(variable, coded(codes, self.tokens.codes[j]), is_known=bool(levels))

    def _unseen(self, j: int, variable: Variable, codes: NDArray[np.signedinteger[Any]], remedy: str) -> DataError:
        token = int(np.argmax(codes == UNSEEN))
        n = int(self.rows[self.tokens.codes[j] == token].sum())
        others = int((codes == UNSEEN).sum()) - 1
        more = f" (and {others} other such values)" if others else ""
        known = ", ".join(map(repr, variable.levels[:12])) + (", ..." if variable.card > 12 else "")
        return DataError(
            f"column {variable.name!r} holds {self.tokens.values[j][token]!r} in {n} row{'s' * (n != 1)}{more}, "
            f"which is not among its levels: {known}. {remedy}"
        )


def _is_declared(column: Column, levels: Sequence[Level], marks: frozenset[str]) -> bool:
    """Whether all levels are in the order the column declares; a further one would stand where it was met."""
    declared = [v for v in column.levels or () if v != MISSING and not is_mark(v, marks)]
    return [v for v in levels if v != MISSING] == declared


def _bad_weight(relation: Relation, weight: Column) -> DataError:
    row, value = relation.bad_weight(weight)
    where = "a row" if row is None else f"row {row}"
    return DataError(
        f"column {weight.name!r} holds {value!r} in {where}; counts and weights are finite and not negative numbers"
    )
