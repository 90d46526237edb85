"""Orders of elimination: which variable to sum out next, and what that will cost.

The time and memory of exact sums follow the tables that an order meets, not the number of states. Finding the best
order is hard; greedy ones are good. Variables that can go without loss go first. What is left is ordered by the rules
of ``fill``, and again by the best of them with random ties, for as long as that is cheap next to the
sums themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Ints
from fullspan.engine.elimination.ordering.adjacency import Adjacency, adjacency, renumbered
from fullspan.engine.elimination.ordering.fill import FEWEST_EDGES, SMALLEST, SWEEP, core_rows, greedy
from fullspan.engine.elimination.ordering.reduction import reduced
from fullspan.engine.elimination.ordering.symbolic import postorder, separators
from fullspan.errors import FullspanError, TooLargeError
from fullspan.model.graph import FactorGraph

_BITS_VARIABLES = 2048
"""Variables up to which the rows of neighbours are held as bits."""
_RENUMBERED_VARIABLES = 1 << 15
"""Variables from which on they are renumbered, so that neighbours lie near each other in memory."""
_LARGEST_LOG2 = 62.0
"""log2 of the largest table that is looked at further."""
_SECONDS_PER_ENTRY, _SECONDS_PER_INPUT, _SECONDS_PER_STEP = 6e-9, 1.5e-9, 1.5e-6
"""Seconds of a sum and its derivatives, per table entry, per entry and input, and per variable."""
_SECONDS_PER_WORD = 6e-9
_BYTES_PER_STEP = 400
_TIME_SHARE, _MOST_ORDERS = 0.2, 300
"""Part of the predicted time that may go into looking for better orders, and the most that are tried."""


@dataclass(frozen=True, eq=False)
class Order:
    """An order of elimination with its separators and its cost.

    Attributes
    ----------
    graph : what is eliminated.
    variables : the free variables, first eliminated first.
    bounds, separator : step k leaves a message over ``variables[separator[bounds[k] : bounds[k + 1]]]``.
    sizes, messages : log2 entries of the table of each step, and of its message.
    """

    graph: FactorGraph
    variables: Ints
    bounds: Ints
    separator: Ints
    sizes: NDArray[np.float64]
    messages: NDArray[np.float64]

    @property
    def width(self) -> int:
        """Variables of the largest clique, less one: 1 for a tree, 0 without any edge, -1 without a variable."""
        return int(np.diff(self.bounds).max(initial=-1))

    @property
    def largest(self) -> float:
        """Entries of the largest table."""
        return float(2.0 ** self.sizes.max(initial=0.0))

    @property
    def total(self) -> float:
        """Entries of all tables met."""
        return float(np.exp2(self.sizes).sum())

    @property
    def n_bytes(self) -> int:
        """Bytes that the messages of all steps, what flows back into one of them, and the program will take."""
        entries = np.exp2(self.messages)
        return int(8 * (entries.sum() + 3 * entries.max(initial=1.0))) + _BYTES_PER_STEP * len(self.variables)

    @property
    def seconds(self) -> float:
        """Predicted time of log Z and all marginals on an idle machine: a guide, mostly right to a factor of three."""
        work = _SECONDS_PER_ENTRY * self.total + _SECONDS_PER_INPUT * float(self.inputs @ np.exp2(self.sizes))
        return work + _SECONDS_PER_STEP * len(self.variables)

    @cached_property
    def inputs(self) -> Ints:
        """How many factors and messages enter each step."""
        m, starts = len(self.variables), self.graph.scope_starts
        place = np.full(len(self.graph.space), m)
        place[self.variables] = np.arange(m)
        filled = np.diff(starts) > 0
        entering = np.minimum.reduceat(place[self.graph.variables], starts[:-1][filled]) if filled.any() else place[:0]
        ends = self.bounds[1:][np.diff(self.bounds) > 0]
        return np.bincount(entering, minlength=m + 1)[:m] + np.bincount(self.separator[ends - 1], minlength=m)

    def clique(self) -> tuple[str, ...]:
        """Names of the variables of the largest table: what makes the graph wide."""
        if not len(self.variables):
            return ()
        return self.members(int(np.argmax(self.sizes)))

    def members(self, step: int) -> tuple[str, ...]:
        """Names of the variable eliminated at a step and of its separator."""
        places = [step, *self.separator[self.bounds[step] : self.bounds[step + 1]][::-1].tolist()]
        return tuple(self.graph.space.names[i] for i in self.variables[places])


def elimination_order(graph: FactorGraph, clamped: Sequence[int] | Ints = ()) -> Order:
    """A good order of the variables that are not clamped: the best of several greedy ones, with ties broken at random.

    Raises
    ------
    TooLargeError : every order tried meets a table of more than 2^62 entries; its variables are named.
    """
    near, numbers = adjacency(graph, np.asarray(clamped, dtype=np.int64)), np.arange(len(graph.space))
    if len(numbers) > _RENUMBERED_VARIABLES:
        numbers, near = renumbered(near)
    log2_cards = np.log2(graph.cards)[numbers]
    prefix, pool, place, length, alive, blocked = reduced(*near, log2_cards, _BITS_VARIABLES, _LARGEST_LOG2)
    if blocked >= 0:
        rows = pool[place[blocked] : place[blocked] + length[blocked]]
        _refuse(graph, numbers[[int(blocked), *(int(u) for u in rows if alive[u] and u != blocked)]].tolist())
    members = np.flatnonzero(alive)
    if len(members):
        rows = core_rows(members, pool, place, length, alive)
        core = _best(rows, log2_cards[members])
        prefix = np.concatenate([prefix, members[core]])
    return with_separators(graph, near, prefix, numbers)


def given_order(graph: FactorGraph, order: Sequence[int] | Ints, clamped: Sequence[int] | Ints = ()) -> Order:
    """An order chosen by the caller, with its separators and cost.

    Raises
    ------
    FullspanError : the order does not name every free variable once.
    """
    near = adjacency(graph, np.asarray(clamped, dtype=np.int64))
    variables = np.asarray(order, dtype=np.int64)
    if not np.array_equal(np.sort(variables), np.flatnonzero(near.free)):
        raise FullspanError(
            f"an order of elimination names each of the {int(near.free.sum())} free variables once; "
            f"{len(variables)} entries were given"
        )
    return with_separators(graph, near, variables, np.arange(len(graph.space)))


def with_separators(graph: FactorGraph, near: Adjacency, chosen: Ints, numbers: Ints) -> Order:
    """The separators of an order of variables, numbered as in ``near``, where ``numbers`` has the graph's numbers.

    Refuses it at the first table of more than 2^62 entries.
    """
    log2_cards = np.log2(graph.cards)[numbers]
    bounds, separator, sizes, blocked = separators(near.starts, near.neighbours, chosen, log2_cards, _LARGEST_LOG2)
    if blocked >= 0:
        places = [int(blocked), *separator[bounds[blocked] : bounds[blocked + 1]].tolist()]
        _refuse(graph, numbers[chosen[places]].tolist())
    steps, bounds, separator, sizes = postorder(bounds, separator, sizes)
    variables = numbers[chosen[steps]]
    messages = sizes - np.log2(graph.cards[variables])
    return Order(graph, variables, bounds, separator, sizes, messages)


def _best(rows: NDArray[np.uint64], log2_cards: NDArray[np.float64]) -> Ints:
    """The order with the fewest table entries: by each rule, then by the best of them with random ties.

    Random ties are tried as long as looking takes a small part of the time that the sums will take.
    """
    best, least, work, kind = np.arange(len(rows)), np.inf, 0, SMALLEST
    for one in (SMALLEST, FEWEST_EDGES, SWEEP):
        # Ties by number first: without luck the order is the same for the same graph. An order gives up at the best
        # total.
        order, total, looked = greedy(rows, log2_cards, np.arange(len(rows)) / len(rows), one, float(least))
        work += looked
        if total < least:
            best, least, kind = order, total, one
    # A fixed seed: the order decides the order of sums, and so the last digit of log Z.
    rng = np.random.default_rng(0)
    for _ in range(_MOST_ORDERS):
        # By counted work and not by the clock, so that a loaded machine finds the same order.
        if not _SECONDS_PER_WORD * work < _TIME_SHARE * _SECONDS_PER_ENTRY * least:
            break
        order, total, looked = greedy(rows, log2_cards, rng.random(len(rows)), kind, float(least))
        work += looked
        if total < least:
            best, least = order, total
    return best


def _refuse(graph: FactorGraph, clique: list[int]) -> None:
    size = float(np.log2(graph.cards[clique]).sum())
    raise TooLargeError(
        f"exact elimination needs a table over {len(clique)} variables, 2^{size:.0f} entries "
        f"({named([graph.space.names[i] for i in clique])}); clamp some of them or use a sparser model"
    )


def named(names: Sequence[str], most: int = 12) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
