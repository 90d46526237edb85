"""Exact sums, marginals, modes and samples of a factor graph of bounded width, by eliminating its variables.

    Z(e) = sum_{x : x agrees with e} exp( sum_f g_f(x_f) )

An order of elimination is found once and turned into a flat program; each answer is then one or two compiled sweeps
over it. Time and memory follow the tables of the order: O(nodes) on a tree, 2^20 entries per table on a lattice of
width 20. No probability is ever subtracted, and scales are kept as logarithms, so results are right to rounding however
large the graph and however strong its factors.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.arrangement import arranged
from fullspan.engine.backward import backward
from fullspan.engine.forward import forward
from fullspan.engine.memory import budget, require
from fullspan.engine.order import Order, elimination_order, given_order, named
from fullspan.engine.patterns import BatchAnswer, sweep
from fullspan.engine.program import Program, clamps, compiled
from fullspan.engine.slices import Slices, slices_of
from fullspan.engine.tables import Factors, Messages, scaled
from fullspan.engine.traceback import drawn, most_probable
from fullspan.errors import FullspanError, QueryError
from fullspan.model.graph import FactorGraph

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Evidence = Mapping[int, int | Sequence[int]]
"""A code, or the codes allowed, of some variables by position."""

_DRAWS = 1 << 22
"""Uniform numbers held at once while sampling."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """log Z given the evidence, and every marginal given it.

    Attributes
    ----------
    variables : flat; ``p(x_v)`` at ``levels[v] : levels[v + 1]``.
    factors : flat as the graph's ``values``: ``p(x_f) = d log Z / d g_f(x_f)``.
    """

    graph: FactorGraph
    log_z: float
    levels: Ints
    variables: Array
    factors: Array

    def variable(self, v: int) -> Array:
        """``p(x_v)`` of one variable."""
        return self.variables[self.levels[v] : self.levels[v + 1]]

    def factor(self, f: int) -> Array:
        """``p(x_f)`` of one factor's scope, shaped as its table."""
        start, end = self.graph.table_starts[f], self.graph.table_starts[f + 1]
        return self.factors[start:end].reshape(self.graph.tables[f].shape)


