"""Sums, maxima and samples of a log-linear model by eliminating its variables one at a time, in the log domain.

Fixing evidence only changes the weights: each term keeps its free variables and takes the value of the others into
its weight. What is left is summed variable by variable,

    m(x_C) = log sum_{x_v} exp( sum of the terms and messages that contain v ),

over the neighbours C of v, so time and memory follow the widest table met and not |X|. No probability is ever
subtracted: results are right to rounding relative to themselves, however improbable the evidence. When the next
table would be as large as one over all variables left, these are taken together, so a dense model costs one table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fullspan.algebra.basis import Basis, Term
from fullspan.engine.memory import budget, require
from fullspan.model.local import local_row
from fullspan.model.loglinear import LogLinear

_SMALL = 1 << 10
"""Cells up to which a joint table is cheaper than further eliminations."""
_PLANS = 256
"""Plans remembered."""
_BLOCK = 256
"""Cells of a table drawn from together."""

Array = NDArray[np.float64]
Allowed = Mapping[int, Sequence[int]]
"""Evidence: the codes allowed of each variable that is not free."""


@dataclass(frozen=True)
class Plan:
    """Order of elimination: each variable with its neighbours then, and the variables of the last table."""

    steps: tuple[tuple[int, tuple[int, ...]], ...]
    rest: tuple[int, ...]
    largest: int
    total: int


def plan(cards: Sequence[int], scopes: Iterable[frozenset[int]], free: frozenset[int], keep: Sequence[int]) -> Plan:
    """Greedy order: always the variable whose table is smallest. The last table has ``keep`` as its slowest digits."""
    near = {v: {v} for v in free}
    for scope in scopes:
        for v in scope:
            near[v] |= scope
    left, steps, sizes = set(free), [], []
    kept = frozenset(keep)
    table = {v: math.prod(cards[u] for u in near[v]) for v in free - kept}
    while table:
        v = min(table, key=lambda u: (table[u], u))
        if math.prod(cards[u] for u in left) <= max(_SMALL, table[v]):
            break
        others = near[v] - {v}
        steps.append((v, tuple(sorted(others))))
        sizes.append(table.pop(v))
        left.discard(v)
        for u in others:
            near[u] = (near[u] | others) - {v}
            if u in table:
                table[u] = math.prod(cards[w] for w in near[u])
    rest = (*sorted(left - kept), *keep)
    sizes.append(math.prod(cards[u] for u in rest))
    return Plan(tuple(steps), rest, max(sizes), sum(sizes))


@dataclass(frozen=True)
class Factors:
    """Tables still to be multiplied: weighted terms, messages, and allowed levels, by the variables they have."""

    weights: dict[Term, float]
    messages: list[tuple[tuple[int, ...], Array]]
    masks: dict[int, Array]

    def take(self, v: int) -> Factors:
        """Remove and return all that contain a variable."""
        weights = {term: self.weights.pop(term) for term in [t for t in self.weights if any(i == v for i, _ in t)]}
        messages = [message for message in self.messages if v in message[0]]
        self.messages[:] = [message for message in self.messages if v not in message[0]]
        return Factors(weights, messages, {v: self.masks.pop(v)} if v in self.masks else {})


@dataclass(frozen=True)
class Eliminated:
    """What an elimination leaves: a constant, a last table, and the tables on the way if they were kept.

    ``table`` is flat over ``scope``, its first variable fastest; a record's table has its variable slowest.
    """

    constant: float
    scope: tuple[int, ...]
    table: Array
    records: list[tuple[int, tuple[int, ...], Array]]


class Elimination:
    """Exact answers of one model without a table over all states.

    Parameters
    ----------
    model : the model; its ``log_z`` is not used.
    max_memory : bytes that the tables of one answer may take; most of the free memory unless given.
    """

    def __init__(self, model: LogLinear, max_memory: int | None = None) -> None:
        self.model, self.max_memory = model, max_memory
        self._plans: dict[tuple[frozenset[int], tuple[int, ...]], Plan] = {}

    @cached_property
    def _local(self) -> dict[tuple[int, int], Array]:
        used = {factor for term in self.model.terms for factor in term}
        return {(i, j): local_row(self.model.basis, i, j).astype(np.float64) for i, j in used}

    # -- answers ----------------------------------------------------------------------------------------------

    def log_sums(self, keep: Sequence[int], allowed: Allowed) -> Array:
        """``log sum exp(theta . Phi)`` over the states that agree with the evidence, for each state of ``keep``.

        One axis per kept variable, in the order given; levels that the evidence excludes hold -inf.
        """
        done = self._run(tuple(keep), allowed, np.logaddexp, record=False)
        cards = [self.model.basis.cards[i] for i in keep]
        table = done.table.reshape(math.prod(cards), -1)
        return (log_sum_rows(table) + done.constant).reshape(cards, order="F")

    def mode(self, allowed: Allowed) -> NDArray[np.int64]:
        """The most probable state (n,) that agrees with the evidence; ties go to the lowest codes met first."""
        done = self._run((), allowed, np.maximum, record=True)
        states = self._placed(done, np.array([np.argmax(done.table)]), allowed)
        for v, scope, table in reversed(done.records):
            states[:, v] = np.argmax(self._columns(table, scope, states), axis=0)
        return states.ravel()

    def sample(self, size: int, rng: np.random.Generator, allowed: Allowed) -> NDArray[np.int64]:
        """Independent states (size, n) given the evidence: the last table first, then backwards."""
        done = self._run((), allowed, np.logaddexp, record=True)
        states = self._placed(done, draw(done.table, rng.random(size)), allowed)
        for v, scope, table in reversed(done.records):
            states[:, v] = draw_columns(self._columns(table, scope, states), rng.random(size))
        return states

    # -- the way ----------------------------------------------------------------------------------------------

    def _run(self, keep: tuple[int, ...], allowed: Allowed, combine: np.ufunc, record: bool) -> Eliminated:
        fixed = {i: codes[0] for i, codes in allowed.items() if len(codes) == 1 and i not in keep}
        way = self._plan(frozenset(fixed), keep)
        cells = way.total if record else 2 * way.largest
        require(
            8 * cells,
            budget(self.max_memory),
            f"an exact sum over a table of {way.largest} cells",
            "fix more variables, ask for fewer at once, or use a model with fewer terms",
        )
        factors, constant = self._restricted(fixed, allowed)
        records = []
        for v, scope in way.steps:
            table = self._table((*scope, v), factors.take(v))
            if record:
                records.append((v, scope, table))
            message = _reduce(table.reshape(self.model.basis.cards[v], -1), combine, in_place=not record)
            factors.messages.append((scope, message))
        constant += sum(float(message[0]) for scope, message in factors.messages if not scope)
        factors.messages[:] = [message for message in factors.messages if message[0]]
        return Eliminated(constant, way.rest, self._table(way.rest, factors), records)

    def _plan(self, fixed: frozenset[int], keep: tuple[int, ...]) -> Plan:
        if (fixed, keep) not in self._plans:
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            cards = self.model.basis.cards
            free = frozenset(i for i, card in enumerate(cards) if i not in fixed and (card > 1 or i in keep))
            scopes = {frozenset(i for i, _ in term) - fixed for term in self.model.terms}
            self._plans[fixed, keep] = plan(cards, scopes, free, keep)
        return self._plans[fixed, keep]

    def _restricted(self, fixed: Mapping[int, int], allowed: Allowed) -> tuple[Factors, float]:
        """The model with evidence put in: weights on the free variables, and a constant."""
        weights: dict[Term, float] = {}
        for term, weight in self.model:
            free = []
            for i, j in term:
                if i in fixed:
                    weight *= float(self._local[i, j][fixed[i]])
                else:
                    free.append((i, j))
            weights[tuple(free)] = weights.get(tuple(free), 0.0) + weight
        constant = weights.pop((), 0.0)
        masks = {i: self._mask(i, codes) for i, codes in allowed.items() if i not in fixed}
        return Factors(weights, [], masks), constant

    def _mask(self, i: int, codes: Sequence[int]) -> Array:
        mask = np.full(self.model.basis.cards[i], -np.inf)
        mask[list(codes)] = 0.0
        return mask

    def _table(self, scope: tuple[int, ...], factors: Factors) -> Array:
        """Sum of the factors over ``scope``, flat, its first variable fastest."""
        table = exponents(self.model.basis, scope, factors.weights)
        cube = table.reshape([self.model.basis.cards[i] for i in scope], order="F")
        for variables, message in [*factors.messages, *(((i,), mask) for i, mask in factors.masks.items())]:
            cube += self._spread(variables, message, scope)
        return table

    def _spread(self, variables: tuple[int, ...], message: Array, scope: tuple[int, ...]) -> Array:
        """A message with one axis per variable of ``scope``, of length 1 where it has none."""
        cards = self.model.basis.cards
        cube = message.reshape([cards[i] for i in variables], order="F")
        cube = cube.transpose([variables.index(i) for i in scope if i in variables])
        return cube.reshape([cards[i] if i in variables else 1 for i in scope])

    def _placed(self, done: Eliminated, places: NDArray[np.int64], allowed: Allowed) -> NDArray[np.int64]:
        """States with the evidence and the last table's digits filled in, zeros elsewhere."""
        states = np.zeros((len(places), len(self.model.space)), dtype=np.int64)
        for i, codes in allowed.items():
            states[:, i] = codes[0]
        for i in done.scope:
            places, states[:, i] = np.divmod(places, self.model.basis.cards[i])
        return states

    def _columns(self, table: Array, scope: tuple[int, ...], states: NDArray[np.int64]) -> Array:
        """Log-weights (levels, m) of a record's variable, given the states of its neighbours."""
        place, stride = np.zeros(len(states), dtype=np.int64), 1
        for i in scope:
            place += stride * states[:, i]
            stride *= self.model.basis.cards[i]
        columns: Array = table.reshape(-1, stride)[:, place]
        return columns


