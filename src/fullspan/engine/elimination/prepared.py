"""A factor graph with its order, its program and its tables, and evidence turned into what the sweeps read."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.engine.elimination.ordering.order import Order, elimination_order, given_order, named
from fullspan.engine.elimination.sweeps.program import Program, arranged, clamps, compiled
from fullspan.engine.elimination.sweeps.tables import Factors, Messages, scaled
from fullspan.engine.memory import budget, require
from fullspan.errors import FullspanError, QueryError
from fullspan.model.graph import FactorGraph

Evidence = Mapping[int, int | Sequence[int]]
"""A code, or the codes allowed, of some variables by position."""


class Prepared:
    """What is worked out once for a graph and its clamped variables; see ``clusters``."""

    def __init__(
        self,
        graph: FactorGraph,
        clamped: Sequence[int] = (),
        order: Order | Sequence[int] | None = None,
        max_memory: int | None = None,
    ) -> None:
        self.graph, self.max_memory = graph, max_memory
        self.clamped = _checked_clamped(graph, clamped)
        if order is None:
            order = elimination_order(graph, self.clamped)
        elif not isinstance(order, Order):
            order = given_order(graph, order, self.clamped)
        self.order = order
        require(
            order.n_bytes,
            budget(max_memory),
            f"exact elimination of width {order.width}, the widest table being over {named(order.clique())},",
            "clamp some of these variables or use a sparser model",
        )
        self._parts = arranged(graph, order, self.clamped)
        self.program: Program = compiled(self._parts, order)
        self._clamps = clamps(self._parts, len(order.variables))
        self._levels = np.concatenate([[0], np.cumsum(graph.cards)])
        self._inner = np.concatenate([[0], np.cumsum(self._parts.cards)])
        self._take(graph.values)

    def reweighted(self, values: Array) -> Self:
        """The same graph with other log tables, flat as ``graph.values``; order and program are kept.

        Raises
        ------
        FullspanError : the wrong number of values, or NaN or +inf among them.
        """
        values = np.ascontiguousarray(values, dtype=np.float64)
        if values.shape != self.graph.values.shape:
            raise FullspanError(
                f"{self.graph.values.size} log values are needed, but the shape {values.shape} was given"
            )
        if np.isnan(values).any() or (values == np.inf).any():
            raise FullspanError("a log factor is finite or -inf, but NaN or +inf was given")
        other = copy.copy(self)
        other._take(values)
        return other

    def _take(self, values: Array) -> None:
        self.values, self._logs = values, values[self._parts.entries]
        self._scaled, self._tops, self._low, self._is_log = scaled(self._logs, self._parts.table_starts)

    def _given_back(self, tables: Array) -> Array:
        """Numbers of all table entries in the order of the graph; entries along the last axis."""
        out = np.empty_like(tables)
        if tables.size:
            out[..., self._parts.entries] = tables
        return out

    def _messages(self) -> Messages:
        m = len(self.order.variables)
        return Messages(
            np.empty(int(self.program.messages[-1])),
            np.zeros(m, dtype=np.bool_),
            np.zeros(m),
            np.zeros(m),
            np.zeros(m),
            np.zeros(m, dtype=np.bool_),
        )

    def _fixed(self, evidence: Evidence | None) -> Ints:
        """Values of the clamped variables."""
        given = evidence or {}
        values = np.empty(len(self.clamped), dtype=np.int64)
        for slot, v in enumerate(self.clamped.tolist()):
            if v not in given:
                missing = [self.graph.space.variables[u].name for u in self.clamped if u not in given]
                raise QueryError(f"values are needed for the clamped variables; none was given for {named(missing)}")
            codes = self._codes(v, given[v])
            if len(codes) != 1:
                raise QueryError(f"{self.graph.space.names[v]!r} is clamped: one code is needed, not {len(codes)}")
            values[slot] = codes[0]
        return values

    def _codes(self, v: int, given: int | Sequence[int]) -> Sequence[int] | Ints:
        card = int(self.graph.cards[v])
        one = given[0] if isinstance(given, (tuple, list)) and len(given) == 1 else given
        if isinstance(one, (int, np.integer)) and 0 <= one < card:  # hundreds of columns have one code each
            return (int(one),)
        codes = np.unique(np.atleast_1d(np.asarray(given)))
        if not np.issubdtype(codes.dtype, np.integer) or not len(codes) or codes[0] < 0 or codes[-1] >= card:
            raise QueryError(f"{self.graph.space.names[v]!r} has the codes 0 to {card - 1}, but {given!r} was given")
        return codes

    def _plain(self) -> Factors:
        """The tables without any evidence."""
        return Factors(
            self._scaled,
            self._parts.table_starts[:-1],
            self._is_log,
            self._low,
            np.ones(self._inner[-1]),
            self._inner,
            np.zeros(len(self.graph.space), dtype=np.bool_),
        )

    def _factors(self, evidence: Evidence | None) -> Factors:
        """The tables with the evidence put in: clamped values move entries, other evidence becomes a mask."""
        plain = self._plain()
        base = plain.base.copy()
        if len(self.clamped):
            np.add.at(base, self._clamps.factors, self._fixed(evidence)[self._clamps.slots] * self._clamps.strides)
        is_clamped = set(self.clamped.tolist())
        for v, given in (evidence or {}).items():
            if not 0 <= v < len(self.graph.space):
                raise QueryError(f"there is no variable {v}; positions go from 0 to {len(self.graph.space) - 1}")
            if v not in is_clamped:
                place = self._parts.places[v]
                plain.mask[self._inner[place] : self._inner[place + 1]] = 0.0
                plain.mask[self._inner[place] + np.asarray(self._codes(v, given))] = 1.0
                plain.masked[place] = True
        return plain._replace(base=base)

    def _checked_patterns(self, values: Any) -> Ints:
        rows = np.asarray(values)
        if rows.ndim != 2 or rows.shape[1] != len(self.clamped) or not np.issubdtype(rows.dtype, np.integer):
            raise QueryError(
                f"patterns are integer codes of shape (N, {len(self.clamped)}); {rows.dtype} of shape "
                f"{rows.shape} were given"
            )
        wrong = np.argwhere((rows < 0) | (rows >= self.graph.cards[self.clamped]))
        if len(wrong):
            row, slot = map(int, wrong[0])
            v = int(self.clamped[slot])
            raise QueryError(
                f"pattern {row} has the code {rows[row, slot]} for {self.graph.space.names[v]!r}, "
                f"which has the codes 0 to {self.graph.cards[v] - 1}"
            )
        return np.ascontiguousarray(rows, dtype=np.int64)


def _checked_clamped(graph: FactorGraph, clamped: Sequence[int]) -> Ints:
    variables = np.asarray(clamped, dtype=np.int64).reshape(-1)
    if len(np.unique(variables)) != len(variables) or ((variables < 0) | (variables >= len(graph.space))).any():
        raise FullspanError(
            f"clamped variables are different positions from 0 to {len(graph.space) - 1}; {list(clamped)!r} was given"
        )
    return variables
