"""The single fit, of all rows, next to the average that it is a member of: which share keeps the average from losing.

A fit of a bootstrap sample has 63 % of the distinct rows and takes some repetitions for structure, so that with many
rows the single fit may predict better than the average. No row is held out from it, and a search on a part of the rows
would miss terms that the search on all rows finds. So its likelihood of new rows is estimated by Akaike's correction.
"""

from __future__ import annotations

import math

import numpy as np

from fullspan.arrays import Array
from fullspan.learn.search.penalty import prices
from fullspan.model import Fitted

NAME = "single fit"
"""Its name among the shares."""
_CLEAR_ERRORS = 2.0
"""Standard errors by which the average must beat the single fit to do without it."""


def share_of_single(gain: Array, weight: Array) -> float:
    """The share of the single fit, from what the average gains over it on weighted rows that neither has seen.

    0 if the average is better by more than two standard errors of the mean gain. Otherwise 1/2, or the probability
    that the single fit is the better one where that is more. KL is convex: with a share w the mixture loses at most
    (1 - w) of what the average alone would lose, and in doubt half of each is nearly always better than either.
    """
    mean = float(weight @ gain / weight.sum())
    error = float(np.sqrt(np.sum((weight * (gain - mean)) ** 2)) / weight.sum())
    if mean > _CLEAR_ERRORS * error:
        return 0.0
    return max(0.5, 0.5 * math.erfc(mean / (math.sqrt(2.0) * error))) if error > 0 else 1.0


def degrees_of_freedom(fitted: Fitted) -> float:
    """Degrees of freedom of a fit: with k of them it predicts new rows worse than its own, by k/N nats each (Akaike).

    Weights count by how far the rows, and not the prior, have determined them. A search adds its own, see
    :func:`search_freedom`.
    """
    k = float(len(fitted.model.terms))
    if fitted.prior is not None:
        k -= float(np.sum(np.clip(np.nan_to_num(fitted.prior[1] * fitted.standard_errors**2), 0.0, 1.0)))
    return k + (search_freedom(fitted) if "penalty" in fitted.settings else 0.0)


def search_freedom(fitted: Fitted) -> float:
    """Degrees of freedom that a search spends on choosing terms (Tibshirani 2015, Statistica Sinica 25).

    A term of no effect has z ~ N(0, 1) and is chosen if ``z^2 / 2`` exceeds its price, that is ``|z| > t``; then it
    adds ``2 t phi(t)`` in expectation. At the usual price all candidates together add less than one, at a quarter of it
    some hundred. No order adds more than what its chosen terms would have gained if all were noise.
    """
    settings, cards, n = fitted.settings, fitted.model.space.cards, fitted.total
    tariff = prices(cards, n, settings["penalty"], settings.get("max_order"))
    chosen = np.bincount([len(term) for term in fitted.model.terms], minlength=len(cards) + 1)
    candidates = np.ones(1)  # of each order: the elementary symmetric polynomials of levels - 1
    for card in cards:
        candidates = np.append(candidates, 0.0) + (card - 1) * np.append(0.0, candidates)
    nats = n * (tariff.by_order + np.arange(len(cards) + 1) * tariff.by_variable.mean())
    found = 0.0
    for order in np.flatnonzero(chosen):
        t = math.sqrt(2.0 * float(nats[order]))
        by_chance = float(candidates[order]) * 2.0 * t * math.exp(-(t**2) / 2) / math.sqrt(2.0 * math.pi)
        found += min(by_chance, float(chosen[order]) * t**2)
    return found
