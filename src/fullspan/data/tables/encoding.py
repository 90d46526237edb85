"""Rows as codes, in row order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.relations.columns import Column, Key, NaValues, shortened
from fullspan.data.relations.relation import Relation
from fullspan.data.relations.source import find, opened, refuse_nested
from fullspan.data.relations.tokens import Tokens, read_tokens
from fullspan.data.space import Space, Variable
from fullspan.data.tables.counting import placed
from fullspan.data.tables.missing import UNKNOWN_REMEDY, Unknown, check_unknown
from fullspan.data.tables.schema import ABSENT, UNSEEN, bad_cell, bin_codes, codes_of, exact_tokens, refuse_infinite
from fullspan.errors import DataError


def encode(
    source: Any,
    space: Space,
    *,
    allow_missing: bool = False,
    columns: Sequence[str] | None = None,
    na_values: NaValues = None,
    handle_unknown: Unknown = "error",
) -> NDArray[np.int32]:
    """Codes of every row, shape (rows, n), in the order of the space's variables.

    Parameters
    ----------
    source : anything :func:`fullspan.data.count` takes, a dictionary ``{name: level}``, or a list of those.
    allow_missing : write −1 for missing cells and for variables the source has no column for.
    columns : the columns to use, others are as if absent; for an array, the names of its columns.
    na_values : texts that mean a missing cell, as in :func:`fullspan.data.count`. A known level is never missing.
    handle_unknown : ``"missing"`` writes −1, or the code of "(missing)" where the variable has it, for a value that is
        no level; ``"error"`` refuses it.

    A level is matched as itself, by its text, or by its number; binned variables take raw numbers and labels.
    Columns that are no variable are ignored. Rows of an Ibis table come in the order the backend gives them.

    Raises
    ------
    DataError : a value is no level (column, value and row, counted from 1 without the header), a cell or column is
        missing and that is not allowed, no column is a variable, or the width of an array is wrong.
    """
    check_unknown(handle_unknown)
    with opened(source, na_values) as relation:
        relation = _chosen(relation, space, columns)
        present = {v.name: find(relation, v.name) for v in space.variables if _has(relation, v, allow_missing)}
        for column in present.values():
            refuse_nested(column)
        return _encoded(relation, space, present, allow_missing, handle_unknown)


def _chosen(relation: Relation, space: Space, columns: Sequence[str] | None) -> Relation:
    if columns is None:
        return placed(relation, space)
    if relation.named:
        return relation.restricted([find(relation, name).name for name in columns])
    if len(columns) != len(relation.columns):
        raise DataError(f"the array has {len(relation.columns)} columns and columns= names {len(columns)}")
    for name in columns:
        if name not in space.names:
            raise DataError(
                f"columns= names {name!r}, which is not a variable; the variables are {', '.join(space.names)}"
            )
    return relation.renamed(columns)


def _has(relation: Relation, variable: Variable, allow_missing: bool) -> bool:
    return not allow_missing or any(c.name == variable.name for c in relation.columns)


def _encoded(
    relation: Relation, space: Space, present: dict[str, Column], allow_missing: bool, handle_unknown: Unknown
) -> NDArray[np.int32]:
    if not present:
        if relation.named and space.variables:
            raise DataError(
                f"the table has none of the model's columns: {shortened(space.names)}; its columns are: "
                f"{shortened([c.name for c in relation.columns])}"
            )
        return np.full((relation.n_rows(), len(space)), ABSENT, dtype=np.int32)
    variables = [space.variables[space.position(name)] for name in present]
    keys = [Key(c, v) for c, v in zip(present.values(), variables, strict=True)]
    tokens = exact_tokens(read_tokens(relation.rows(keys), len(keys)), keys)
    out = np.full((len(tokens.codes[0]), len(space)), ABSENT, dtype=np.int32)
    for j, variable in enumerate(variables):
        table = _code_table(relation, keys[j].column, variable, tokens, j, allow_missing, handle_unknown)
        out[:, space.position(variable.name)] = table[tokens.codes[j]]
    return out


def _code_table(
    relation: Relation,
    column: Column,
    variable: Variable,
    tokens: Tokens,
    j: int,
    allow_missing: bool,
    handle_unknown: Unknown,
) -> NDArray[np.signedinteger[Any]]:
    """The code of each distinct value of column ``j``; raises where one cannot stand."""
    values = tokens.values[j]
    is_binned = variable.edges is not None
    table = bin_codes(variable, values) if is_binned else codes_of(variable, values, relation.marks.of(column))
    if (table == UNSEEN).any():
        row, token = _first(tokens, j, table == UNSEEN)
        if is_binned:
            raise bad_cell(variable, values[token], relation.example(column, variable, values[token]))
        refuse_infinite(column.name, [values[k] for k in np.flatnonzero(table == UNSEEN)])
        if handle_unknown == "error":
            known = ", ".join(map(repr, variable.levels[:12])) + (", ..." if variable.card > 12 else "")
            raise DataError(
                f"column {variable.name!r} holds {values[token]!r} in row {row}, which is not among its levels: "
                f"{known}. {UNKNOWN_REMEDY}"
            )
    if not allow_missing and (table == ABSENT).any():
        row, _ = _first(tokens, j, table == ABSENT)
        raise DataError(
            f"column {variable.name!r} has a missing cell in row {row}, and missing cells are not allowed here"
        )
    table[table == UNSEEN] = ABSENT if variable.missing_code is None else variable.missing_code
    return table


def _first(tokens: Tokens, j: int, is_wrong: NDArray[np.bool_]) -> tuple[int, int]:
    """Row number (from 1) and token of the first cell whose token is wrong."""
    row = int(np.argmax(is_wrong[tokens.codes[j]]))
    return row + 1, int(tokens.codes[j][row])
