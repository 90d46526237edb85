"""Other ways to predict beside averaged fits: all learned from the rows, each with the share that unseen rows ask for.

A way that would account for less than half a row of all is left out: what it is worth does not show in the likelihood,
and questions are the faster for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.learn.averaging.gaps import observed_log_prob
from fullspan.learn.averaging.ladders import Climb
from fullspan.learn.averaging.members import Seen
from fullspan.learn.averaging.stacking import best_shares, mixed
from fullspan.model import LogLinear
from fullspan.model.fitted import OutOfBag

KNOWN, FURTHER = 2.0, 0.1
"""Rows that speak beforehand for the fits and for what is known to serve with few rows, and for anything else."""
_LEAST = 0.5
"""Rows that a way must account for."""
_SURE = 2.0
"""Standard errors by which an average must beat the single fit."""
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


def stacked(empirical: Empirical, seen: Seen, k: int, climb: Climb) -> Stacked | None:
    """Find the shares of k fits, which say what is given, and of the ways; None if no row is left to decide.

    Raises
    ------
    Interrupted : the ways were stopped.
    """
    rows, known = seen.rows, seen.rows.known
    if not known.any():
        return None
    weight, fits, beside, basis = rows.known_weight, rows.expected(k), climb.beside, climb.basis
    found = climb.found(fits, known, weight)
    logs = [fits, *(one.expected[known] for one in found.values())]
    spoken = np.array([KNOWN, *(beside.before.get(name, FURTHER) for name in found)])
    shares = best_shares(np.stack(logs, axis=1), weight, spoken)
    for name in beside.at_full_size:
        if name in found:
            shares = _unless_no_better(np.stack(logs, axis=1), weight, shares, 1 + list(found).index(name))
    shares = np.where(shares * empirical.total < _LEAST, 0.0, shares)
    shares[0] = max(shares[0], _LEAST / empirical.total, _FITS)
    shares /= shares.sum()
    kept = [(share, one.way) for share, one in zip(shares[1:], found.values(), strict=True) if share > 0]
    each = [rows.log_prob(), *(one.unseen[known] for one in found.values())]
    unseen = mixed(np.stack(each, axis=1)[:, shares > 0], shares[shares > 0])
    each = [seen.mean, *(observed_log_prob(way, basis, empirical.states) for _, way in kept)]
    return Stacked(
        dict(zip(("fits", *found), map(float, shares), strict=True)),
        [(float(share) * own, model) for share, way in kept for own, model in way.models()],
        mixed(np.stack(each, axis=1), shares[shares > 0]),
        rows.score(unseen),
    )


def _unless_no_better(logs: Array, weight: Array, shares: Array, single: int) -> Array:
    """The shares, or all to a single fit where held-out rows do not show that the others improve on it.

    The others must win by more than two standard errors of the paired difference: an average that is no better than
    its own member only adds the noise of its shares.
    """
    gain = mixed(logs[:, shares > 0], shares[shares > 0]) - logs[:, single]
    mean = float(weight @ gain / weight.sum())
    error = float(np.sqrt(np.sum((weight * (gain - mean)) ** 2)) / weight.sum())
    return shares if mean > _SURE * error else np.asarray(np.arange(len(shares)) == single, dtype=np.float64)