class ClusterTree:
    """A factor graph made ready for exact answers.

    Parameters
    ----------
    graph : the model.
    clamped : variables, by position, whose values come with every question; they cost nothing. Any other variable
        may be given as evidence too, but stays part of the tables.
    order : the free variables in the order of elimination, or what :func:`elimination_order` found; by default a good
        one is looked for.
    max_memory : bytes that one answer may take; most of the free memory unless given.

    Raises
    ------
    TooLargeError : the tables would not fit; says how wide the graph is and which variables make it so.
    FullspanError : an unknown or repeated clamped variable, or an order that does not fit.

    Examples
    --------
    >>> from fullspan.space import Space
    >>> table = np.array([[0.5, -0.5], [-0.5, 0.5]])
    >>> graph = FactorGraph(Space.of_cards((2, 2, 2)), ((0, 1), (1, 2)), (table, table))
    >>> tree = ClusterTree(graph)
    >>> round(tree.log_z(), 4), tree.marginals({0: 0})[2].round(4).tolist()
    (2.3197, [0.6068, 0.3932])
    """

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
        self._parts = arranged(graph, order)
        self.program: Program = compiled(self._parts, graph.cards, order)
        self._clamps = clamps(self._parts, self.clamped, len(graph.space))
        self._levels = np.concatenate([[0], np.cumsum(graph.cards)])
        self._take(graph.values)

    def reweighted(self, values: Array) -> ClusterTree:
        """The same graph with other log tables, flat as ``graph.values``; order and program are kept.

        Raises
        ------
        FullspanError : the wrong number of values, or NaN or +inf among them.
        """
        values = np.ascontiguousarray(values, dtype=np.float64)
        if values.shape != self.graph.values.shape:
            raise FullspanError(f"{self.graph.values.size} log values are needed, but the shape {values.shape} came")
        if np.isnan(values).any() or (values == np.inf).any():
            raise FullspanError("a log factor is finite or -inf, but NaN or +inf was given")
        other = copy.copy(self)
        other._take(values)
        return other

    @cached_property
    def _slices(self) -> Slices:
        return slices_of(self.program, np.bincount(self._clamps.factors, minlength=len(self.graph.scopes)))

    def _take(self, values: Array) -> None:
        self.values, self._logs = values, values[self._parts.entries]
        self._scaled, self._tops, self._low, self._is_log = scaled(self._logs, self._parts.table_starts)

    def _given_back(self, tables: Array) -> Array:
        """Numbers of all table entries in the order of the graph; entries along the last axis."""
        out = np.empty_like(tables)
        if tables.size:
            out[..., self._parts.entries] = tables
        return out

    # -- answers ----------------------------------------------------------------------------------------------

    def log_z(self, evidence: Evidence | None = None) -> float:
        """``log sum exp`` over the states that agree with the evidence; -inf if none has a positive weight."""
        factors = self._factors(evidence)
        messages = self._messages()
        forward(self.program, factors, messages, False)
        return self._total(factors, messages)

    def beliefs(self, evidence: Evidence | None = None) -> Beliefs:
        """log Z and the marginals of all variables and factors: one sweep forward, one backward.

        Raises
        ------
        QueryError : the evidence has probability zero.
        """
        factors, messages, log_z = self._swept(evidence)
        variables, tables = np.zeros(self._levels[-1]), np.zeros(len(self._logs))
        backward(self.program, factors, messages, variables, tables)
        fixed = self._fixed(evidence)
        variables[self._levels[self.clamped] + fixed] = 1.0
        tables[factors.base[self.program.homes < 0]] = 1.0
        return Beliefs(self.graph, log_z, self._levels, variables, self._given_back(tables))

    def marginals(self, evidence: Evidence | None = None) -> tuple[Array, ...]:
        """``p(x_v | evidence)`` of every variable."""
        beliefs = self.beliefs(evidence)
        return tuple(np.split(beliefs.variables, self._levels[1:-1]))

    def factor_marginals(self, evidence: Evidence | None = None) -> tuple[Array, ...]:
        """``p(x_f | evidence)`` for the scope of every factor: the gradient of log Z, shaped as the tables."""
        beliefs = self.beliefs(evidence)
        return tuple(beliefs.factor(f) for f in range(len(self.graph.tables)))

    def mode(self, evidence: Evidence | None = None) -> Ints:
        """A most probable state (n,) that agrees with the evidence.

        Raises
        ------
        QueryError : the evidence has probability zero.
        """
        factors = self._factors(evidence)
        factors = factors._replace(values=self._logs, is_log=np.ones_like(factors.is_log))
        messages = self._messages()
        forward(self.program, factors, messages, True)
        if not np.isfinite(messages.scale.sum() + self._constant(factors)):
            raise _impossible(evidence)
        state = np.zeros(len(self.graph.space), dtype=np.int64)
        state[self.clamped] = self._fixed(evidence)
        most_probable(self.program, factors, messages, state)
        return state

    def sample(self, size: int, rng: np.random.Generator, evidence: Evidence | None = None) -> Ints:
        """Independent states (size, n) given the evidence.

        Raises
        ------
        QueryError : the evidence has probability zero.
        """
        factors, messages, _ = self._swept(evidence)
        states = np.zeros((size, len(self.graph.space)), dtype=np.int64)
        states[:, self.clamped] = self._fixed(evidence)
        steps = len(self.order.variables)
        for start in range(0, size, max(1, _DRAWS // max(1, steps))):
            part = states[start : start + max(1, _DRAWS // max(1, steps))]
            drawn(self.program, factors, messages, part, rng.random((len(part), steps)))
        return states

    # -- many clamped patterns --------------------------------------------------------------------------------

    def log_z_batch(self, values: Any) -> Array:
        """log Z of every clamped pattern (N, clamped) -> (N,), columns as ``clamped``; -inf where nothing agrees."""
        return self._batch(values).log_z

    def marginals_batch(self, values: Any) -> tuple[Array, ...]:
        """``p(x_v | pattern)`` of every variable, each (N, levels).

        Raises
        ------
        QueryError : a pattern has probability zero.
        """
        return tuple(np.split(self._batch(values, marginals=True).marginals, self._levels[1:-1], axis=1))

    def factor_marginals_batch(self, values: Any) -> Array:
        """``p(x_f | pattern)`` of every factor, flat as ``graph.values``: (N, entries)."""
        return self._batch(values, tables=True).tables

    def expected_tables(self, values: Any, weights: Array | None = None) -> tuple[Array, Array]:
        """log Z of every pattern, and ``sum_i weights_i p(x_f | pattern_i)`` of every factor, flat as ``graph.values``.

        This is the gradient of ``sum_i weights_i log Z(pattern_i)``; memory does not grow with the patterns.
        """
        answer = self._batch(values, weights=np.ones(len(values)) if weights is None else weights)
        return answer.log_z, answer.expected

    def _batch(self, values: Any, marginals: bool = False, tables: bool = False, weights: Any = None) -> BatchAnswer:
        rows = self._checked_patterns(values)
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float64)
            if weights.shape != (len(rows),):
                raise QueryError(f"{len(rows)} patterns need as many weights, but the shape {weights.shape} was given")
        answer = sweep(
            self._parts.table_starts,
            self.program,
            self._slices,
            self._clamps,
            self._plain(),
            self._logs,
            rows,
            weights,
            marginals,
            tables,
        )
        answer.log_z[:] += self._tops[self.program.homes >= 0].sum()
        answer = replace(answer, tables=self._given_back(answer.tables), expected=self._given_back(answer.expected))
        for i in np.flatnonzero(answer.undone):
            self._one_by_one(answer, int(i), rows[i], weights)
        if (marginals or tables or weights is not None) and (answer.log_z == -np.inf).any():
            raise QueryError(
                f"pattern {int(np.argmin(answer.log_z))} has probability zero under this model; leave it out"
            )
        if marginals:
            np.put_along_axis(answer.marginals, self._levels[self.clamped] + rows, 1.0, axis=1)
        return answer

    def _one_by_one(self, answer: BatchAnswer, i: int, row: Ints, weights: Array | None) -> None:
        """A pattern whose numbers need logarithms."""
        evidence = dict(zip(self.clamped.tolist(), row.tolist(), strict=True))
        answer.log_z[i] = self.log_z(evidence)
        if answer.log_z[i] == -np.inf or not (len(answer.marginals) or len(answer.tables) or weights is not None):
            return
        beliefs = self.beliefs(evidence)
        if len(answer.marginals):
            answer.marginals[i] = beliefs.variables
        if len(answer.tables):
            answer.tables[i] = beliefs.factors
        if weights is not None:
            answer.expected[:] += weights[i] * beliefs.factors

    def _checked_patterns(self, values: Any) -> Ints:
        rows = np.asarray(values)
        if rows.ndim != 2 or rows.shape[1] != len(self.clamped) or not np.issubdtype(rows.dtype, np.integer):
            raise QueryError(
                f"patterns are integer codes of shape (N, {len(self.clamped)}); {rows.dtype} of shape {rows.shape} came"
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

    # -- the way ----------------------------------------------------------------------------------------------

    def _swept(self, evidence: Evidence | None) -> tuple[Factors, Messages, float]:
        factors, messages = self._factors(evidence), self._messages()
        forward(self.program, factors, messages, False)
        log_z = self._total(factors, messages)
        if log_z == -np.inf:
            raise _impossible(evidence)
        return factors, messages, log_z

    def _total(self, factors: Factors, messages: Messages) -> float:
        return float(self._tops.sum() + messages.scale.sum() + self._constant_scaled(factors))

    def _constant_scaled(self, factors: Factors) -> float:
        """What the factors add whose variables are all clamped, relative to their tops."""
        alone = np.flatnonzero(self.program.homes < 0)
        return float((self._logs[factors.base[alone]] - self._tops[alone]).sum())

    def _constant(self, factors: Factors) -> float:
        return float(self._logs[factors.base[self.program.homes < 0]].sum())

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
        if isinstance(given, int) and 0 <= given < card:
            return (given,)
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
            np.ones(self._levels[-1]),
            self._levels,
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
                plain.mask[self._levels[v] : self._levels[v + 1]] = 0.0
                plain.mask[self._levels[v] + np.asarray(self._codes(v, given))] = 1.0
                plain.masked[v] = True
        return plain._replace(base=base)


def _checked_clamped(graph: FactorGraph, clamped: Sequence[int]) -> Ints:
    variables = np.asarray(clamped, dtype=np.int64).reshape(-1)
    if len(np.unique(variables)) != len(variables) or ((variables < 0) | (variables >= len(graph.space))).any():
        raise FullspanError(
            f"clamped variables are different positions from 0 to {len(graph.space) - 1}; {list(clamped)!r} was given"
        )
    return variables


def _impossible(evidence: Evidence | None) -> QueryError:
    if not evidence:
        return QueryError("every state of the model has the weight zero: its factors contradict each other")
    return QueryError("the evidence has probability zero under this model; ask about something that can happen")
