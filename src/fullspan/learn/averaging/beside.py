"""Other ways to predict beside averaged fits: all learned from the rows, each with the share that unseen rows ask for.

A way that would account for less than half a row of all is left out: what it is worth does not show in the likelihood,
and questions are the faster for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.learn.averaging.gaps import observed_log_prob
from fullspan.learn.averaging.ladders import FEW, Climb, Found
from fullspan.learn.averaging.members import Member, Seen
from fullspan.learn.averaging.stacking import best_shares, mixed
from fullspan.learn.search.penalty import prices
from fullspan.model import Fitted, LogLinear
from fullspan.model.fitted import OutOfBag

KNOWN, FURTHER = 2.0, 0.1
"""Rows that speak beforehand for the fits and for what is known to serve with few rows, and for anything else."""
_LEAST = 0.5
"""Rows that a way must account for."""
_SURE = 2.0
"""Standard errors by which the average must beat the single fit to do without it."""
SINGLE = "single fit"
"""The name of the first fit, that of all rows, among the shares."""
_FITS = 1e-12
"""Share that the fits have in any case: the others' sum to less than 1, however many rows speak against the fits."""


@dataclass(frozen=True)
class Stacked:
    """Shares by name, the models beside the fits with their shares of the whole, and what all say of rows.

    ``mean`` is ``log p`` of all states of the data, ``out_of_bag`` of rows that no way had seen.
    """

    shares: dict[str, float]
    beside: list[tuple[float, LogLinear]]
    mean: Array
    out_of_bag: OutOfBag


def stacked(empirical: Empirical, seen: Seen, members: Sequence[Member], climb: Climb | None) -> Stacked | None:
    """Find the shares of the fits, of the other candidates, and of the single fit; None if no held-out row decides.

    Raises
    ------
    Interrupted : the candidates were stopped.
    """
    rows, known = seen.rows, seen.rows.known
    judged = empirical.total >= FEW
    if not known.any() or (climb is None and not judged):
        return None
    weight, fits = rows.known_weight, rows.expected(len(members))
    found = climb.found(fits, known, weight) if climb is not None else {}
    before = climb.beside.before if climb is not None else {}
    held_out = np.stack([fits, *(one.unseen[known] for one in found.values())], axis=1)
    shares = best_shares(held_out, weight, np.array([KNOWN, *(before.get(name, FURTHER) for name in found)]))
    shares = np.where(shares * empirical.total < _LEAST, 0.0, shares)
    shares[0] = max(shares[0], _LEAST / empirical.total, _FITS)
    shares /= shares.sum()
    held_out[:, 0] = rows.log_prob()
    unseen = mixed(held_out, shares)
    single = 0.0
    if judged:
        held_out[:, 0] = fits
        expected = (seen.first - effective_weights(members[0].fitted) / empirical.total)[rows.state[known]]
        single = min(share_of_single(mixed(held_out, shares) - expected, weight), 1.0 - _FITS)
    return _combined(empirical, seen, members[0].fitted.model, found, shares, single, rows.score(unseen), climb)


def share_of_single(gain: Array, weight: Array) -> float:
    """The share of the single fit, from what the average gains over it on weighted rows that neither has seen.

    0 if the average is better by more than two standard errors of the mean gain. Otherwise 1/2, or the probability
    that the single fit is the better one where that is more. KL is convex: with a share w the mixture loses at most
    (1 - w) of what the average alone would lose, and in doubt half of each is nearly always better than either.
    """
    mean = float(weight @ gain / weight.sum())
    error = float(np.sqrt(np.sum((weight * (gain - mean)) ** 2)) / weight.sum())
    if mean > _SURE * error:
        return 0.0
    return max(0.5, 0.5 * math.erfc(mean / (math.sqrt(2.0) * error))) if error > 0 else 1.0


def effective_weights(fitted: Fitted) -> float:
    """Degrees of freedom of a fit: with k of them it predicts new rows worse than its own, by k/N nats each (Akaike).

    Weights count by how far the rows, and not the prior, have determined them. A search adds its own, see
    :func:`searched`.
    """
    k = float(len(fitted.model.terms))
    if fitted.prior is not None:
        k -= float(np.sum(np.clip(np.nan_to_num(fitted.prior[1] * fitted.standard_errors**2), 0.0, 1.0)))
    return k + (searched(fitted) if "penalty" in fitted.settings else 0.0)


def searched(fitted: Fitted) -> float:
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


def _combined(
    empirical: Empirical,
    seen: Seen,
    first: LogLinear,
    found: Found,
    shares: Array,
    single: float,
    out_of_bag: OutOfBag,
    climb: Climb | None,
) -> Stacked:
    """The candidates with a share, and the single fit in front of all."""
    named = dict(zip(("fits", *found), map(float, shares * (1.0 - single)), strict=True))
    models = [(single, first)] if single > 0 else []
    logs, weights = [seen.first, seen.mean], [single, named["fits"]]
    for name, one in found.items():
        if climb is not None and named[name] > 0:
            models += [(named[name] * own, model) for own, model in one.way.models()]
            logs.append(observed_log_prob(one.way, climb.basis, empirical.states))
            weights.append(named[name])
    mean = mixed(np.stack(logs, axis=1), np.array(weights))
    named |= {SINGLE: single} if empirical.total >= FEW else {}
    return Stacked(named, models, mean, out_of_bag)
