"""Other ways to predict beside averaged fits: all learned from the rows, each with the share that unseen rows ask for.

Ways of one kind and growing size are a ladder: a larger one is learned unless the last made unseen rows clearly less
likely than the one before it, or is far behind the fits and has won less than it still lacks. So where there is little
to find little is spent on the search. A way that would account for less than half a row of all is left out: what it is
worth does not show in the likelihood, and questions are the faster for it.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numba
import numpy as np

from fullspan.algebra.basis import Basis
from fullspan.data import Empirical
from fullspan.learn.averaging.bootstrap import Array
from fullspan.learn.averaging.gaps import observed_log_prob
from fullspan.learn.averaging.members import Seen
from fullspan.learn.averaging.stacking import Learn, Way, best_shares, in_fifths, mixed, without_each_fifth
from fullspan.learn.search.problem import Interrupted
from fullspan.model import LogLinear
from fullspan.model.fitted import OutOfBag

KNOWN, FURTHER = 2.0, 0.1
"""Rows that speak beforehand for the fits and for what is known to serve with few rows, and for anything else."""
_LEAST = 0.5
"""Rows that a way must account for."""
_FITS = 1e-12
"""Share that the fits have in any case: the others' sum to less than 1, however many rows speak against the fits."""
_FAR = 0.1
"""Nats per row that a way behind the fits by more adds nothing to them."""
_LARGE = 1 << 20
"""States above which ways that hold a table, which they do where cells are missing, are learned one after another."""


@dataclass(frozen=True)
class Beside:
    """What stands beside the fits.

    Attributes
    ----------
    ways : by name.
    before : rows that speak for a way beforehand, by its name; few for one that is not named.
    ladders : names of ways, each more costly than those before it, and learned as long as unseen rows do not mind.
    """

    ways: Mapping[str, Learn] = field(default_factory=dict)
    before: Mapping[str, float] = field(default_factory=dict)
    ladders: Sequence[Sequence[str]] = ()

    def climbs(self) -> list[list[str]]:
        """All ways: the ladders, the longest work, first, and the others, which stand alone."""
        climbed = {name for ladder in self.ladders for name in ladder}
        return [*map(list, self.ladders), *([name] for name in self.ways if name not in climbed)]


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
    empirical: Empirical, seen: Seen, k: int, basis: Basis, beside: Beside, seed: int, stop: threading.Event
) -> Stacked | None:
    """Learn ways from all rows and without each fifth, and find their shares; None if no row is left to decide.

    Parameters
    ----------
    seen : what k fits say.
    stop : ends the learning between ways, which run side by side.

    Raises
    ------
    Interrupted : it was stopped.
    """
    rows, known = seen.rows, seen.rows.known
    if not known.any():
        return None
    numbers, weight = {name: number for number, name in enumerate(beside.ways)}, rows.weight[known]
    parts = in_fifths(empirical, rows.followed, np.random.default_rng(seed))

    logs_of_fits = rows.expected(k)

    def learned(name: str) -> _Learned:
        rng = np.random.default_rng([numbers[name], seed])

        def unless_stopped(data: Empirical, basis: Basis, rng: np.random.Generator) -> Way:
            if stop.is_set():
                raise Interrupted
            return beside.ways[name](data, basis, rng)

        way = unless_stopped(empirical, basis, rng)
        return _Learned(way, without_each_fifth(empirical, rows.followed, parts, unless_stopped, basis, rng)[known])

    def climbed(ladder: Sequence[str]) -> dict[str, _Learned]:
        found = {ladder[0]: learned(ladder[0])}
        for last, name in itertools.pairwise(ladder):
            found[name] = learned(name)
            won, behind = found[name].unseen - found[last].unseen, logs_of_fits - found[name].unseen
            if _clearly_worse(won, weight) or _hopeless(won, behind, weight):
                break
        return found

    at_once = numba.get_num_threads() if empirical.is_complete or empirical.space.n_states <= _LARGE else 1
    found = {name: one for ladder in _each(climbed, beside.climbs(), stop, at_once) for name, one in ladder.items()}
    names = sorted(found, key=numbers.__getitem__)
    logs = [logs_of_fits, *(found[name].unseen for name in names)]
    spoken = np.array([KNOWN, *(beside.before.get(name, FURTHER) for name in names)])
    shares = best_shares(np.stack(logs, axis=1), weight, spoken)
    shares = np.where(shares * empirical.total < _LEAST, 0.0, shares)
    shares[0] = max(shares[0], _LEAST / empirical.total, _FITS)
    shares /= shares.sum()
    kept = [(share, found[name].way) for share, name in zip(shares[1:], names, strict=True) if share > 0]
    unseen = mixed(np.stack([rows.log_prob(), *logs[1:]], axis=1)[:, shares > 0], shares[shares > 0])
    each = [seen.mean, *(observed_log_prob(way, basis, empirical.states) for _, way in kept)]
    return Stacked(
        dict(zip(("fits", *names), map(float, shares), strict=True)),
        [(float(share) * own, model) for share, way in kept for own, model in way.models()],
        mixed(np.stack(each, axis=1), shares[shares > 0]),
        rows.score(unseen),
    )


def _clearly_worse(change: Array, weight: Array) -> bool:
    """Whether ``log p`` of weighed rows falls, by more than two standard errors."""
    total = float(weight @ change)
    return total < -2.0 * math.sqrt(float(weight @ (change - total / weight.sum()) ** 2))


def _hopeless(won: Array, behind: Array, weight: Array) -> bool:
    """Whether a way is far behind the fits, beyond all doubt, and the last rung won less than it still lacks."""
    total = float(weight.sum())
    gap = float(weight @ behind) / total
    error = math.sqrt(float(weight @ (behind - gap) ** 2)) / total
    return gap > max(_FAR, 10.0 * error, float(weight @ won) / total)


def _each(
    climbed: Callable[[Sequence[str]], dict[str, _Learned]],
    ladders: list[list[str]],
    stop: threading.Event,
    at_once: int,
) -> list[dict[str, _Learned]]:
    """All ladders in their order; ``at_once`` of them are climbed side by side, which share the cores."""
    each = numba.get_num_threads() // at_once
    with ThreadPoolExecutor(at_once, initializer=numba.set_num_threads, initargs=(each,)) as pool:
        futures = [pool.submit(climbed, ladder) for ladder in ladders]
        try:
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
