"""Questions about many rows at once: probabilities of partial states, and completions of missing cells.

A row is answered by look-ups in the dual table where few cells are observed, by weighing all its completions where
few are missing, and by elimination, once per distinct row, in between.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.query.distribution import distinct_rows

if TYPE_CHECKING:
    from fullspan.query.distributions.log_linear import LogLinearDistribution


TRUSTED_PROBABILITY = 1e-5
"""Probability below which a look-up is not trusted: above it the relative error stays below 1e-10."""
LOOK_UP_CELLS = 1 << 8
"""Cells of a row's observed marginal up to which it is looked up before anything else is tried."""
_HELD_COMPLETIONS = 1 << 16
"""Completions that are held at a time."""


def log_prob(distribution: LogLinearDistribution, rows: Ints) -> Array:
    """``log P`` of the observed cells of each row."""
    out = np.full(len(rows), np.nan)
    complete = (rows >= 0).all(axis=1)
    out[complete] = distribution.log_prob_of_states(rows[complete])
    _look_up(distribution, rows, out)
    narrow, wide = _by_width(distribution, rows, np.isnan(out))
    if len(narrow):
        out[narrow] = (
            distribution.completer(distribution.max_completions).log_sums(rows[narrow]) - distribution.model.log_z
        )
    if len(wide):
        different, which = np.unique(rows[wide], axis=0, return_inverse=True)
        out[wide] = distribution.elimination.log_sums_of_rows(different)[which.ravel()] - distribution.model.log_z
    np.minimum(out, 0.0, out=out)
    return out


def _look_up(distribution: LogLinearDistribution, rows: Ints, out: Array) -> None:
    """Fill in what a few look-ups in the dual table answer precisely enough."""
    narrow = np.flatnonzero(np.isnan(out) & (_cells(distribution, rows >= 0) <= LOOK_UP_CELLS))
    if not len(narrow) or distribution.table is None:
        return
    from fullspan.engine.dual.cells import cell_probabilities

    basis = distribution.model.basis
    found = cell_probabilities(basis, distribution.table.eta, rows[narrow], LOOK_UP_CELLS)
    precise = found >= TRUSTED_PROBABILITY
    out[narrow[precise]] = np.log(found[precise])


def impute(distribution: LogLinearDistribution, rows: Ints, rng: np.random.Generator | None) -> Ints:
    """Rows with their missing cells filled in: likeliest completions, or draws if a generator is given.

    ``rows`` is changed and returned.
    """
    narrow, wide = _by_width(distribution, rows, np.asarray((rows < 0).any(axis=1)))
    if len(narrow):
        part = rows[narrow]
        distribution.completer(distribution.max_completions).fill(part, None if rng is None else rng.random(len(part)))
        rows[narrow] = part
    for evidence, same in distinct_rows(rows, wide):
        if rng is None:
            rows[same] = distribution.elimination.mode(evidence)
        else:
            rows[same] = distribution.elimination.sample(len(same), rng, evidence)
    return rows


def likeliest(distribution: LogLinearDistribution, rows: Ints) -> Ints:
    """Rows with their missing visible cells filled in by the likeliest completion, hidden variables summed out.

    Hidden cells stay -1; ``rows`` is changed and returned.
    """
    n, cards = len(distribution.visible), distribution.model.basis.cards
    for pattern, members in _patterns(rows[:, :n] < 0):
        missing = np.flatnonzero(pattern)
        shape = tuple(cards[i] for i in missing)
        if math.prod(shape) > distribution.max_completions:
            for evidence, same in distinct_rows(rows, members):
                cells = distribution.cells(tuple(map(int, missing)), {}, evidence, relative=False)
                rows[np.ix_(same, missing)] = np.unravel_index(int(cells.argmax()), shape)
            continue
        choices = np.indices(shape).reshape(len(shape), -1).T
        for part in np.array_split(members, -(-len(members) * len(choices) // _HELD_COMPLETIONS)):
            tried = np.repeat(rows[part], len(choices), axis=0)
            tried[:, missing] = np.tile(choices, (len(part), 1))
            best = log_prob(distribution, tried).reshape(len(part), len(choices)).argmax(axis=1)
            rows[np.ix_(part, missing)] = choices[best]
    return rows


def _patterns(missing: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.intp]]]:
    """Pairs (which cells are missing, rows of that kind), complete rows left out."""
    different, inverse = np.unique(missing, axis=0, return_inverse=True)
    for j, pattern in enumerate(different):
        if pattern.any():
            yield pattern, np.flatnonzero(inverse.ravel() == j)


def level_probabilities(distribution: LogLinearDistribution, rows: Ints) -> dict[str, Array]:
    """Probability of each variable's levels given the observed cells of each row."""
    space = distribution.model.space
    out = [(rows[:, i, None] == np.arange(card)).astype(np.float64) for i, card in enumerate(space.cards)]
    narrow, wide = _by_width(distribution, rows, np.asarray((rows < 0).any(axis=1)))
    if len(narrow):
        means = distribution.completer(distribution.max_completions).means(rows[narrow])
        for values, part in zip(out, np.split(means, np.cumsum(space.cards)[:-1], axis=1), strict=True):
            values[narrow] = part
    for evidence, same in distinct_rows(rows, wide):
        for values, levels in zip(out, distribution.elimination.marginals(evidence), strict=True):
            values[same] = levels
    return dict(zip(space.names, out, strict=True))


def _by_width(
    distribution: LogLinearDistribution, rows: Ints, chosen: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The chosen rows whose completions can all be weighed, and the others."""
    narrow = _cells(distribution, rows < 0) <= distribution.max_completions
    return np.flatnonzero(chosen & narrow), np.flatnonzero(chosen & ~narrow)


def _cells(distribution: LogLinearDistribution, taken: NDArray[np.bool_]) -> Array:
    """Joint states of the variables taken in each row; in floating point, since they may be very many."""
    cards = np.array(distribution.model.basis.cards, dtype=np.float64)
    bits = np.minimum(np.where(taken, np.log2(cards), 0.0).sum(axis=1), 1000.0)
    cells: Array = np.rint(np.exp2(bits))
    return cells