def exponents(basis: Basis, scope: tuple[int, ...], weights: Mapping[Term, float]) -> Array:
    """``sum theta Phi`` over the states of ``scope``, flat, its first variable fastest."""
    part = Basis(basis.name, tuple(basis.cards[i] for i in scope))
    stride = dict(zip(scope, part.strides, strict=True))
    table = np.zeros(part.n_states)
    for term, weight in weights.items():
        table[sum(j * stride[i] for i, j in term)] += weight
    if weights:
        part.synthesise(table)
    return table


def _reduce(table: Array, combine: np.ufunc, in_place: bool) -> Array:
    """Maximum or ``log sum exp`` over the first axis; ``in_place`` allows the table to be spoilt."""
    top: Array = table.max(axis=0)
    if combine is np.maximum:
        return top
    shift = np.where(np.isfinite(top), top, 0.0)
    table = np.subtract(table, shift, out=table if in_place else None)
    with np.errstate(divide="ignore"):
        total: Array = np.log(np.exp(table, out=table).sum(axis=0))
    total += shift
    return total


def log_sum_rows(table: Array) -> Array:
    """``log sum exp`` of each row, in place."""
    top: Array = table.max(axis=1, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0.0)
    table -= shift
    with np.errstate(divide="ignore"):
        total: Array = np.log(np.exp(table, out=table).sum(axis=1))
    total += shift[:, 0]
    return total


