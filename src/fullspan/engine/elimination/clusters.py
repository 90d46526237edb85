"""Exact sums, marginals, modes and samples of a factor graph of bounded width, by eliminating its variables.

    Z(e) = sum_{x : x agrees with e} exp( sum_f g_f(x_f) )

An order of elimination is found once and turned into a flat program; each answer is then one or two compiled sweeps
over it. Time and memory follow the tables of the order: O(nodes) on a tree, 2^20 entries per table on a lattice of
width 20. No probability is ever subtracted, and scales are kept as logarithms, so results are right to rounding however
large the graph and however strong its factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.engine.elimination import joint
from fullspan.engine.elimination.conditionals import conditionals
from fullspan.engine.elimination.ordering.order import named
from fullspan.engine.elimination.prepared import Evidence, Prepared
from fullspan.engine.elimination.sweeps.backward import backward
from fullspan.engine.elimination.sweeps.boxes import Boxes, Sweep
from fullspan.engine.elimination.sweeps.forward import drawn, forward, most_probable
from fullspan.engine.elimination.sweeps.patterns import rows_bytes, sweep
from fullspan.engine.elimination.sweeps.slices import Slices, slices_of
from fullspan.engine.elimination.sweeps.tables import Factors, Messages
from fullspan.engine.memory import budget, require
from fullspan.errors import QueryError
from fullspan.model.algebra.jit import on_cores
from fullspan.model.graph import FactorGraph

_STEP_ENTRIES = 200
"""Table entries that the step of one variable costs besides its own table."""
_HELD_UNIFORMS = 1 << 22
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
        """``p(x_f)`` of one factor's scope, shaped as its table; -1 is the last factor."""
        f = range(len(self.graph.scopes))[f]
        start, end = self.graph.table_starts[f], self.graph.table_starts[f + 1]
        return self.factors[start:end].reshape(self.graph.tables[f].shape)


