"""Other ways to predict beside averaged fits: all learned from the rows, each with the share that unseen rows ask for.

A way that would account for less than half a row of all is left out: what it is worth does not show in the likelihood,
and questions are the faster for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numba
import numpy as np

from fullspan.algebra.basis import Basis
from fullspan.data import Empirical
from fullspan.learn.averaging.bootstrap import Array
from fullspan.learn.averaging.gaps import observed_log_prob
from fullspan.learn.averaging.members import Seen
from fullspan.learn.averaging.stacking import Learn, Way, best_shares, mixed, without_each_fifth
from fullspan.learn.search.problem import Interrupted
from fullspan.model import LogLinear
from fullspan.model.fitted import OutOfBag

KNOWN, FURTHER = 2.0, 0.1
"""Rows that speak beforehand for the fits and for what is known to serve with few rows, and for anything else."""
_LEAST = 0.5
"""Rows that a way must account for."""
_FITS = 1e-12
"""Share that the fits have in any case: the others' sum to less than 1, however many rows speak against the fits."""
_LARGE = 1 << 20
"""States above which ways that hold a table, which they do where cells are missing, are learned one after another."""


@dataclass(frozen=True)
class Stacked:
    """Shares by name, the models beside the fits with their shares of the whole, and what all say of rows.

    ``mean`` is ``log p`` of all states of the data, ``out_of_bag`` of rows that no way had seen.
    """

    shares: dict[str, float]
    beside: list[tuple[float, LogLinear]]
    mean: Array
    out_of_bag: OutOfBag


@dataclass(frozen=True)
class _Learned:
    way: Way
    unseen: Array


def stacked(
    empirical: Empirical,
    seen: Seen,
    k: int,
    basis: Basis,
    beside: Mapping[str, Learn],
    before: Mapping[str, float],
    seed: int,
    stop: threading.Event,
) -> Stacked | None:
    """Learn all ways from all rows and without each fifth, and find their shares; None if no row is left to decide.

    Parameters
    ----------
    seen : what k fits say.
    before : rows that speak for a way beforehand, by its name; fewer for one that is not named.
    stop : ends the learning between ways, which run side by side.

    Raises
    ------
    Interrupted : it was stopped.
    """
    rows, known = seen.rows, seen.rows.known
    if not known.any():
        return None

    def learned(number: int, learn: Learn) -> _Learned:
        rng = np.random.default_rng([number, seed])
        way = learn(empirical, basis, rng)

        def unless_stopped(data: Empirical, basis: Basis, rng: np.random.Generator) -> Way:
            if stop.is_set():
                raise Interrupted
            return learn(data, basis, rng)

        return _Learned(way, without_each_fifth(empirical, rows.followed, unless_stopped, basis, rng)[known])

    at_once = numba.get_num_threads() if empirical.is_complete or empirical.space.n_states <= _LARGE else 1
    found = _each(learned, list(beside.values()), stop, at_once)
    logs = [rows.expected(k), *(way.unseen for way in found)]
    spoken = np.array([KNOWN, *(before.get(name, FURTHER) for name in beside)])
    shares = best_shares(np.stack(logs, axis=1), rows.weight[known], spoken)
    shares = np.where(shares * empirical.total < _LEAST, 0.0, shares)
    shares[0] = max(shares[0], _LEAST / empirical.total, _FITS)
    shares /= shares.sum()
    kept = [(share, one) for share, one in zip(shares[1:], found, strict=True) if share > 0]
    unseen = mixed(np.stack([rows.log_prob(), *logs[1:]], axis=1)[:, shares > 0], shares[shares > 0])
    each = [seen.mean, *(observed_log_prob(one.way, basis, empirical.states) for _, one in kept)]
    return Stacked(
        dict(zip(("fits", *beside), map(float, shares), strict=True)),
        [(float(share) * own, model) for share, one in kept for own, model in one.way.models()],
        mixed(np.stack(each, axis=1), shares[shares > 0]),
        rows.score(unseen),
    )


def _each(
    learned: Callable[[int, Learn], _Learned], ways: list[Learn], stop: threading.Event, at_once: int
) -> list[_Learned]:
    """All ways in their order; ``at_once`` of them are learned side by side, which share the cores."""
    each = numba.get_num_threads() // at_once
    with ThreadPoolExecutor(at_once, initializer=numba.set_num_threads, initargs=(each,)) as pool:
        futures = [pool.submit(learned, number, learn) for number, learn in enumerate(ways)]
        try:
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
