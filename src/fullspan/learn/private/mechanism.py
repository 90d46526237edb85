"""A private release of a table: noisy interactions, chosen within a budget, and the model that explains them.

Everything that reads the rows is charged to a ledger before it does: the number of rows and the shares of every column,
the strength of every pair where pairs are dear, and the contrasts of the interactions that are measured. All else, the
choice among noisy strengths, the priors, the model, works on noisy numbers alone and costs nothing.

small   all states fit a table: every pair is measured, and every triple where the noise leaves something to see.
wide    the strengths of all pairs are screened first, one noisy number each; those are measured that are strong
        next to the noise of their cells, as long as eliminating their graph stays within ``max_cells``.

Levels that noise would drown are merged for everything but their own shares: neighbours in an ordered column, rare ones
in others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.errors import FullspanError
from fullspan.learn.private.accountant import Ledger, Privacy
from fullspan.learn.private.clusters import WideOracle
from fullspan.learn.private.dense import DenseOracle
from fullspan.learn.private.evidence import posterior_mode
from fullspan.learn.private.measured import Measured, Scope, of_margin, part_of, price, squared_length, to_table
from fullspan.learn.private.pairs import worthwhile
from fullspan.model.graph import FactorGraph

MOST_STATES = 1 << 18
"""States up to which all of them are held in a table."""
MOST_CELLS = 1 << 21
"""Cells of all tables that an elimination may meet."""
MERGED_DEVIATIONS = 4.0
"""Standard deviations of noise that a group of levels should hold in rows."""
SHARES, WIDE_SHARES, STRENGTHS = 0.3, 0.2, 0.1
"""Parts of the budget for the shares of columns, where all pairs are measured and in wide tables, and for the strengths
of pairs in wide ones. A margin of three columns has as many shares as pairs; priors take more noise out of pairs."""
VISIBLE_NOISE = 0.05
"""Noise in an expected product of signs above which triples are not measured."""


@dataclass(frozen=True, eq=False)
class Release:
    """What a private fit gives away: the distribution as factors, a noisy number of rows, and what each step cost."""

    graph: FactorGraph
    log_z: float
    total: float
    ledger: Ledger


def release(
    data: Empirical,
    privacy: Privacy,
    rng: np.random.Generator,
    ledger: Ledger,
    watch: Callable[[str], None] | None = None,
    max_cells: int = MOST_CELLS,
) -> Release:
    """Measure a complete table within what ``ledger`` has left, and fit the model to it.

    Parameters
    ----------
    max_cells : cells of all tables that eliminating the model of a wide table may meet.
    """
    say = watch or (lambda words: None)
    table = _Table(data, privacy, rng, ledger)
    budget = ledger.left
    # The rule may look at the number of states, which the schema fixes, and at nothing that the rows say.
    part = SHARES if data.space.n_states <= MOST_STATES else WIDE_SHARES
    shares = table.shares(part * budget)
    say("the shares of all columns are measured")
    # Noise that a column's share of what is left would have: levels are merged for the margins, not for the shares.
    final = (1 - part) * budget / max(1, len(data.space))
    merged = _Merged.of(data, shares, MERGED_DEVIATIONS * table.length * math.sqrt(0.5 / final))
    cards, codes = merged.cards, merged.codes(data.states)
    # Of the merged levels: tables of many rare levels become small ones.
    small = math.prod(cards) <= MOST_STATES
    if small:
        scopes = _all_within(cards, ledger.left, table)
    else:
        scopes = table.screened(codes, cards, merged.counts, STRENGTHS * budget, max_cells)
    say(f"measured interactions: {len(scopes)}")
    measured = [*merged.singles(table.share_noise), *table.contrasts(codes, cards, scopes)]
    if not measured:
        raise FullspanError(
            "no column has two levels that this budget can tell apart; give a schema of the levels, or a larger epsilon"
        )
    names = [m.scope for m in measured]
    oracle = DenseOracle(names, cards) if small else WideOracle(names, cards)
    cells = [math.prod(cards[i] for i in scope) for scope in names]
    found = posterior_mode(measured, cells, table.total, oracle, lambda turn: say(f"priors set {turn + 1} times"))
    ends = np.cumsum([0, *(len(m.contrasts) for m in measured)])
    tables = [to_table(found.theta[a:b], [cards[i] for i in s]) for s, a, b in zip(names, ends, ends[1:], strict=False)]
    return Release(merged.expanded(data.space, names, tables), found.log_z, table.total, ledger)


@dataclass(frozen=True, eq=False)
class _Merged:
    """The levels of every column in groups, none of which is so rare that noise would hide it.

    Attributes
    ----------
    shares : noisy counts of the levels of each column.
    groups : the group of every level.
    counts : noisy counts of the groups.
    """

    shares: list[Array]
    groups: list[Ints]
    counts: list[Array]

    @classmethod
    def of(cls, data: Empirical, shares: list[Array], least: float) -> _Merged:
        """Groups that hold ``least`` rows each, where that is possible."""
        variables = data.space.variables
        groups = [_groups(s, v.ordered or _numbers(v.levels), least) for s, v in zip(shares, variables, strict=True)]
        counts = [np.bincount(g, s, int(g.max()) + 1).astype(np.float64) for s, g in zip(shares, groups, strict=True)]
        return cls(shares, groups, counts)

    @property
    def cards(self) -> list[int]:
        """Groups of each column."""
        return [len(counts) for counts in self.counts]

    def codes(self, states: NDArray[np.integer[Any]]) -> Ints:
        """The groups that states have, for their levels."""
        return np.stack([group[states[:, i]] for i, group in enumerate(self.groups)], axis=1)

    def singles(self, noise: float) -> list[Measured]:
        """The columns alone; a group has the noise of all its levels, here that of a group of mean size."""
        return [
            Measured((i,), of_margin(counts), noise * math.sqrt(np.bincount(self.groups[i]).mean()))
            for i, counts in enumerate(self.counts)
            if len(counts) > 1
        ]

    def expanded(self, space: Space, scopes: Sequence[Scope], tables: Sequence[Array]) -> FactorGraph:
        """The factors over levels: within a group, levels have the shares of their column."""
        out_scopes, out_tables = list(scopes), []
        for scope, weights in zip(scopes, tables, strict=True):
            out_tables.append(weights[np.ix_(*(self.groups[i] for i in scope))])
        for i, (group, shares) in enumerate(zip(self.groups, self.shares, strict=True)):
            # half a row at least: a level whose noisy count is negative has a probability all the same
            inside = np.maximum(shares, 0.5)
            inside /= np.bincount(group, inside, len(self.counts[i]))[group]
            if len(inside) > len(self.counts[i]):
                out_scopes.append((i,))
                out_tables.append(np.log(inside))
        return FactorGraph(space, tuple(out_scopes), out_tables)


class _Table:
    """The rows, behind noise: every method charges the ledger first."""

    def __init__(self, data: Empirical, privacy: Privacy, rng: np.random.Generator, ledger: Ledger) -> None:
        self._data, self._rng, self._ledger = data, rng, ledger
        self._bounded = privacy.neighbours == "bounded"
        # a row replaced by another moves sums of contrasts or distances by up to two rows' worth
        self.length = 2.0 if self._bounded else 1.0
        self.total, self.share_noise = 0.0, 0.0

    def shares(self, cost: float) -> list[Array]:
        """Noisy counts of every level of every column, which sum to one noisy number of rows; that number in ``total``.

        The number of rows is read once, and of each column what its sum does not say: the same noise on each.
        """
        cards = self._data.space.cards
        self._ledger.spend("the shares of columns", cost)
        # a row replaced by another moves the counts of a column by (1, -1)
        moved = [2.0 if self._bounded else squared_length([card]) for card in cards]
        self.share_noise = math.sqrt((sum(moved) + (not self._bounded)) / (2 * cost))
        self.total = self._data.total
        if not self._bounded:
            self.total = max(1.0, self.total + self._rng.normal(0.0, self.share_noise))
        noisy = []
        for i, card in enumerate(cards):
            found = of_margin(np.bincount(self._data.states[:, i], self._data.counts, card).astype(np.float64))
            found = found + self._rng.normal(0.0, self.share_noise, found.shape)
            noisy.append(self.total / card + to_table(found, [card]))
        return noisy

    def screened(
        self, codes: Ints, cards: Sequence[int], shares: Sequence[Array], cost: float, max_cells: int
    ) -> list[Scope]:
        """The pairs that are worth measuring, within the cells that elimination may meet."""
        pairs = [s for s in itertools.combinations(range(len(cards)), 2) if min(cards[i] for i in s) > 1]
        self._ledger.spend("the strengths of pairs", cost)
        # one row moves a sum of absolute differences from a known table by one
        sigma = self.length * math.sqrt(len(pairs) / (2 * cost))
        known = [np.maximum(s, 0.0) / max(float(np.maximum(s, 0.0).sum()), 1e-300) for s in shares]
        strengths: dict[Scope, float] = {}
        for i, j in pairs:
            margin = self._margin(codes, cards, (i, j))
            distance = float(np.abs(margin - self.total * np.outer(known[i], known[j])).sum())
            strengths[i, j] = distance + self._rng.normal(0.0, sigma)
        unit = self.length / math.sqrt(self._ledger.left)
        return worthwhile(strengths, known, self.total, unit, max_cells)

    def contrasts(self, codes: Ints, cards: Sequence[int], scopes: Sequence[Scope]) -> list[Measured]:
        """The noisy contrasts of interactions, for all that is left."""
        if not scopes:
            return []
        left = self._ledger.left
        self._ledger.spend(f"{len(scopes)} interaction{'s' * (len(scopes) != 1)}", left)
        total = sum(price(scope, cards) for scope in scopes)
        measured = []
        for scope in scopes:
            sigma = self.length * math.sqrt(total / (left * part_of(scope)))
            values = of_margin(self._margin(codes, cards, scope))
            measured.append(Measured(scope, values + self._rng.normal(0.0, sigma, values.shape), sigma))
        return measured

    def _margin(self, codes: Ints, cards: Sequence[int], scope: Scope) -> Array:
        shape = [cards[i] for i in scope]
        places = np.ravel_multi_index([codes[:, i] for i in scope], shape)
        return np.bincount(places, self._data.counts, math.prod(shape)).astype(np.float64).reshape(shape)


def _all_within(cards: Sequence[int], left: float, table: _Table) -> list[Scope]:
    """All pairs, and all triples if their noise leaves something to see."""
    wide = [i for i, card in enumerate(cards) if card > 1]
    pairs: list[Scope] = list(itertools.combinations(wide, 2))
    triples: list[Scope] = list(itertools.combinations(wide, 3))
    total = sum(price(scope, cards) for scope in [*pairs, *triples])
    if not triples:
        return pairs
    noise = table.length * math.sqrt(total / (left * part_of(triples[0]))) / table.total
    cells = sum(math.prod(cards[i] for i in scope) for scope in triples) / len(triples)
    return [*pairs, *triples] if noise * math.sqrt(cells) < VISIBLE_NOISE else pairs


def _numbers(levels: Sequence[object]) -> bool:
    return all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels)


def _groups(counts: Array, ordered: bool, least: float) -> Ints:
    """A group for every level, such that each holds ``least`` rows or cannot: neighbours, or the rare ones together."""
    if len(counts) <= 2 or float(counts.min()) >= least:
        return np.arange(len(counts))
    if not ordered:
        common = counts >= least
        groups = np.where(common, np.cumsum(common) - 1, int(common.sum()))
        return groups.astype(np.int64)
    groups, held, group = np.zeros(len(counts), dtype=np.int64), 0.0, 0
    for level, rows in enumerate(counts):
        groups[level] = group
        held += float(rows)
        if held >= least and float(counts[level + 1 :].sum()) >= least:
            group, held = group + 1, 0.0
    return groups
