"""Whether probabilities mean what they say: each cell of held-out rows is predicted from the rest of its row.

    p(x_i = l | x_rest) = p(x with x_i = l) / sum_k p(x with x_i = k)

Forecasts of about the same probability form a bin; in a calibrated model the level came true as often as was said. All
levels of a cell are forecasts, so that the names and the order of levels do not matter.

A model that knows nothing is calibrated too: forecasts of 1/2 on coin flips come true in half of the cases. So the
error of calibration is read together with the skill, how much better the forecasts are than the base rates, by the
quadratic score of Brier:

    B = mean over the cells of sum_l (p_l - [x_i = l])^2,      skill = 1 - B / B of the base rates of the same cells

1 is perfect, 0 is what the base rates of the columns would do, and below 0 is worse than these.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.query.prediction import LogProb, log_weights, normalised

N_BINS = 10
MAX_CELLS = 20_000
"""Cells that are predicted; of more, this many are drawn."""
_HELD_CELLS = 1 << 22
"""Cells of rows that are held at once."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Forecasts gathered in bins of equal width.

    Attributes
    ----------
    predicted, observed : (bins,) mean forecast, and how often it came true; bins without a forecast are left out.
    errors : (bins,) standard error of ``observed`` if the forecasts were right, ``sqrt(p (1 - p) / weight)``.
    weights : (bins,) forecasts in the bin.
    error : mean of ``|observed - predicted|`` over all forecasts, the expected calibration error.
    log_loss : mean of ``-log p(x_i | rest)`` over the cells, in nats.
    brier : mean over the cells of the squared distance between forecasts and truth, summed over the levels.
    skill : ``1 - brier / brier of the base rates``; NaN if no column varies among the cells.
    """

    predicted: Array
    observed: Array
    errors: Array
    weights: Array
    error: float
    log_loss: float
    brier: float
    skill: float


def calibration(
    log_prob: LogProb, data: Empirical, rng: np.random.Generator, max_cells: int = MAX_CELLS
) -> Calibration:
    """Calibration of a model on counted rows; the same generator state chooses the same cells for every model.

    Cells of rows that the model holds impossible whatever stands there are left out.

    Time: one log-probability per level of at most ``max_cells`` cells.

    Examples
    --------
    >>> data = Empirical.from_codes([[0, 0]] * 3 + [[1, 1]])
    >>> fair = calibration(lambda codes: np.full(len(codes), -np.log(4)), data, np.random.default_rng(0))
    >>> fair.predicted.tolist(), fair.observed.tolist(), round(fair.log_loss, 4), round(fair.skill, 4)
    ([0.5], [0.5], 0.6931, -0.3333)
    """
    return pooled([(log_prob, data)], rng, max_cells)


def pooled(
    parts: Sequence[tuple[LogProb, Empirical]], rng: np.random.Generator, max_cells: int = MAX_CELLS
) -> Calibration:
    """The same for parts of the rows, each predicted by a model of its own, as in cross-validation."""
    gathered = [part for log_prob, data in parts for part in _gathered(log_prob, data, rng, max_cells // len(parts))]
    forecasts, truths, weights = (np.concatenate([part[k] for part in gathered]) for k in range(3))
    losses = np.concatenate([part[3] for part in gathered], axis=1)
    columns = np.concatenate([part[4] for part in gathered])
    log_loss, brier = _mean(losses[0], losses[2]), _mean(losses[1], losses[2])
    base = _base_rate_score(truths, weights, columns)
    return _binned(forecasts, truths.astype(bool), weights, log_loss, brier, 1 - brier / base if base > 0 else math.nan)


def _base_rate_score(truths: Array, weights: Array, columns: NDArray[np.int64]) -> float:
    """The quadratic score of the base rates of each column among the cells; ``columns`` distinguishes levels as well.

    A level of base rate q has the mean square ``q (1 - q)``.
    """
    kinds, place = np.unique(columns, return_inverse=True)
    cells = np.bincount(place, weights, len(kinds))
    rates = np.bincount(place, weights * truths, len(kinds)) / cells
    total = float(weights @ truths)  # each cell has one level that came true
    return float(cells @ (rates * (1 - rates))) / total if total > 0 else 0.0


def _gathered(
    log_prob: LogProb, data: Empirical, rng: np.random.Generator, max_cells: int
) -> Iterator[tuple[Array, Array, Array, Array, NDArray[np.int64]]]:
    """Block by block: forecasts, whether they came true, their weights; both losses of each cell with its weight; and
    which level of which column each forecast is of.

    Cells of a block are of variables with as many levels.
    """
    states, columns, weights = _chosen(data, rng, max_cells)
    cards = np.array(data.space.cards)[columns]
    starts = np.cumsum([0, *data.space.cards])
    kinds = [np.flatnonzero(cards == card) for card in np.unique(cards)]
    blocks = [own for kind in kinds for own in _blocks(kind, states.shape[1] * int(cards[kind[0]]))]
    for own in blocks:
        chances, true = _forecasts(log_prob, states[own], columns[own], int(cards[own[0]]))
        possible = np.isfinite(chances).all(axis=1)
        chances, true, weight = chances[possible], true[possible], weights[own][possible]
        # Every level of the cell is a forecast, which came true or not.
        came = (np.arange(chances.shape[1]) == true[:, None]).ravel()
        square = np.square(chances.ravel() - came).reshape(chances.shape).sum(axis=1)
        level = starts[columns[own][possible]][:, None] + np.arange(chances.shape[1])
        with np.errstate(divide="ignore"):
            loss = -np.log(chances[np.arange(len(true)), true])
        each = np.repeat(weight, chances.shape[1])
        yield chances.ravel(), came.astype(np.float64), each, np.stack([loss, square, weight]), level.ravel()


def _chosen(
    data: Empirical, rng: np.random.Generator, max_cells: int
) -> tuple[NDArray[np.int64], NDArray[np.intp], Array]:
    """Observed cells: the states they stand in, their columns, their weights."""
    states = np.asarray(data.states, dtype=np.int64)
    rows, columns = np.nonzero(states >= 0)
    weights = data.counts[rows]
    if len(rows) > max_cells:
        # Drawn by weight, so that each one drawn counts the same.
        drawn = np.sort(rng.choice(len(rows), size=max_cells, p=weights / weights.sum()))
        rows, columns, weights = rows[drawn], columns[drawn], np.ones(max_cells)
    return states[rows], columns, weights


def _blocks(places: NDArray[np.intp], each: int) -> Iterator[NDArray[np.intp]]:
    """Places in blocks of at most :data:`_HELD_CELLS` cells, of which each place needs ``each``."""
    step = max(1, _HELD_CELLS // each)
    return (places[start : start + step] for start in range(0, len(places), step))


def _forecasts(
    log_prob: LogProb, states: NDArray[np.int64], columns: NDArray[np.intp], card: int
) -> tuple[Array, NDArray[np.int64]]:
    """Probabilities (m, card) of a cell given the rest of each row, NaN if that is impossible, and the truth."""
    chances = normalised(log_weights(log_prob, states, columns, card))
    return chances, states[np.arange(len(states)), columns]


def _mean(values: Array, weights: Array) -> float:
    return float(values @ weights / weights.sum()) if len(values) else float("nan")


def _binned(
    forecasts: Array, truths: NDArray[np.bool_], weights: Array, log_loss: float, brier: float, skill: float
) -> Calibration:
    # A forecast of exactly 1 belongs to the last bin.
    bins = np.minimum((forecasts * N_BINS).astype(np.int64), N_BINS - 1)
    sums = np.stack([np.bincount(bins, weights * w, N_BINS) for w in (np.ones(len(bins)), forecasts, truths)])
    used = sums[0] > 0
    total: Array = sums[0, used]
    said, came = sums[1, used] / total, sums[2, used] / total
    error = float(total @ np.abs(came - said) / total.sum()) if used.any() else float("nan")
    return Calibration(said, came, np.sqrt(said * (1 - said) / total), total, error, log_loss, brier, skill)
