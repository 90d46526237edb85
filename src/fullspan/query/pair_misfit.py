"""The largest difference between a model and its data over all pairs of columns.

    max over i < j, x, y of  | P(x_i = x, x_j = y) - share of the rows that show both cells and have x and y |

All pairs come from one distribution of every variable given each level of each variable,
``P(x_i, x_j) = P(x_i) P(x_j | x_i)``; a truncated machine sums over its states. Where that would take too long, pairs
are counted in draws: the cell is chosen on one half of them and its probability taken from the other half, so that the
choice of the largest does not add to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.errors import TooLargeError
from fullspan.model.graph import FactorGraph
from fullspan.model.mixture import Mixture
from fullspan.query.answer import Oracle
from fullspan.query.averaged import AveragedOracle
from fullspan.query.marginals import MAX_STATES, TableMarginals
from fullspan.query.mixture import MixtureOracle
from fullspan.query.tree import TreeOracle
from fullspan.query.truncated import TruncatedOracle

if TYPE_CHECKING:
    from fullspan.engine.elimination.clusters import ClusterTree

Draw = Callable[[int], NDArray[Any]]
"""Given a number of rows, draws that many rows of codes of the visible variables."""
Misfit = Callable[[], "PairMisfit | None"]
MAX_WORK = 3e8
"""Table entries that may be read, about a second."""
N_DRAWS = 20_000
_FEW_STATES = 1 << 17
"""States up to which the table of all of them is the quickest."""
_TERMS = 20_000
_TIED = 1e-9
_STEP = 200
"""Entries that the step of one variable costs besides its table."""


@dataclass(frozen=True)
class PairMisfit:
    """The cell of two columns in which model and data differ most.

    Attributes
    ----------
    cell : two columns and their levels, as text.
    model, data : its probability in the model, and its share of the rows that show both columns.
    draws : rows drawn from the model to estimate ``model``; 0 where it is exact.
    """

    cell: dict[str, str]
    model: float
    data: float
    draws: int = 0

    @property
    def error(self) -> float:
        """Standard error of ``model``, 0 where it is exact."""
        return math.sqrt(self.model * (1 - self.model) / self.draws) if self.draws else 0.0


def pair_misfit(oracle: Any, data: Empirical, sampled: Misfit, work: float = MAX_WORK) -> PairMisfit | None:
    """The largest misfit of a model; None if there are no two columns.

    Parameters
    ----------
    sampled : estimates it where exact sums would read more than ``work`` entries; see :func:`sampled_misfit`.

    Raises
    ------
    TooLargeError : neither exact sums nor draws are possible.
    """
    if len(data.space) < 2:
        return None
    found = model_pairs(oracle, work)
    return sampled() if found is None else _largest(found, data_pairs(data), data.space)


def sampled_misfit(draw: Draw, data: Empirical, n_draws: int = N_DRAWS) -> PairMisfit | None:
    """The same from draws; half of them choose the cell."""
    if len(data.space) < 2:
        return None
    rows, half, shares = np.asarray(draw(n_draws)), n_draws // 2, data_pairs(data)
    first, second = (_drawn_pairs(part, data.space) for part in (rows[:half], rows[half:]))
    found = _largest(first, shares, data.space)
    a, b = _entries(found.cell, data.space)
    return PairMisfit(found.cell, float(second[a, b]), found.data, n_draws - half)


def _drawn_pairs(rows: NDArray[Any], space: Space) -> Array:
    return data_pairs(Empirical.from_codes(rows.astype(np.int64), space=space))


def _entries(cell: dict[str, str], space: Space) -> tuple[int, int]:
    starts = np.cumsum([0, *space.cards])
    i, j = (space.position(name) for name in cell)
    x, y = (list(map(str, space.variables[k].levels)).index(v) for k, v in zip((i, j), cell.values(), strict=True))
    return int(starts[i]) + x, int(starts[j]) + y


def data_pairs(data: Empirical) -> Array:
    """(S, S) shares of all pairs of levels in the rows that show both columns, S = sum |X_i|; NaN if none does."""
    from fullspan.learn.trees.pairs import pair_counts

    counts = pair_counts(data.states, data.counts, data.space.cards)
    starts = np.cumsum([0, *data.space.cards[:-1]])
    totals = np.add.reduceat(np.add.reduceat(counts, starts, axis=0), starts, axis=1)
    wide = np.repeat(np.repeat(totals, data.space.cards, axis=0), data.space.cards, axis=1)
    return np.asarray(np.divide(counts, wide, out=np.full_like(counts, np.nan), where=wide > 0))


def _largest(model: Array, data: Array, space: Space) -> PairMisfit:
    """Of equal differences, as in the four cells of two binary columns, that of the highest levels of a pair."""
    owner = np.repeat(np.arange(len(space)), space.cards)
    difference = np.where(owner[:, None] < owner, np.nan_to_num(np.abs(model - data)), -1.0)
    rows, columns = np.nonzero(difference >= difference.max() - _TIED)
    first = (owner[rows] == owner[rows[0]]) & (owner[columns] == owner[columns[0]])
    a, b = int(rows[first][-1]), int(columns[first][-1])
    starts = np.cumsum([0, *space.cards])
    cell = {}
    for entry in (a, b):
        variable = space.variables[owner[entry]]
        cell[variable.name] = str(variable.levels[entry - int(starts[owner[entry]])])
    return PairMisfit(cell, float(model[a, b]), float(data[a, b]))


# -- all pairs of a model -------------------------------------------------------------------------------------


def model_pairs(oracle: Any, work: float = MAX_WORK) -> Array | None:
    """(S, S) probabilities of all pairs of levels of the visible variables; None if that takes too long."""
    cards = oracle.visible.cards
    if isinstance(oracle, TreeOracle):
        model = oracle.model
        each = len(cards) * (_STEP + model.n_states**2 + model.n_states * max(cards))
        return None if sum(cards) * each > work else np.stack(list(_of_tree(oracle)))
    if isinstance(oracle, TruncatedOracle):
        return None if len(oracle.model.states) * sum(cards) ** 2 > 10 * work else _of_states(oracle)
    if isinstance(oracle, MixtureOracle):
        return _of_clusters(oracle.model.shares, oracle.trees, cards, work)
    n_states = oracle.model.basis.n_states
    if isinstance(oracle, AveragedOracle) and n_states > MAX_STATES and len(cards) == len(oracle.model.space):
        return model_pairs(MixtureOracle(Mixture.of_average(oracle.model)), work)
    if n_states > _FEW_STATES and not isinstance(oracle, AveragedOracle) and len(oracle.model.terms) <= _TERMS:
        found = _of_graph(oracle, work)
        if found is not None:
            return found
    if n_states > MAX_STATES or n_states * sum(cards) > work:
        return None
    return np.stack(list(_of_table(oracle)))


def _of_tree(oracle: TreeOracle) -> Iterator[Array]:
    cards = oracle.visible.cards
    rows = np.full((sum(cards), len(cards)), -1)
    owner = np.repeat(np.arange(len(cards)), cards)
    rows[np.arange(len(rows)), owner] = np.concatenate([np.arange(card) for card in cards])
    real = np.concatenate([np.arange(max(cards)) < card for card in cards])
    for _, chances, log in oracle.engine.posteriors(rows):
        for given, p in zip(chances.reshape(len(chances), -1), np.exp(log), strict=True):
            yield p * given[real] if p > 0 else np.zeros(sum(cards))


def _of_states(oracle: TruncatedOracle) -> Array:
    from fullspan.learn.trees.pairs import pair_counts

    cards = np.array(oracle.visible.cards)
    found = pair_counts(oracle.model.states, oracle.weights, oracle.visible.cards)
    spread = 1.0 / np.repeat(cards, cards)
    return np.asarray(found + oracle.uniform * np.outer(spread, spread))


def _of_graph(oracle: Oracle, work: float) -> Array | None:
    from fullspan.engine.elimination.clusters import ClusterTree

    try:
        tree = ClusterTree(FactorGraph.of_loglinear(oracle.model), max_memory=oracle.max_memory)
    except TooLargeError:
        return None
    return _of_clusters(np.ones(1), (tree,), oracle.visible.cards, work)


def _of_clusters(shares: Array, trees: tuple[ClusterTree, ...], cards: tuple[int, ...], work: float) -> Array | None:
    """Sums over the components of ``share p(x_i) p(x_j | x_i)``; the visible variables come first."""
    size = sum(cards)
    if size * sum(map(_sweep_work, trees)) > work:
        return None
    found = np.zeros((size, size))
    for share, tree in zip(shares, trees, strict=True):
        alone = tree.beliefs().variables[:size]
        codes = [(i, x) for i, card in enumerate(cards) for x in range(card)]
        for row, (evidence, p) in enumerate(zip(codes, alone, strict=True)):
            if p > 0:
                found[row] += share * p * tree.beliefs(dict([evidence])).variables[:size]
    return found


def _sweep_work(tree: ClusterTree) -> int:
    """Table entries that one sweep forth and one back read."""
    program = tree.program
    cells = np.diff(program.messages) * program.axis_cards[program.axes[1:] - 1]
    return int(2 * (np.diff(program.inputs) * cells).sum()) + _STEP * len(cells)


def _of_table(oracle: Oracle) -> Iterator[Array]:
    """Without the hidden variables, which come last."""
    table, visible = TableMarginals(oracle), oracle.visible
    alone = table.given()[1]
    for variable in visible.variables:
        for level, p in zip(variable.levels, alone[variable.name], strict=True):
            if p <= 0:
                yield np.zeros(sum(visible.cards))
                continue
            found = table.given({variable.name: level})[1]
            yield p * np.concatenate([found[name] for name in visible.names])
