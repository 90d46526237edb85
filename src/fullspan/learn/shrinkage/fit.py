"""From counts to a shrunken log-linear model with all terms up to an order, in the basis asked for."""

from __future__ import annotations

import itertools
import math

import numpy as np

from fullspan.data import Empirical
from fullspan.engine.dual.clamped import Clamped
from fullspan.engine.memory import budget, require
from fullspan.errors import FullspanError
from fullspan.learn.base.counted import observed_entropy
from fullspan.learn.base.progress import History, Watch
from fullspan.learn.shrinkage.contrasts import Contrasts
from fullspan.learn.shrinkage.evidence import Shrunken, shrink
from fullspan.model import Fitted, LogLinear, Step
from fullspan.model.algebra.basis import Basis, BasisName
from fullspan.model.algebra.blas import one_core

MAX_TERMS = 20_000
"""Most weights of a shrunken model."""
MAX_STATES = 1 << 20
"""Most states: each of some thousand steps transforms a table of them."""
_TABLES = 12


def highest_order(cards: tuple[int, ...], limit: int = MAX_TERMS) -> int:
    """The highest order whose terms, with those of all lower ones, are at most ``limit``; at least 1."""
    of_order = np.array([1])
    for card in cards:
        of_order = np.append(of_order, 0) + np.append(0, of_order * (card - 1))
    return max(int(np.searchsorted(np.cumsum(of_order[1:].astype(np.float64)), limit, side="right")), 1)


def fit_shrunken(
    empirical: Empirical,
    basis: BasisName,
    order: int | None = None,
    max_memory: int | None = None,
    watch: Watch | None = None,
    *,
    errors: bool = False,
) -> Fitted:
    """The model with all terms of up to ``order`` variables, or as many as there may be, shrunken by evidence.

    Standard errors are posterior ones, computed if ``errors`` asks for them and the fit was not interrupted, else NaN;
    so are the nats that the posterior would lose without a term, ``theta^2 / 2 var``. The description length counts the
    well determined weights.

    Raises
    ------
    FullspanError : there are too many states or weights; standard errors are asked for, and cells are missing.
    TooLargeError : the tables would not fit into memory; nothing has been allocated.
    """
    space, history = empirical.space, History(watch)
    check_shrinkable(empirical, order, max_memory)
    if errors and not empirical.is_complete:
        raise FullspanError(
            "the standard errors of shrinkage='evidence' need complete rows, and cells are missing; use "
            "missing='drop', or FullSpan(shrinkage='evidence'), which has none of these weights"
        )
    top = highest_order(space.cards) if order is None else min(order, len(space))

    def report(round_: int, cost: float) -> None:
        history.report(Step("shrink", n_terms, cost, history.seconds))

    contrasts, over = Contrasts(space.cards), Basis(basis, space.cards)
    n_terms = int(np.count_nonzero(contrasts.orders <= top)) - 1
    with one_core():
        found = shrink(contrasts, empirical, top, report, over if errors else None)
        theta = contrasts.natural(found.weights, over)
    return _fitted(empirical, over, top, found, theta)


def check_shrinkable(empirical: Empirical, order: int | None, max_memory: int | None) -> None:
    """Refuse data that cannot be fitted; see :func:`fit_shrunken`."""
    space = empirical.space
    if space.n_states > MAX_STATES:
        raise FullspanError(
            f"shrinkage='evidence' was asked for {space.n_states:,} states; at most {MAX_STATES:,} are possible: keep "
            "fewer variables with columns=, merge levels, or leave it out"
        )
    if order is not None and (most := highest_order(space.cards)) < min(order, len(space)):
        raise FullspanError(
            f"order {order} has more than {MAX_TERMS:,} weights; up to order {most} they are shrunk jointly"
        )
    require(8 * _TABLES * space.n_states, budget(max_memory), "the tables of a shrunken model", "keep fewer variables")


def _fitted(empirical: Empirical, basis: Basis, order: int, found: Shrunken, theta: np.ndarray) -> Fitted:
    space, n = empirical.space, empirical.total
    terms = tuple(
        tuple(zip(scope, digits, strict=True))
        for size in range(1, order + 1)
        for scope in itertools.combinations(range(len(space)), size)
        for digits in itertools.product(*(range(1, space.cards[i]) for i in scope))
    )
    places = [basis.index(term) for term in terms]
    weights = theta[places]
    f = basis.energies(places, weights)
    peak = float(f.max())
    log_z = peak + math.log(float(np.exp(f - peak).sum()))
    observed = f[space.index(empirical.states)] if empirical.is_complete else _log_sums(basis, f, empirical)
    surprise = -float(empirical.counts @ (observed - log_z)) / n
    entropy = observed_entropy(empirical)
    effective, variance = float(found.effective.sum()), np.full(len(terms), np.nan)
    if found.variances is not None:
        variance = found.variances[places]
    return Fitted(
        model=LogLinear(space, basis, terms, weights, log_z),
        standard_errors=np.sqrt(variance),
        nats_saved=weights**2 / (2 * np.maximum(variance, 1e-300)),
        **empirical.provenance(),
        divergence=surprise - entropy,
        entropy=entropy,
        description_length=n * surprise + 0.5 * effective * math.log(max(n, 1.0)),
        status="interrupted" if found.interrupted else "converged",
        settings={
            "effective": [round(float(g), 3) for g in found.effective[1:]],
            "precision": [float(a) for a in found.precision[1:]],
        },
    )


def _log_sums(basis: Basis, f: np.ndarray, data: Empirical) -> np.ndarray:
    """log of the sum of ``exp f`` over the states that agree with each row."""
    return Clamped(basis, data.states, np.ones(len(data.states))).complete(f, np.zeros(basis.n_states))
