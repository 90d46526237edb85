"""The stack of an ensemble: bootstrap fits, other candidates and the single fit, at the shares that held-out rows give.

The fits predict rows out of bag, the candidates rows of the other folds; shares are :func:`fullspan.learn.shares`'. A
candidate that would account for less than half a row of all is left out: what it adds does not show in the likelihood,
and questions are faster without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.learn.ensemble import single_fit
from fullspan.learn.ensemble.candidates import TRUSTED
from fullspan.learn.ensemble.completion import observed_log_prob
from fullspan.learn.ensemble.members import Member, Seen
from fullspan.learn.ensemble.selection import FEW_ROWS, Found, Selection
from fullspan.learn.shares import best_shares, mixed
from fullspan.model import LogLinear
from fullspan.model.fitted import OutOfBag

_LEAST_ROWS = 0.5
"""Rows that a candidate must account for."""
_LEAST_SHARE = 1e-12
"""Share that the fits keep in any case, so that all others sum to less than 1."""


@dataclass(frozen=True)
class Stacked:
    """A stack.

    Attributes
    ----------
    shares : by name.
    models : further models next to the fits, with their shares of the whole.
    mean : ``log p`` of all states of the data under the stack.
    out_of_bag : of held-out rows under the stack without the single fit, from which no row is held out.
    """

    shares: dict[str, float]
    models: list[tuple[float, LogLinear]]
    mean: Array
    out_of_bag: OutOfBag


def stacked(empirical: Empirical, seen: Seen, members: Sequence[Member], selection: Selection | None) -> Stacked | None:
    """Find the shares of the fits, of the candidates and of the single fit; None if no held-out row decides.

    Raises
    ------
    Interrupted : the candidates were stopped.
    """
    known, compares = seen.rows.known, empirical.total >= FEW_ROWS
    if not known.any() or (selection is None and not compares):
        return None
    found: Found = {}
    pseudo_counts = [TRUSTED]
    if selection is not None:
        found = selection.found(seen.rows.expected(len(members)), known, seen.rows.known_weight)
        pseudo_counts += [selection.candidates.pseudo_count(name) for name in found]
    stack = _Stack(empirical, seen, members, found)
    shares = stack.shares(np.array(pseudo_counts))
    return stack.combined(shares, stack.share_of_single(shares) if compares else None)


@dataclass(frozen=True)
class _Stack:
    empirical: Empirical
    seen: Seen
    members: Sequence[Member]
    found: Found

    def held_out(self, fits: Array) -> Array:
        """``log p`` of held-out rows (r, 1 + candidates), the fits first."""
        return np.stack([fits, *(one.held_out[self.seen.rows.known] for one in self.found.values())], axis=1)

    @property
    def expected(self) -> Array:
        """The same, the fits as an average of all of them would predict."""
        return self.held_out(self.seen.rows.expected(len(self.members)))

    def shares(self, pseudo_counts: Array) -> Array:
        """Of the fits and the candidates; those of less than half a row are 0."""
        total = self.empirical.total
        shares = best_shares(self.expected, self.seen.rows.known_weight, pseudo_counts)
        shares = np.where(shares * total < _LEAST_ROWS, 0.0, shares)
        shares[0] = max(shares[0], _LEAST_ROWS / total, _LEAST_SHARE)
        return np.asarray(shares / shares.sum())

    def share_of_single(self, shares: Array) -> float:
        """Of the single fit; see module ``single_fit``."""
        rows, first = self.seen.rows, self.members[0].fitted
        single = self.seen.first - single_fit.degrees_of_freedom(first) / self.empirical.total
        gain = mixed(self.expected, shares) - single[rows.state[rows.known]]
        return min(single_fit.share_of_single(gain, rows.known_weight), 1.0 - _LEAST_SHARE)

    def combined(self, shares: Array, single: float | None) -> Stacked:
        """The stack at these shares; ``single`` is None where the single fit was not compared."""
        rows, w = self.seen.rows, single or 0.0
        named = dict(zip(("fits", *self.found), map(float, shares * (1.0 - w)), strict=True))
        models = [(w, self.members[0].fitted.model)] if w > 0 else []
        logs, weights = [self.seen.first, self.seen.mean], [w, named["fits"]]
        for name, one in self.found.items():
            if named[name] > 0:
                models += [(named[name] * own, model) for own, model in one.candidate.models()]
                basis = self.members[0].fitted.model.basis
                logs.append(observed_log_prob(one.candidate, basis, self.empirical.states))
                weights.append(named[name])
        out_of_bag = rows.score(mixed(self.held_out(rows.log_prob()), shares))
        mean = mixed(np.stack(logs, axis=1), np.array(weights))
        return Stacked(named | ({} if single is None else {single_fit.NAME: single}), models, mean, out_of_bag)
