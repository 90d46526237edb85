"""Any factors, any numbers of levels: ``log f(x) = sum_f g_f(x_f)``, each variable drawn given the factors it is in."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.sampling.streams import Streams, advanced, uniform
from fullspan.engine.sampling.target import Base
from fullspan.errors import FullspanError
from fullspan.model.algebra.jit import inlined, on_cores, serial
from fullspan.model.graph import FactorGraph


class Factors:
    """A factor graph to walk on; a visit of a variable costs the entries of its factors' scopes.

    Parameters
    ----------
    graph : the factors.
    values : other table entries than the graph's, flat in the same order.

    Raises
    ------
    FullspanError : a factor forbids a state: chains might never get from one part of the space to another.
    """

    def __init__(self, graph: FactorGraph, values: Array | None = None) -> None:
        self.graph = graph
        # Writable: a kernel is compiled again for a read-only array.
        self.values = np.require(graph.values if values is None else values, np.float64, "W")
        self.cards = graph.cards
        wrong = np.flatnonzero(~np.isfinite(self.values))
        if wrong.size:
            f = int(np.searchsorted(graph.table_starts, wrong[0], side="right")) - 1
            names = ", ".join(graph.space.names[i] for i in graph.scopes[f])
            raise FullspanError(
                f"the factor over {names} forbids a state, and chains that change one variable at a time may not get "
                "around it; ask for exact answers, or give every state a positive weight"
            )

    @cached_property
    def membership(self) -> tuple[Ints, Ints, Ints]:
        """For every variable, the entries of ``graph.variables`` that name it: bounds, factors, strides."""
        graph = self.graph
        owner = np.repeat(np.arange(len(graph.scopes)), np.diff(graph.scope_starts))
        order = np.argsort(graph.variables, kind="stable")
        bounds = np.searchsorted(graph.variables[order], np.arange(len(graph.space) + 1))
        return bounds.astype(np.int64), owner[order], graph.strides[order]

    @property
    def scopes(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Where the variables and tables of the factors are, as the kernels read them."""
        graph = self.graph
        return graph.variables, graph.strides, graph.scope_starts, graph.table_starts

    def log_weight(self, states: NDArray[Any]) -> Array:
        out = np.empty(len(states))
        rows = np.require(states, requirements=["C", "W", "E"])
        on_cores(_log_weights, len(states), rows, self.values, self.scopes, out)
        return out

    def sweep(
        self, states: NDArray[Any], streams: Streams, sweeps: int, free: Ints, beta: Array, base: Base | None = None
    ) -> None:
        base = Base.uniform(self.cards) if base is None else base
        tables = self.values, self.scopes, self.membership
        on_cores(_sweep, len(states), states, streams, sweeps, free, beta, (base.log_levels, base.starts), tables)


@inlined
def cell(m: int, v: int, x: Any, scopes: Any, member: Any) -> int:
    """Where the m-th membership's table has v at level 0 and all others as in x; ``steps[m]`` is between two levels."""
    variables, strides, scope_starts, table_starts = scopes
    _, factors, steps = member
    place = table_starts[factors[m]] - steps[m] * np.int64(x[v])
    for e in range(scope_starts[factors[m]], scope_starts[factors[m] + 1]):
        place += strides[e] * np.int64(x[variables[e]])
    return int(place)


@inlined
def given_rest(v: int, card: int, x: Any, values: Array, scopes: Any, member: Any, out: Array) -> None:
    """``out[level] = sum_f g_f``, over the factors of v, with v at each level and all others as in x."""
    bounds, _, steps = member
    for level in range(card):
        out[level] = 0.0
    for m in range(bounds[v], bounds[v + 1]):
        place = cell(m, v, x, scopes, member)
        for level in range(card):
            out[level] += values[place + level * steps[m]]


@serial
def _log_weights(begin: int, end: int, states: NDArray[Any], values: Array, scopes: Any, out: Array) -> None:
    variables, strides, scope_starts, table_starts = scopes
    for c in range(begin, end):
        total = 0.0
        for f in range(scope_starts.size - 1):
            place = table_starts[f]
            for e in range(scope_starts[f], scope_starts[f + 1]):
                place += strides[e] * np.int64(states[c, variables[e]])
            total += values[place]
        out[c] = total


@serial
def _sweep(
    begin: int,
    end: int,
    states: NDArray[Any],
    streams: Streams,
    sweeps: int,
    free: Ints,
    beta: Array,
    logs: Any,
    tables: Any,
) -> None:
    """Gibbs sweeps of all chains, one chain a task: ``log p(x_v | rest) = (1 - beta) b_v + beta sum_f g_f`` + const."""
    base, levels = logs
    values, scopes, member = tables
    most = 0
    for v in range(levels.size - 1):
        most = max(most, levels[v + 1] - levels[v])
    for c in range(begin, end):
        weights = np.empty(most)
        x = states[c]
        counter = streams[c]
        for _ in range(sweeps):
            for k in range(free.size):
                v = free[k]
                card = levels[v + 1] - levels[v]
                given_rest(v, card, x, values, scopes, member, weights)
                top = -np.inf
                for level in range(card):
                    weights[level] = (1.0 - beta[c]) * base[levels[v] + level] + beta[c] * weights[level]
                    top = max(top, weights[level])
                total = 0.0
                for level in range(card):
                    total += np.exp(weights[level] - top)
                    # Cumulated in place, as the draw below needs them.
                    weights[level] = total
                counter = advanced(counter)
                threshold = uniform(counter) * total
                new = 0
                # The last level takes what rounding leaves.
                while new < card - 1 and weights[new] <= threshold:
                    new += 1
                x[v] = new
        streams[c] = counter
