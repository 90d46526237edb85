"""The full search: whole margins and single terms of any order, refitted jointly, under one description length.

    1. Start from the independent model.
    2. Grow: again and again append the margins and terms that shorten the description most, several at a time if
       they hardly overlap, and refit all weights jointly by Newton's method.
    3. Sift: fit a code to the weights (module ``code``), drop what the code calls noise, refit, and pull the
       remaining weights towards what the code expects.

One pseudo-row, spread evenly over all states, keeps every optimum finite. Whole margins span the same functions in
every basis: what has been grown in one is carried over to the next, and only single terms are left to find there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fullspan.learn.search import line
from fullspan.learn.search.margins import Margins
from fullspan.learn.search.options import MAX_TERMS
from fullspan.learn.search.problem import Prior, Problem, as_arrays, as_theta, refit, variances
from fullspan.learn.search.sift import BELIEVED_PART, Quadratic, sift
from fullspan.model.algebra.basis import Basis, exchanged
from fullspan.model.algebra.bits import is_small

LARGEST_MARGIN = 4
_SHARE_OF_BEST = 0.7
"""A candidate joins the best one in a round if it is worth this share of it."""
_AT_ONCE = 40
_NEWTON_STEPS = 2
"""Newton steps after each round of growing; the next round goes on from there."""
_TIED_SHARE = 1e-9
"""Prices and gains that differ by this share are equal: rounding, which no two machines share, must not choose."""
_WIDE_DEVIATION = 2.0
"""Standard deviation of the prior on every weight while growing; it matters only where the data say nothing."""


@dataclass(frozen=True)
class _Candidate:
    net: float
    name: float
    variables: frozenset[int]
    term: int | None

    def indices(self, margins: Margins) -> list[int]:
        """Terms to append: the one it is, or all that are missing inside the margin."""
        return margins.missing(sorted(self.variables)) if self.term is None else [self.term]


@dataclass(frozen=True)
class Grown:
    """A model as it was before sifting: basis, weights, and the price of its names."""

    basis: Basis
    theta: dict[int, float]
    names: float


def grow(
    problem: Problem, largest: int = LARGEST_MARGIN, rounds: float = math.inf, terms: int = MAX_TERMS
) -> tuple[str, Grown]:
    """Append margins and terms to the current point until none pays, in at most ``rounds``, to at most ``terms``.

    Returns why it stopped, and what was reached.
    """
    if not problem.table.theta:
        _start_independent(problem)
    elif not problem.names:
        problem.names = names_in_use(problem, largest)
    status = _grow(problem, largest, _tolerance(problem), rounds, terms)
    return status, Grown(problem.table.basis, dict(problem.table.theta), problem.names)


def carry_over(grown: Grown, problem: Problem) -> bool:
    """Start a problem in another basis from what was grown before; False if that takes too many terms there."""
    theta = exchanged(grown.theta, grown.basis, problem.table.basis, MAX_TERMS)
    if not theta:
        return False
    problem.table.set_theta(theta)
    # Exchanging bases leaves terms on fewer variables behind, which the margins that were named hold as well.
    problem.names = min(grown.names, names_in_use(problem))
    _refit_wide(problem, _tolerance(problem), _NEWTON_STEPS)
    problem.record("start", description(problem))
    return True


def _tolerance(problem: Problem) -> float:
    return 0.02 / problem.total


def description(problem: Problem) -> float:
    """``KL(p_d || p)`` + names + one nat per effective weight, ``tr F (F + W)^-1`` under a prior of precision W."""
    effective = float(len(problem.table.theta))
    if problem.prior is not None and effective:
        # tr F (F + W)^-1 = k - tr W (F + W)^-1, and W is diagonal.
        effective -= float(variances(problem, problem.prior.precision) @ problem.prior.precision) * problem.total
    return float(problem.divergence() + problem.names + effective * problem.weight_price)


def names_in_use(problem: Problem, largest: int = LARGEST_MARGIN) -> float:
    """Price of naming the terms in use: each main effect, and as few margins or large terms as hold the others."""
    supports = [problem.support(y) for y in problem.table.theta]
    named: list[frozenset[int]] = []
    # Large ones first, so that smaller ones are found inside them; then by variables, so that ties do not depend on
    # order.
    for a in sorted({a for a in supports if len(a) > 1}, key=lambda a: (-len(a), sorted(a))):
        if any(a <= b for b in named):
            continue
        extra, own = np.array([_widened(problem, b, a, largest) for b in named]), _name(problem, a)
        least = extra.min(initial=np.inf) + _TIED_SHARE * own  # it is negative where larger margins are cheaper to name
        if least < own:
            named[int(np.flatnonzero(extra <= least)[0])] |= a
        else:
            named.append(a)
    return sum(_name(problem, a) for a in supports if len(a) == 1) + sum(_name(problem, a) for a in named)


def _widened(problem: Problem, named: frozenset[int], more: frozenset[int], largest: int) -> float:
    """What it costs to name a margin so large that it holds ``more`` too."""
    joint = named | more
    return _name(problem, joint) - _name(problem, named) if len(joint) <= max(largest, len(named)) else np.inf


def _name(problem: Problem, variables: frozenset[int]) -> float:
    prices = problem.prices
    return float(prices.by_order[len(variables)] - prices.weight + sum(prices.by_variable[i] for i in variables))


def _refit_wide(problem: Problem, tolerance: float, max_iterations: int = 50) -> None:
    """Joint refit under the wide prior, which keeps weights finite where cells are empty."""
    k = len(problem.table.theta)
    problem.prior = Prior(np.zeros(k), np.full(k, 1.0 / (_WIDE_DEVIATION**2 * problem.total)))
    refit(problem, tolerance, max_iterations, problem.prior)


def _start_independent(problem: Problem) -> None:
    """All main effects at once; for two levels they are closed form, for more a Newton step or two away."""
    basis = problem.table.basis
    y = np.array([basis.index(((i, j),)) for i, card in enumerate(basis.cards) for j in range(1, card)], dtype=np.int64)
    if not y.size or not np.isfinite(problem.prices.by_order[1]):
        return
    two_levels = np.array([card == 2 for card in basis.cards for _ in range(1, card)])
    theta = line.step_to(problem.eta_at(y), problem.d_at(y), basis.zero_one)
    problem.table.set_theta(as_theta(y, np.where(two_levels, theta, 0.0)))
    _refit_wide(problem, 0.1 / problem.total)
    problem.names = names_in_use(problem)
    problem.record("start", description(problem))


def _grow(problem: Problem, largest: int, tolerance: float, rounds: float, terms: int) -> str:
    # An order that is not allowed costs infinitely much; the constant has order 0.
    order_limit = int(np.isfinite(problem.prices.by_order).sum()) - 1
    margins = Margins(problem, min(largest, order_limit))
    cost, done = description(problem), 0
    while True:
        room = terms - len(problem.table.theta)
        if room <= 0:
            _refit_wide(problem, tolerance)
            return "term limit"
        if done >= rounds:
            _settle(problem, tolerance, cost)
            return "round limit"
        batch = _fitting(_batch(_candidates(problem, margins, room)), margins, room)
        while batch:
            before = dict(problem.table.theta), problem.names, problem.prior
            for candidate in batch:
                problem.names += candidate.name
                problem.table.theta.update((y, 0.0) for y in candidate.indices(margins))
            _refit_wide(problem, tolerance, _NEWTON_STEPS)
            # A batch was chosen one by one. If all together do not pay, half of them may, and in the end the best one
            # alone.
            if (new := description(problem)) < cost:
                cost = new
                problem.record("append" if batch[0].term else "margin", cost)
                done += 1
                break
            problem.table.set_theta(before[0])
            problem.names, problem.prior = before[1:]
            batch = batch[: len(batch) // 2]
        else:
            if (
                not problem.history.steps or problem.history.steps[-1].move != "start"
            ):  # a start has been refitted already
                _settle(problem, tolerance, cost)
            return "converged"


def _settle(problem: Problem, tolerance: float, cost: float) -> None:
    """Refit to the end what growing has refitted in a few steps only."""
    _refit_wide(problem, tolerance)
    if (new := description(problem)) < cost:
        problem.record("refit", new)


def _candidates(problem: Problem, margins: Margins, room: int) -> list[_Candidate]:
    """Margins of at most ``room`` missing terms, and single terms, that shorten the description, best first.

    Margins that are not worth their share of the best one are left out.
    """
    found = [
        _Candidate(net, name, frozenset(map(int, variables)), None)
        for net, name, variables in margins.promising(10 * _AT_ONCE, _SHARE_OF_BEST, room)
    ]
    single = problem.table.scan()
    for y, net in zip(single.indices, single.gains, strict=True):
        if int(y) not in problem.table.theta:
            name = problem.price(int(y)) - problem.prices.weight
            found.append(_Candidate(float(net), name, problem.support(int(y)), int(y)))
    # Gains are counted in this unit, so that a difference of rounding size is a tie, which the variables decide.
    unit = _TIED_SHARE * max((c.net for c in found), default=1.0)
    return sorted(found, key=lambda c: (-round(c.net / unit), sorted(c.variables), c.term or 0))


def _batch(candidates: list[_Candidate]) -> list[_Candidate]:
    """The best candidate, and those nearly as good that share at most one variable with the ones before."""
    batch: list[_Candidate] = []
    for candidate in candidates:
        if candidate.net < _SHARE_OF_BEST * candidates[0].net or len(batch) == _AT_ONCE:
            break
        # Gains of sets that share a pair would be counted twice.
        if all(len(candidate.variables & other.variables) <= 1 for other in batch):
            batch.append(candidate)
    return batch


def _fitting(batch: list[_Candidate], margins: Margins, room: int) -> list[_Candidate]:
    """As many of a batch, from the first on, as there is room for."""
    ends = np.cumsum([len(candidate.indices(margins)) for candidate in batch])
    return batch[: int(np.searchsorted(ends, room, side="right"))]


def sift_out(problem: Problem) -> None:
    """Drop noise and pull the weights towards what their code expects, as long as that shortens the description."""
    if not problem.table.theta:
        return
    grown, prior, cost = dict(problem.table.theta), problem.prior, description(problem)
    y, theta = as_arrays(grown)
    quadratic = Quadratic(problem.table.fisher(y), theta, problem.total)
    orders = (problem.table.digits(y) > 0).sum(axis=1)
    # The strictest first; if it lengthens the description, less is dropped, and at last nothing but noise.
    for believed in (BELIEVED_PART, BELIEVED_PART / 4, 0.0):
        sifted = sift(quadratic, orders, believed, is_small(problem.table.basis.n_states))
        problem.table.set_theta(as_theta(y[sifted.stay], sifted.theta))
        problem.prior = Prior(sifted.mean, sifted.precision / problem.total)
        refit(problem, _tolerance(problem), prior=problem.prior)
        if description(problem) <= cost:
            problem.names = min(problem.names, names_in_use(problem))  # what was dropped needs no name
            problem.record("prune", description(problem))
            return
    problem.prior = prior
    problem.table.set_theta(grown)
