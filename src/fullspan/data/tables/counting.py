"""Counting: one GROUP BY in the backend, then levels from the distinct rows.

The rows stay in DuckDB or in the Ibis backend. The distinct raw rows travel, the levels are inferred from
them, and rows that become equal (``1`` and ``1.0`` in a CSV file, say) are merged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fullspan.data.empirical import Empirical, checked_weights
from fullspan.data.relations.columns import Column, NaValues, check_names
from fullspan.data.relations.duck import DuckRelation
from fullspan.data.relations.frames import is_level
from fullspan.data.relations.relation import Relation
from fullspan.data.relations.source import find, opened, refuse_nested, select
from fullspan.data.space import Level, Space, Variable
from fullspan.data.tables.bins import BinRule, binned_variables
from fullspan.data.tables.groups import Groups
from fullspan.data.tables.hints import hints
from fullspan.data.tables.missing import Missing, Unknown, assembled, check_choice, check_unknown
from fullspan.data.tables.overfull import guard
from fullspan.data.tables.schema import (
    is_mark,
)
from fullspan.errors import DataError, DataWarning, warn


def count(
    source: Any,
    *,
    columns: Sequence[str | int] | None = None,
    levels: Mapping[str, Sequence[Level]] | None = None,
    bins: int | Mapping[str, BinRule] | None = None,
    count_column: str | None = None,
    sample_weight: Any = None,
    missing: Missing = "error",
    max_levels: int = 64,
    space: Space | None = None,
    na_values: NaValues = None,
    handle_unknown: Unknown = "error",
) -> Empirical:
    """Count the distinct states of a table.

    Parameters
    ----------
    source : path to a CSV, TSV, Parquet, JSON lines or Arrow file; pandas, polars or Arrow frame; array or list of
        rows (columns ``x0, x1, ...``); list of dictionaries, dictionary of columns; Ibis table.
    columns : the columns to keep, in this order; all by default.
    levels : levels of some columns, in order; unseen ones are kept. Others are inferred and sorted.
    bins : cut numeric columns, see :func:`fullspan.data.tables.bins.binned_variables`.
    count_column : the column that holds the count of each row (a contingency table). A row of count 0 declares its
        levels and adds nothing.
    sample_weight : one weight per row, or the name of the column that holds it.
    missing : ``"error"``; ``"drop"`` the rows; ``"level"``, an extra last level "(missing)"; or ``"em"``, keep the
        rows with −1 for their missing cells, for maximum likelihood from what was observed. Rows without any observed
        cell are left out and counted (``n_empty``).
    max_levels : most levels a column may have that are not given by ``levels``, and most bins.
    space : the variables to use instead of inferring them; columns are found by name, those of arrays by position.
    na_values : texts that mean a missing cell, for all columns or ``{column: texts}``; ``[]`` if only empty cells are
        missing. Default: :data:`MISSING_MARKS` in CSV and TSV, none elsewhere.
    handle_unknown : ``"missing"`` takes a value that is no level of ``space`` as a missing cell, which is then not
        observed under ``missing="error"`` and ``"level"``; ``"error"`` refuses it.

    Returns
    -------
    Empirical. A column with one value is a variable with one level.

    Raises
    ------
    DataError : anything that cannot be read, counted or matched; the message says which column and what to do.

    Warns
    -----
    DataWarning : a column looks like counts, an identifier, an ordered scale, or has a level that reads as missing.

    Notes
    -----
    One pass of hash aggregation, O(rows · columns); with ``bins`` one or two passes more. Python holds the
    distinct rows only.
    """
    check_choice(missing)
    check_unknown(handle_unknown)
    with opened(source, na_values) as relation:
        relation, weight = weighted(placed(relation, space), count_column, sample_weight)
        if space is not None:
            _refuse_schema(columns=columns, levels=levels, bins=bins)
            return _count_known(relation, space, weight, missing, max_levels, handle_unknown)
        check_names(na_values, [c.name for c in relation.columns])
        chosen = select(relation, columns, weight)
        given = given_variables(relation, chosen, levels, bins, max_levels, weight)
        groups = _grouped(relation, chosen, given, weight, max_levels)
        coded = groups.coded(max_levels)
        cells = groups.missing_cells(coded)
        # Before missing cells are refused: a hint may say that a level, such as -99, means one too.
        for text in hints(groups, coded, cells, weight, cut_all=isinstance(bins, int)):
            warn(text, DataWarning)
        counted = assembled(coded, groups.rows, groups.weights, missing, fixed=False, cells=cells)
        return replace(counted, missing_cells=cells)


def _count_known(
    relation: Relation, space: Space, weight: Column | None, missing: Missing, max_levels: int, unknown: Unknown
) -> Empirical:
    """The distinct states of variables that are known beforehand."""
    chosen, given = _of_space(relation, space), {v.name: v for v in space.variables}
    groups = _grouped(relation, chosen, given, weight, max_levels)
    coded = groups.coded(max_levels, unknown)
    cells = groups.missing_cells(coded)
    counted = assembled(coded, groups.rows, groups.weights, missing, fixed=True, cells=cells)
    return replace(counted, missing_cells=cells)


def _grouped(
    relation: Relation, chosen: list[Column], given: dict[str, Variable], weight: Column | None, max_levels: int
) -> Groups:
    """The distinct rows, once it is clear that no column has too many levels."""
    # Before the GROUP BY, which by an identifier would make as many groups as there are rows.
    guard(relation, [c for c in chosen if c.name not in given], max_levels)
    return Groups.read(relation, chosen, given, weight)


def placed(relation: Relation, space: Space | None) -> Relation:
    """The relation with the names of the space, if it has none of its own.

    Raises
    ------
    DataError : the width differs from the number of variables.
    """
    if space is None or relation.named:
        return relation
    if len(relation.columns) != len(space):
        raise DataError(f"the array has {len(relation.columns)} columns, but there are {len(space)} variables")
    return relation.renamed(space.names)


def _refuse_schema(**given: Any) -> None:
    extra = [f"{name}=" for name, value in given.items() if value is not None]
    if extra:
        raise DataError(f"space= fixes columns, levels and bins already; leave out {', '.join(extra)}")


def _of_space(relation: Relation, space: Space) -> list[Column]:
    chosen = [find(relation, name) for name in space.names]
    for column in chosen:
        refuse_nested(column)
    return chosen


def weighted(relation: Relation, count_column: str | None, sample_weight: Any) -> tuple[Relation, Column | None]:
    """The relation, joined with an array of weights if there is one, and the column of counts or weights, if any."""
    if count_column is not None and sample_weight is not None:
        raise DataError("count_column= and sample_weight= were both given; give one")
    name = count_column if count_column is not None else sample_weight if isinstance(sample_weight, str) else None
    if name is not None:
        return relation, _checked_weight(find(relation, name))
    if sample_weight is None:
        return relation, None
    if not isinstance(relation, DuckRelation):
        raise DataError("an array of weights has no order to follow in an Ibis table; name the column of weights")
    return relation.with_weight(checked_weights(sample_weight, relation.n_rows()))


def _checked_weight(column: Column) -> Column:
    if column.is_number or column.kind == "raw":
        return column
    raise DataError(f"column {column.name!r} holds the counts or weights, but is not numeric ({column.kind})")


def given_variables(
    relation: Relation,
    columns: Sequence[Column],
    levels: Mapping[str, Sequence[Level]] | None,
    bins: int | Mapping[str, BinRule] | None,
    max_levels: int,
    weight: Column | None = None,
) -> dict[str, Variable]:
    """Variables that need no inference: levels listed, or cut into bins."""
    names = [c.name for c in columns]
    listed: dict[str, Variable] = {}
    for name, values in (levels or {}).items():
        if name not in names:
            find(relation, name)
            raise DataError(f"levels= names {name!r}, which is not among the columns to count")
        if isinstance(bins, Mapping) and name in bins:
            raise DataError(f"column {name!r} has both levels= and bins=; give one")
        plain = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
        _check_listed(relation, find(relation, name), plain)
        listed[name] = Variable(name, plain, ordered=True)
    return listed | binned_variables(relation, [c for c in columns if c.name not in listed], bins, max_levels, weight)


def _check_listed(relation: Relation, column: Column, levels: Sequence[Any]) -> None:
    """Raise DataError for listed levels that no cell can hold, or that are listed as missing as well."""
    where = f"levels= of column {column.name!r}"
    for level in levels:
        if not is_level(level) or level != level:
            advice = "; missing='level' makes a level of missing cells" if level is None or level != level else ""
            raise DataError(f"{where} lists {level!r}; levels are texts, numbers or truth values{advice}")
        if not relation.marks.is_usual(column) and is_mark(level, relation.marks.of(column)):
            raise DataError(
                f"{where} lists {level!r}, which na_values= lists as a missing cell; leave it out of one of them"
            )
    truths = [level for level in levels if isinstance(level, bool)]
    numbers = [level for level in levels if isinstance(level, int | float) and not isinstance(level, bool)]
    if both := [level for level in truths if level in numbers]:
        raise DataError(f"{where} lists both {int(both[0])} and {both[0]}, which are equal; list one of them")
