"""Counting queries as databases ask them: estimated and true numbers of rows.

Queries are generated as in the study "Are we ready for learned cardinality estimation?" (VLDB 2021; its code is the
repository AreCELearnedYet): how many columns are restricted is uniform from 1 to all of them, which ones too. The
centre is a row of the table; in one query of ten each column's centre is instead drawn from its levels, whether or not
they occur together. A categorical column is equal to its centre. An ordered one lies in a range around it, whose width
is uniform up to the span of the column, or exponential with a tenth of the span as mean, each in half of the queries.

    q-error = max(estimate, truth) / min(estimate, truth),      both at least 1
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.bench.density_sets import read_set
from fullspan.data import Empirical, decode
from fullspan.data.space import Level, Space, Variable
from fullspan.errors import DataError
from fullspan.query.distribution import Distribution
from fullspan.query.language.boxes import Box

OUTSIDE = 0.1
"""Share of queries whose centre is no row."""
RUNS = ((16, 2),)
"""Components and width of the mixture: few enough for a question on its own to take less than a millisecond."""
ONE_BY_ONE = 500
"""Queries that are also asked one at a time, by name."""


@dataclass(frozen=True, eq=False)
class Table:
    """Coded rows; level i of column j stands for the number ``values[j][i]``."""

    space: Space
    codes: Ints
    values: tuple[Ints, ...]
    ordered: frozenset[int]

    def counted(self) -> Empirical:
        """The distinct rows, and how often each occurs."""
        states, counts = np.unique(self.codes[:, ::-1], axis=0, return_counts=True)
        own = np.ascontiguousarray(states[:, ::-1]).astype(np.int16)
        return Empirical(self.space, own, counts.astype(np.float64), len(self.codes))


@dataclass(frozen=True)
class Score:
    """Q-errors of all queries, and milliseconds per query of processor time: all in one call, and one by one."""

    model: str
    queries: int
    largest: float
    ninety_ninth: float
    median: float
    ms_together: float
    ms_alone: float
    fit_seconds: float


def read_table(path: Path, ordered: Sequence[str] = (), without: Sequence[str] = ()) -> Table:
    """The columns of a file of codes, with the levels that occur; named by a ``meta.json`` next to it, or x0, x1, ...

    Raises
    ------
    DataError : it cannot be read, has missing cells, or lacks a column that is named.
    """
    held = read_set(path).parts
    if "rows" not in held:
        raise DataError(f"{path} is split into training and test rows; counting needs one table of all rows")
    rows, meta = held["rows"], path.with_name("meta.json")
    known = json.loads(meta.read_text()).get(path.stem, {}) if meta.exists() else {}
    names: list[str] = known.get("variables") or [f"x{i}" for i in range(rows.shape[1])]
    for name in (*ordered, *without):
        if name not in names:
            raise DataError(f"{path} has no column {name!r}; there are {', '.join(names)}")
    if (rows < 0).any():
        raise DataError(f"{path} has missing cells; counting needs complete rows")
    kept = [i for i, name in enumerate(names) if name not in without]
    values = tuple(np.unique(rows[:, i]) for i in kept)
    codes = np.stack([np.searchsorted(own, rows[:, i]) for own, i in zip(values, kept, strict=True)], axis=1)
    space = Space(tuple(Variable(names[i], tuple(own.tolist())) for own, i in zip(values, kept, strict=True)))
    return Table(space, codes, values, frozenset(j for j, i in enumerate(kept) if names[i] in ordered))


def queries(table: Table, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """First and last code allowed of every column, each (n, columns)."""
    columns = len(table.space)
    last = np.array(table.space.cards) - 1
    low, high = np.zeros((n, columns), dtype=np.int64), np.tile(last, (n, 1))
    for q in range(n):
        chosen = rng.choice(columns, size=rng.integers(1, columns + 1), replace=False)
        row, is_outside, is_exponential = rng.integers(len(table.codes)), rng.random() < OUTSIDE, rng.random() < 0.5
        for j in chosen:
            code = rng.integers(last[j] + 1) if is_outside else table.codes[row, j]
            low[q, j] = high[q, j] = code
            if j in table.ordered:
                values = table.values[j]
                span = float(values[-1] - values[0])
                half = (rng.exponential(span / 10) if is_exponential else rng.uniform(0, span)) / 2
                low[q, j] = np.searchsorted(values, values[code] - half, side="left")
                high[q, j] = np.searchsorted(values, values[code] + half, side="right") - 1
    return low, high


def boxes(table: Table, low: Ints, high: Ints) -> list[Box]:
    """The queries as events."""
    cards = table.space.cards
    return [
        {j: tuple(range(a, b + 1)) for j, (a, b) in enumerate(zip(first, last, strict=True)) if b - a + 1 < cards[j]}
        for first, last in zip(low.tolist(), high.tolist(), strict=True)
    ]


def true_counts(codes: Ints, low: Ints, high: Ints) -> Ints:
    """Rows in each query, the column that excludes most first."""
    columns = [np.ascontiguousarray(column) for column in codes.T]
    width = (high - low + 1) / (codes.max(axis=0) + 1)
    out = np.empty(len(low), dtype=np.int64)
    for q in range(len(low)):
        rows: Ints | None = None
        for j in np.argsort(width[q]):
            if width[q, j] < 1:
                column = columns[j] if rows is None else columns[j][rows]
                fits = np.flatnonzero((column >= low[q, j]) & (column <= high[q, j]))
                rows = fits if rows is None else rows[fits]
        out[q] = len(codes) if rows is None else len(rows)
    return out


def q_error(estimate: Array, truth: Array | Ints) -> Array:
    """max / min of two counts, both at least 1."""
    one, other = np.maximum(estimate, 1.0), np.maximum(truth, 1.0)
    return np.asarray(np.maximum(one, other) / np.minimum(one, other))


def network(table: Table, seed: int, seconds: float) -> Distribution:
    """One network of bounded elimination."""
    from fullspan.learn.networks import learn_network
    from fullspan.query.distributions import GraphDistribution

    return GraphDistribution(learn_network(table.counted()).graph())


def mixture(table: Table, seed: int, seconds: float) -> Distribution:
    """A mixture of decomposable models, and factors of pairs of columns that exclude each other."""
    from fullspan.estimators.mixture import FullSpanMixture

    model = FullSpanMixture(
        runs=RUNS, restarts=1, max_seconds=seconds, random_state=seed, max_levels=max(table.space.cards)
    )
    found: Distribution = model.fit(decode(table.codes, table.space)).distribution_
    factors = apart(found, table.counted())
    return found.renewed(factors) if factors else found


def apart(distribution: Distribution, empirical: Empirical) -> dict[tuple[int, ...], Array]:
    """Log factors of pairs of columns that exclude each other in the rows, and not in the model.

    Of two columns each is at its commonest level or not. Where one of the four cases has no row and the model expects
    more than one, the factor makes that half a row. A capital gain and a capital loss are such a case: independent
    within every component, they are expected in hundreds of rows.
    """
    states, counts, total = empirical.states, empirical.counts, empirical.total
    cards = empirical.space.cards
    common = [int(np.bincount(column, counts).argmax()) for column in states.T]
    is_common = states == np.array(common)
    halves = [((x,), tuple(y for y in range(card) if y != x)) for x, card in zip(common, cards, strict=True)]
    empty = [
        (i, j, a, b)
        for i, j in itertools.combinations(range(len(cards)), 2)
        for a, b in itertools.product((0, 1), repeat=2)
        if halves[i][a] and halves[j][b] and not ((is_common[:, i] != a) & (is_common[:, j] != b)).any()
    ]
    expected = total * np.exp(
        distribution.log_prob_of_boxes([{i: halves[i][a], j: halves[j][b]} for i, j, a, b in empty])
    )
    factors: dict[tuple[int, ...], Array] = {}
    for (i, j, a, b), rows in zip(empty, expected.tolist(), strict=True):
        if rows > 1.0:
            table = factors.setdefault((i, j), np.zeros((cards[i], cards[j])))
            table[np.ix_(halves[i][a], halves[j][b])] = math.log(0.5 / rows)
    return factors


def full_span(table: Table, seed: int, seconds: float) -> Distribution:
    """Terms searched for by elimination."""
    from fullspan.estimators.full_span import FullSpan

    model = FullSpan(engine="elimination", random_state=seed, max_levels=max(table.space.cards))
    found: Distribution = model.fit(decode(table.codes, table.space)).distribution_
    return found


MODELS: Mapping[str, Callable[[Table, int, float], Distribution]] = {
    "network": network,
    "mixture": mixture,
    "full-span": full_span,
}


def run(table: Table, model: str, n: int, seed: int, seconds: float) -> Score:
    """Fit one model to all rows, as the study does, and ask it ``n`` queries."""
    started = time.process_time()
    distribution = MODELS[model](table, seed, seconds)
    fitted = time.process_time() - started
    low, high = queries(table, n, np.random.default_rng([seed, 1]))
    events = boxes(table, low, high)
    distribution.log_prob_of_boxes(events[:1] * 1000)  # compiled, or read from the disk, before the clock starts
    started = time.process_time()
    estimate = np.exp(distribution.log_prob_of_boxes(events)) * len(table.codes)
    together = time.process_time() - started
    named = [_by_name(table.space, event) for event in events[:ONE_BY_ONE]]
    started = time.process_time()
    for event in named:
        distribution.probability(event)
    alone = time.process_time() - started
    errors = q_error(estimate, true_counts(table.codes, low, high))
    return Score(
        model, n, float(errors.max()), float(np.quantile(errors, 0.99)), float(np.median(errors)),
        1e3 * together / n, 1e3 * alone / len(named), fitted,
    )  # fmt: skip


def _by_name(space: Space, event: Box) -> dict[str, list[Level]]:
    variables = space.variables
    return {variables[j].name: [variables[j].levels[code] for code in codes] for j, codes in event.items()}
