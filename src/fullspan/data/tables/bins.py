"""Numeric columns cut into intervals: edges by quantiles, by equal width, or as given.

Quantiles are taken over the rows, each once; the edges are found by the backend, in SQL.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fullspan.data.contents import Contents, Run
from fullspan.data.relations.columns import Column, Extent, Key
from fullspan.data.relations.relation import Relation
from fullspan.data.relations.source import find
from fullspan.data.space import LABEL_DIGITS, Variable, edge_texts
from fullspan.errors import DataError, brief

BinRule = int | tuple[str, int] | Sequence[float]
"""A number of quantile bins, ``("quantile", k)``, ``("width", k)``, or the edges."""


def binned_variables(
    relation: Relation,
    columns: Sequence[Column],
    bins: int | Mapping[str, BinRule] | None,
    max_levels: int,
    weight: Column | None = None,
) -> dict[str, Variable]:
    """The variables of the columns to be cut. Edges are of the rows, each once; what a bin holds has their weights.

    An integer k cuts every numeric column with more than k distinct values into k quantile bins.
    A column with one finite value, or none, is left uncut.

    Raises
    ------
    DataError : a rule makes no sense or asks for more than ``max_levels`` bins, or a column to be cut is unknown, not
        numeric, or holds an infinite value.
    """
    if bins is None:
        return {}
    rules = bins if isinstance(bins, Mapping) else {}
    for name in rules:
        if name not in [c.name for c in columns]:
            find(relation, name)
            raise DataError(f"bins= names {name!r}, which is not among the columns to count")
    if isinstance(bins, Mapping):
        chosen = [c for c in columns if c.name in rules]
        parsed = [_parsed(c.name, rules[c.name]) for c in chosen]
    else:
        chosen = [c for c in columns if c.is_number or c.kind == "raw"]
        parsed = [_parsed("every column", bins)] * len(chosen)
    if not chosen:
        return {}
    for column in chosen:
        _refuse_text(column, column.kind not in ("int", "float", "decimal", "raw"))
    extents = relation.extents(chosen)
    explicit = isinstance(bins, Mapping)
    found = {}
    for column, rule, extent in zip(chosen, parsed, extents, strict=True):
        if explicit or _worth_cutting(extent, rule):
            _refuse_many(column.name, rule, max_levels)
            variable = _cut(relation, column, rule, extent)
            if variable is not None:
                found[column.name] = variable
    return {c.name: _with_contents(relation, c, found[c.name], weight) for c in chosen if c.name in found}


def _with_contents(relation: Relation, column: Column, variable: Variable, weight: Column | None) -> Variable:
    """The variable with what the data hold in each bin."""
    runs: list[list[Run]] = [[] for _ in range(variable.n_bins)]
    for code, low, high, own in relation.runs(Key(column, variable), weight):
        runs[code].append((low, high, own))
    return replace(variable, contents=tuple(map(Contents.of_runs, runs)))


def _worth_cutting(extent: Extent, rule: tuple[str, Any]) -> bool:
    # Numbers with leading zeros are codes, such as postal ones, and not quantities.
    return extent.n_bad == 0 and extent.n_padded == 0 and extent.n_distinct > rule[1]


def _refuse_many(name: str, rule: tuple[str, Any], max_levels: int) -> None:
    n = len(rule[1]) - 1 if rule[0] == "edges" else rule[1]
    if n > max_levels:
        raise DataError(
            f"column {name!r} would be cut into {n} bins, the limit is {max_levels}; "
            "give fewer bins=, or raise max_levels="
        )


def _refuse_text(column: Column, refused: bool) -> None:
    if refused:
        raise DataError(f"column {column.name!r} cannot be cut into bins: it is not numeric")


def _parsed(name: str, rule: Any) -> tuple[str, Any]:
    """A rule as ("quantile", k), ("width", k) or ("edges", [...])."""
    if isinstance(rule, int) and not isinstance(rule, bool):
        rule = ("quantile", rule)
    if isinstance(rule, tuple) and len(rule) == 2 and rule[0] in ("quantile", "width"):
        if not isinstance(rule[1], int) or rule[1] < 2:
            raise DataError(f"bins for {name}: {rule[1]!r} bins were asked for; give an integer of at least 2")
        return rule
    try:
        edges = [float(e) for e in rule]
    except (TypeError, ValueError) as error:
        raise DataError(
            f"bins for {name}: {rule!r} is not a rule; give k, ('quantile', k), ('width', k) or a list of edges"
        ) from error
    if len(edges) < 2 or not all(map(math.isfinite, edges)) or any(np.diff(edges) <= 0):
        raise DataError(f"bins for {name}: the edges {edges} must be two or more finite, increasing numbers")
    return ("edges", edges)


def _cut(relation: Relation, column: Column, rule: tuple[str, Any], extent: Extent) -> Variable | None:
    _refuse_text(column, extent.n_bad > 0)
    if extent.n_infinite:
        raise DataError(
            f"column {column.name!r} holds {brief(relation.infinite(column))}, and cannot be cut into bins; "
            f"infinite cells: {extent.n_infinite}; correct them, or mark them as missing with na_values="
        )
    how, detail = rule
    if how == "edges":
        return binned_variable(column.name, detail)
    if extent.low is None or extent.high is None or extent.low == extent.high:
        return None
    if how == "width":
        return binned_variable(column.name, np.linspace(extent.low, extent.high, detail + 1).tolist())
    return binned_variable(column.name, _quantile_edges(relation, column, detail, extent.low, extent.high))


def _quantile_edges(relation: Relation, column: Column, k: int, low: float, high: float) -> list[float]:
    """Distinct quantiles. A value so common that it fills the first or last bin gets that bin for itself."""
    points = relation.quantiles(column, [i / k for i in range(k + 1)])
    edges = {low, high, *points[1:-1]}
    # A quantile at the very end means that many rows share this value: a bin of its own keeps the others comparable.
    if points[1] == low or points[-2] == high:
        above, below = relation.neighbours(column, low, high)
        if points[1] == low:
            # The next value, so that the first bin [low, above) holds the common one alone.
            edges.add(above if above < high else (low + high) / 2)
        if points[-2] == high:
            edges.add((below + high) / 2)
    return sorted(edges)


def binned_variable(name: str, edges: Sequence[float]) -> Variable:
    """The variable whose levels are the intervals between the edges, labelled for people."""
    return Variable(name, interval_labels(edges), tuple(float(e) for e in edges))


def interval_labels(edges: Sequence[float]) -> tuple[str, ...]:
    """Labels such as ``[1.5, 3)``, the last one closed, with as few digits as keep the edges apart."""
    texts = edge_texts(edges, LABEL_DIGITS)
    last = len(texts) - 2
    return tuple(f"[{a}, {b}{']' if i == last else ')'}" for i, (a, b) in enumerate(itertools.pairwise(texts)))