class ClusterTree(Prepared):
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
    >>> from fullspan.data.space import Space
    >>> table = np.array([[0.5, -0.5], [-0.5, 0.5]])
    >>> graph = FactorGraph(Space.of_cards((2, 2, 2)), ((0, 1), (1, 2)), (table, table))
    >>> tree = ClusterTree(graph)
    >>> round(tree.log_z(), 4), tree.marginals({0: 0})[2].round(4).tolist()
    (2.3197, [0.6068, 0.3932])
    """

    @cached_property
    def _slices(self) -> Slices:
        program = self.program
        cells = np.diff(program.messages) * program.axis_cards[program.axes[1:] - 1]
        n_bytes = 8 * int((2 * np.diff(program.inputs) * cells + cells).sum()) + rows_bytes(program)
        require(
            n_bytes,
            budget(self.max_memory),
            f"a batch of width {self.order.width}, the widest table being over {named(self.order.clique())},",
            "ask pattern by pattern or clamp more variables",
        )
        return slices_of(self.program, np.bincount(self._clamps.factors, minlength=len(self.graph.scopes)))

    # -- answers ----------------------------------------------------------------------------------------------

    @property
    def sweep_work(self) -> int:
        """Table entries that one sweep forth and one back read."""
        program = self.program
        cells = np.diff(program.messages) * program.axis_cards[program.axes[1:] - 1]
        return int(2 * (np.diff(program.inputs) * cells).sum()) + _STEP_ENTRIES * len(cells)

    def log_z(self, evidence: Evidence | None = None) -> float:
        """``log sum exp`` over the states that agree with the evidence; -inf if none has a positive weight."""
        factors = self._factors(evidence)
        messages = self._messages()
        forward(self.program, factors, messages, False)
        return self._total(factors, messages)

    def reweighed(self, factors: Mapping[tuple[int, ...], Array]) -> tuple[FactorGraph | None, float]:
        """A normalised graph times ``exp(sum_A l_A(x_A))``, normalised, None if 0; and the log of what it was."""
        graph, space = self.graph, self.graph.space
        scopes, tables = (*graph.scopes, *factors), (*graph.tables, *factors.values())
        return conditionals(FactorGraph(space, scopes, tables), self.max_memory)

    def log_z_boxes(self, boxes: Boxes) -> Array:
        """:meth:`log_z` of many events in one call: only what each allows is visited.

        Raises
        ------
        QueryError : variables are clamped.
        """
        if len(self.clamped):
            raise QueryError("boxes need a tree without clamped variables; make one for the graph alone")
        log_z, undone = self._boxes(boxes.by_place(self._parts.numbers))
        log_z += self._tops.sum()
        # One by one where products would leave the range: the single sweep can work with logarithms.
        for b in np.flatnonzero(undone).tolist():
            log_z[b] = self.log_z(boxes.each[b])
        return log_z

    def _take(self, values: Array) -> None:
        super()._take(values)
        self.__dict__.pop("_boxes", None)  # a copy with other tables has other messages

    @cached_property
    def _boxes(self) -> Sweep:
        return Sweep(self.program, self._plain())

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
        # A clamped variable is no part of any table; its marginal is certain.
        variables[self._inner[len(self.order.variables) : -1] + fixed] = 1.0
        tables[factors.base[self.program.homes < 0]] = 1.0
        marginals = np.empty_like(variables)
        marginals[self._parts.level_entries(self._levels)] = variables
        return Beliefs(self.graph, log_z, self._levels, marginals, self._given_back(tables))

    def marginals(self, evidence: Evidence | None = None) -> tuple[Array, ...]:
        """``p(x_v | evidence)`` of every variable."""
        beliefs = self.beliefs(evidence)
        return tuple(np.split(beliefs.variables, self._levels[1:-1]))

    def mode(self, evidence: Evidence | None = None) -> Ints:
        """A most probable state (n,) that agrees with the evidence.

        Raises
        ------
        QueryError : the evidence has probability zero.
        """
        factors = self._factors(evidence)
        # Maxima are compared in logarithms: products of many small numbers would tie at 0.
        factors = factors._replace(values=self._logs, is_log=np.ones_like(factors.is_log))
        messages = self._messages()
        forward(self.program, factors, messages, True)
        if not np.isfinite(messages.scale.sum() + self._constant(factors)):
            raise _impossible(evidence)
        state = np.zeros(len(self.graph.space), dtype=np.int64)
        state[len(self.order.variables) :] = self._fixed(evidence)
        most_probable(self.program, factors, messages, state)
        return state[self._parts.places]

    def sample(self, size: int, rng: np.random.Generator, evidence: Evidence | None = None) -> Ints:
        """Independent states (size, n) given the evidence.

        Raises
        ------
        QueryError : the evidence has probability zero.
        """
        factors, messages, _ = self._swept(evidence)
        states = np.zeros((size, len(self.graph.space)), dtype=np.int64)
        steps, fixed = len(self.order.variables), self._fixed(evidence)
        chunk = max(1, _HELD_UNIFORMS // max(1, steps))
        for start in range(0, size, chunk):
            part = np.zeros((min(chunk, size - start), states.shape[1]), dtype=np.int64)
            part[:, steps:] = fixed
            on_cores(drawn, len(part), self.program, factors, messages, part, rng.random((len(part), steps)))
            states[start : start + chunk] = part[:, self._parts.places]
        return states

    # -- several variables at once ----------------------------------------------------------------------------

    def covariances(self, entries: Sequence[int], evidence: Evidence | None = None) -> Array:
        """Second cumulants of factor entries; see :func:`fullspan.engine.elimination.joint.covariances`."""
        return joint.covariances(self, entries, evidence)

    def log_prob(self, states: Any) -> Array:
        """``log p`` of partial states, -1 for open cells; see :func:`fullspan.engine.elimination.joint.log_prob`."""
        return joint.log_prob(self, states)

    # -- many clamped patterns --------------------------------------------------------------------------------

    def log_z_batch(self, values: Any) -> Array:
        """log Z of every clamped pattern (N, clamped) -> (N,), columns as ``clamped``; -inf where nothing agrees."""
        rows = self._checked_patterns(values)
        starts, factors = self._parts.table_starts, self._plain()
        log_z, undone = sweep(starts, self.program, self._slices, self._clamps, factors, self._logs, rows)
        log_z += self._tops[self.program.homes >= 0].sum()
        for i in np.flatnonzero(undone):  # numbers that need logarithms
            log_z[i] = self.log_z(dict(zip(self.clamped.tolist(), rows[i].tolist(), strict=True)))
        return log_z

    # -- inside -----------------------------------------------------------------------------------------------

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


def _impossible(evidence: Evidence | None) -> QueryError:
    if not evidence:
        return QueryError("every state of the model has weight zero: its factors contradict each other")
    return QueryError("the evidence has probability zero under this model; ask about something that can happen")
