"""The full search: whole margins and single terms of any order, refitted jointly, under one description length.

    1. Start from the independent model.
    2. Grow: again and again append the margins and terms that shorten the description most, several at a time if
       they hardly overlap, and refit all weights jointly by Newton's method.
    3. Sift: fit a code to the weights (module ``code``), drop what the code calls noise, refit, and pull the
       remaining weights towards what the code expects.

One pseudo-row, spread evenly over all states, keeps every optimum finite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from fullspan.learn import line
from fullspan.learn.code import Code, fit_code
from fullspan.learn.margins import Margins
from fullspan.learn.problem import Problem, as_arrays, as_theta
from fullspan.learn.refit import Prior, covariance, refit

LARGEST_MARGIN = 4
MAX_TERMS = 4096
"""Most terms refitted jointly: the Fisher information is a k-by-k matrix."""
_SHARE_OF_BEST = 0.3
"""A candidate joins the best one in a round if it is worth this share of it."""
_AT_ONCE = 40
_BELIEVED = 0.2
"""A weight of which less than this part is signal is dropped."""


@dataclass(frozen=True)
class _Candidate:
    net: float
    name: float
    variables: frozenset[int]
    term: int | None

    def indices(self, margins: Margins) -> list[int]:
        """Terms to append: the one it is, or all that are missing inside the margin."""
        return margins.missing(sorted(self.variables)) if self.term is None else [self.term]


def full_search(problem: Problem, largest: int = LARGEST_MARGIN) -> str:
    """Grow and sift from the current point; returns why it stopped.

    The cost, ``KL(p_d || p)`` plus the price of naming margins and terms plus one nat per effective weight, never rises.
    """
    tolerance = 0.02 / problem.total
    # The matrices are small: threads that spin for each other inside BLAS cost more than they bring.
    with threadpool_limits(limits=1, user_api="blas"):
        if problem.table.theta:
            problem.names = sum(problem.price(y) - problem.prices.weight for y in problem.table.theta)
        else:
            _start_independent(problem)
        status = _grow(problem, largest, tolerance)
        _sift(problem, tolerance)
    return status


def description(problem: Problem) -> float:
    """``KL(p_d || p)`` + names + one nat per effective weight, ``tr F (F + W)^-1`` under a prior of precision W."""
    effective = float(len(problem.table.theta))
    if problem.prior is not None and effective:
        spread = covariance(problem, problem.prior.precision) * problem.total
        effective -= float(np.diag(spread) @ problem.prior.precision)
    return problem.divergence() + problem.names + effective * _weight_price(problem)


def _weight_price(problem: Problem) -> float:
    return min(problem.prices.weight, problem.weight_price)


def _start_independent(problem: Problem) -> None:
    """All main effects at once; for two levels they are closed form, for more a Newton step or two away."""
    basis = problem.table.basis
    y = np.array([basis.index(((i, j),)) for i, card in enumerate(basis.cards) for j in range(1, card)], dtype=np.int64)
    if not y.size or not np.isfinite(problem.prices.by_order[1]):
        return
    two_levels = np.array([card == 2 for card in basis.cards for _ in range(1, card)])
    theta = line.way(problem.eta_at(y), problem.d_at(y), basis.zero_one)
    problem.table.set_theta(as_theta(y, np.where(two_levels, theta, 0.0)))
    refit(problem, 0.1 / problem.total)
    problem.names = len(y) * (problem.prices.by_order[1] - problem.prices.weight)
    problem.record("start", description(problem))


def _grow(problem: Problem, largest: int, tolerance: float) -> str:
    order_limit = int(np.isfinite(problem.prices.by_order).sum()) - 1
    margins = Margins(problem, min(largest, order_limit))
    cost = description(problem)
    while True:
        batch = _batch(_candidates(problem, margins))
        while batch:
            before = dict(problem.table.theta), problem.names
            if len(before[0]) + sum(len(c.indices(margins)) for c in batch) > MAX_TERMS:
                refit(problem, tolerance)
                return "term limit"
            for candidate in batch:
                problem.names += candidate.name
                problem.table.theta.update((y, 0.0) for y in candidate.indices(margins))
            refit(problem, tolerance, max_iterations=2)
            if (new := description(problem)) < cost:
                cost = new
                problem.record("append" if batch[0].term else "margin", cost)
                break
            problem.table.set_theta(before[0])
            problem.names = before[1]
            batch = batch[: len(batch) // 2]
        else:
            refit(problem, tolerance)
            return "converged"


def _candidates(problem: Problem, margins: Margins) -> list[_Candidate]:
    """Margins and single terms that shorten the description, best first."""
    found = [
        _Candidate(net, name, frozenset(map(int, variables)), None)
        for net, name, variables in margins.promising(10 * _AT_ONCE)
    ]
    single = problem.table.scan()
    for y, net in zip(single.indices, single.gains, strict=True):
        if int(y) not in problem.table.theta:
            variables = frozenset(i for i, _ in problem.table.basis.term(int(y)))
            name = problem.price(int(y)) - problem.prices.weight
            found.append(_Candidate(float(net), name, variables, int(y)))
    return sorted(found, key=lambda c: (-c.net, sorted(c.variables)))


def _batch(candidates: list[_Candidate]) -> list[_Candidate]:
    """The best candidate, and those nearly as good that share at most one variable with the ones before."""
    batch: list[_Candidate] = []
    for candidate in candidates:
        if candidate.net < _SHARE_OF_BEST * candidates[0].net or len(batch) == _AT_ONCE:
            break
        if all(len(candidate.variables & other.variables) <= 1 for other in batch):
            batch.append(candidate)
    return batch


# -- sifting ----------------------------------------------------------------------------------------------------


def _sift(problem: Problem, tolerance: float) -> None:
    """Drop noise, then pull the other weights towards what the code of their order expects.

    Dropping works on the quadratic model of the likelihood: without the terms J the others move by
    ``-C_KJ C_JJ^-1 theta_J`` and their covariance C loses ``C_KJ C_JJ^-1 C_JK``. Only the outcome is refitted.
    """
    if not problem.table.theta:
        return
    y, theta = as_arrays(problem.table.theta)
    orders = (problem.table.digits(y) > 0).sum(axis=1)
    spread = covariance(problem)
    noise = _variances(spread)
    codes = {int(o): fit_code(theta[orders == o], noise[orders == o]) for o in np.unique(orders)}
    stay = np.arange(len(y))
    while stay.size:
        worth = _by_order(codes, orders[stay], theta, _variances(spread))
        doubtful = np.flatnonzero(worth < _BELIEVED)
        if not doubtful.size:
            break
        out = doubtful[np.argsort(worth[doubtful], kind="stable")][: (doubtful.size + 2) // 3]
        keep = np.setdiff1d(np.arange(stay.size), out)
        moves = np.linalg.solve(spread[np.ix_(out, out)], spread[np.ix_(out, keep)])
        theta = theta[keep] - theta[out] @ moves
        spread = spread[np.ix_(keep, keep)] - spread[np.ix_(keep, out)] @ moves
        stay = stay[keep]
    y, orders, noise = y[stay], orders[stay], _variances(spread)
    mean, precision = np.zeros(len(y)), np.zeros(len(y))
    for order, code in codes.items():
        if code is not None and (here := orders == order).any():
            mean[here], precision[here] = code.prior(theta[here], noise[here])
    problem.prior = Prior(mean, precision / problem.total)
    problem.table.set_theta(as_theta(y, theta))
    refit(problem, tolerance, prior=problem.prior)
    problem.record("prune", description(problem))


def _variances(spread: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(np.diag(spread), 1e-300)


def _by_order(
    codes: dict[int, Code | None], orders: NDArray[np.int64], theta: NDArray[np.float64], noise: NDArray[np.float64]
) -> NDArray[np.float64]:
    worth = np.ones(len(theta))
    for order, code in codes.items():
        if code is not None and (here := orders == order).any():
            worth[here] = code.worth(theta[here], noise[here])
    return worth