def draw(table: Array, uniforms: Array) -> NDArray[np.int64]:
    """Places drawn with probability proportional to ``exp(table)``, one per uniform number; spoils the table.

    Inverse distribution function on two levels, blocks and then cells, so that no second table is needed.
    """
    table -= table.max()
    np.exp(table, out=table)
    starts = np.arange(0, len(table), _BLOCK)
    cumulative = np.cumsum(np.add.reduceat(table, starts))
    target = uniforms * cumulative[-1]
    block = np.minimum(np.searchsorted(cumulative, target, side="right"), len(starts) - 1)
    target -= np.concatenate([[0.0], cumulative[:-1]])[block]
    places = np.empty(len(uniforms), dtype=np.int64)
    order = np.argsort(block, kind="stable")
    bounds = np.flatnonzero(np.diff(block[order])) + 1
    for members in np.split(order, bounds) if len(order) else []:
        start = int(starts[block[members[0]]])
        places[members] = start + _inverse(np.cumsum(table[start : start + _BLOCK]), target[members])
    return places


def _inverse(cumulative: Array, target: Array) -> NDArray[np.int64]:
    """First cell whose cumulative weight exceeds the target; rounding never leads to a cell of weight 0."""
    last = int(np.searchsorted(cumulative, cumulative[-1], side="left"))
    return np.minimum(np.searchsorted(cumulative, target, side="right"), last)


def draw_columns(columns: Array, uniforms: Array) -> NDArray[np.int64]:
    """A level for each column of log-weights (levels, m)."""
    weights = np.exp(columns - columns.max(axis=0))
    cumulative = np.cumsum(weights, axis=0)
    level: NDArray[np.int64] = (cumulative <= uniforms * cumulative[-1]).sum(axis=0)
    last: NDArray[np.int64] = (cumulative < cumulative[-1]).sum(axis=0)
    return np.minimum(level, last)
