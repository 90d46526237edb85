"""Counts of many groups over one space: one GROUP BY for all of them, or resampled counts of one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.empirical import Empirical
from fullspan.data.relations.columns import Column, NaValues, check_names
from fullspan.data.relations.source import find, opened, select
from fullspan.data.relations.tokens import TOKEN_LIMIT
from fullspan.data.space import Level, Space
from fullspan.data.tables.bins import BinRule
from fullspan.data.tables.counting import given_variables, weighted
from fullspan.data.tables.groups import Groups
from fullspan.data.tables.hints import hints
from fullspan.data.tables.missing import Missing, assembled, check_choice
from fullspan.data.tables.overfull import guard
from fullspan.data.tables.schema import ABSENT
from fullspan.errors import DataError, DataWarning, warn


@dataclass(frozen=True, eq=False)
class Grouped:
    """The empirical distributions of several groups, one after the other.

    Attributes
    ----------
    space : the variables, the same for all groups.
    groups : what each group is called.
    starts : (groups + 1,) the states of group g are ``states[starts[g]:starts[g+1]]``.
    states : (m, n) distinct states of each group, sorted by index.
    counts : (m,) positive: rows, or summed weights, per state of a group.
    n_rows, n_dropped : (groups,) rows read, and those of them dropped because of missing values.
    """

    space: Space
    groups: tuple[Level, ...]
    starts: NDArray[np.int64]
    states: NDArray[np.integer[Any]]
    counts: NDArray[np.float64]
    n_rows: NDArray[np.int64]
    n_dropped: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.groups)

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        """(groups,) sum of the counts of each group."""
        return np.add.reduceat(self.counts, self.starts[:-1])

    def empirical(self, g: int) -> Empirical:
        """The distribution of the group at a position."""
        part = slice(self.starts[g], self.starts[g + 1])
        return Empirical(self.space, self.states[part], self.counts[part], int(self.n_rows[g]), int(self.n_dropped[g]))

    def head(self, n: int) -> Grouped:
        """The first ``n`` groups."""
        last = self.starts[n]
        return replace(
            self,
            groups=self.groups[:n],
            starts=self.starts[: n + 1],
            states=self.states[:last],
            counts=self.counts[:last],
            n_rows=self.n_rows[:n],
            n_dropped=self.n_dropped[:n],
        )

    @classmethod
    def of_weights(cls, empirical: Empirical, weights: NDArray[np.float64], groups: Sequence[Level]) -> Grouped:
        """One group for each row of ``weights`` (groups, states): how often it has each state of ``empirical``.

        Raises
        ------
        DataError : a group has no row.
        """
        g, k = np.nonzero(weights)
        starts = np.searchsorted(g, np.arange(len(groups) + 1))
        totals = weights.sum(axis=1)
        _refuse_empty(groups, totals, "has no row")
        rows = np.rint(totals).astype(np.int64)
        return cls(
            empirical.space, tuple(groups), starts, empirical.states[k], weights[g, k], rows, np.zeros_like(rows)
        )


def count_groups(
    source: Any,
    by: str,
    *,
    columns: Sequence[str | int] | None = None,
    levels: Mapping[str, Sequence[Level]] | None = None,
    bins: int | Mapping[str, BinRule] | None = None,
    count_column: str | None = None,
    sample_weight: Any = None,
    missing: Missing = "error",
    max_levels: int = 64,
    na_values: NaValues = None,
) -> Grouped:
    """Count the distinct states of every group of a table, all in one GROUP BY.

    Parameters
    ----------
    by : the column that names the group of a row. It is no variable, and may have up to 100,000 levels.
    columns, levels, bins, count_column, sample_weight, missing, max_levels, na_values : as in
        :func:`fullspan.data.count`, for the whole table: all groups have the same variables, levels and bins.
        ``missing="em"`` is refused.

    Raises
    ------
    DataError : see :func:`fullspan.data.count`; or a group has no row left.
    """
    check_choice(missing)
    if missing == "em":
        raise DataError(
            "missing='em' needs a search of its own per group; use 'drop' or 'level', or fit the groups singly"
        )
    with opened(source, na_values) as relation:
        check_names(na_values, [c.name for c in relation.columns])
        relation, weight = weighted(relation, count_column, sample_weight)
        own = find(relation, by)
        if own == weight:
            raise DataError(f"column {by!r} holds the weights and cannot name the groups as well")
        chosen = [c for c in select(relation, columns, weight) if c != own]
        if not chosen:
            raise DataError(f"the table has no columns to count but {by!r}")
        given = given_variables(relation, chosen, levels, bins, max_levels, weight)
        guard(relation, [c for c in chosen if c.name not in given], max_levels)
        found = Groups.read(relation, [*chosen, own], given, weight)
        if not found.tokens.complete and found.tokens.overfull == len(chosen):
            raise DataError(f"column {by!r} names more than {TOKEN_LIMIT:,} groups; fit the table in parts")
        return _divided(found, chosen, max_levels, missing, weight)


def _divided(found: Groups, chosen: list[Column], max_levels: int, missing: Missing, weight: Column | None) -> Grouped:
    """Distinct rows of some columns and, last, the group, as counts of each group."""
    coded = [*replace(found, columns=chosen).coded(max_levels), found.column(len(chosen))]
    cells = found.missing_cells(coded)
    for text in hints(replace(found, columns=chosen), coded[:-1], cells, weight):
        warn(text, DataWarning)
    joint = assembled(coded, found.rows, found.weights, missing, fixed=False, cells=cells)
    names, code = joint.space.variables[-1].levels, coded[-1].codes
    if missing == "level":
        code = np.where(code == ABSENT, len(names) - 1, code)
    absent = np.any([c.codes == ABSENT for c in coded], axis=0) if missing == "drop" else np.zeros(len(code), bool)
    return _by_group(joint, names, code, found.rows, absent)


def _by_group(
    joint: Empirical,
    names: tuple[Level, ...],
    code: NDArray[Any],
    rows: NDArray[np.int64],
    absent: NDArray[np.bool_],
) -> Grouped:
    """Cut counts over (variables, group) into groups: the group is the last variable, so that they lie in order."""
    known = code >= 0
    n_rows = np.bincount(code[known], rows[known], len(names)).astype(np.int64)
    n_dropped = np.bincount(code[known & absent], rows[known & absent], len(names)).astype(np.int64)
    starts = np.searchsorted(joint.states[:, -1], np.arange(len(names) + 1))
    _refuse_empty(names, np.diff(starts), "has no row left: its rows have missing cells, or weights of 0")
    space = Space(joint.space.variables[:-1])
    return Grouped(space, names, starts, _narrow(joint.states[:, :-1], space), joint.counts, n_rows, n_dropped)


def _narrow(states: NDArray[Any], space: Space) -> NDArray[np.integer[Any]]:
    """The states in the smallest type: the many groups needed a wider one."""
    from fullspan.data.merging import code_dtype

    narrow = np.ascontiguousarray(states, dtype=code_dtype(space.cards))
    narrow.flags.writeable = False
    return narrow


def _refuse_empty(groups: Sequence[Level], sizes: NDArray[Any], why: str) -> None:
    empty = np.flatnonzero(np.asarray(sizes) <= 0)
    if empty.size:
        others = f" (nor have {empty.size - 1} other groups)" if empty.size > 1 else ""
        raise DataError(f"group {groups[empty[0]]!r} {why}{others}; leave it out of the table")
