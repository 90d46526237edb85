"""How like a table a synthetic one is, and how near to its rows.

Column shapes and pair trends follow the definitions of SDMetrics: 1 − D of Kolmogorov and Smirnov for numbers, 1 −
total variation for levels; 1 − |Δ correlation| / 2 for two columns of numbers, 1 − total variation of the table of both
for others, numbers being cut into ten intervals of the real column's range.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data import Empirical
from fullspan.data.tables.prototype import Prototype
from fullspan.errors import FullspanError
from fullspan.estimators.jobs.synthesis import Synthesizer

Columns = Mapping[str, NDArray[Any]]
"""Numbers, or objects with None for a missing cell."""
N_INTERVALS = 10
_ASKED, _AGAINST = 500, 20_000
"""Rows whose nearest ones are sought, and most rows among which they are sought."""


@dataclass(frozen=True)
class Quality:
    """Measures of a synthetic table.

    Attributes
    ----------
    shapes : of each column, from 0 to 1.
    trends : of each pair of columns, from 0 to 1; without pairs of which a correlation is not defined.
    held_out : mean log-likelihood of held-out rows under the model of the real rows, in nats.
    held_out_of_synthetic : the same under a model of the synthetic rows.
    synthetic : mean log-likelihood of the synthetic rows under the model of the real rows.
    distance, distance_held_out : median distance to the nearest real row, of synthetic and of held-out rows: the mean
        over columns of the difference as a share of the range, or of 0 and 1 for levels.
    copies, copies_held_out : share of the synthetic, and of held-out, rows that a real row equals in all columns.
    n_real, n_held_out, n_synthetic : rows.
    """

    shapes: dict[str, float]
    trends: dict[tuple[str, str], float]
    held_out: float
    held_out_of_synthetic: float
    synthetic: float
    distance: float
    distance_held_out: float
    copies: float
    copies_held_out: float
    n_real: int
    n_held_out: int
    n_synthetic: int

    @property
    def copies_beyond_chance(self) -> float:
        """How many more of the synthetic rows are copies than of rows that were never seen."""
        return self.copies - self.copies_held_out

    @property
    def copies_error(self) -> float:
        """Standard error of that difference."""
        parts = ((self.copies, self.n_synthetic), (self.copies_held_out, self.n_held_out))
        return math.sqrt(sum(p * (1 - p) / n for p, n in parts))

    def lines(self) -> list[str]:
        """The measures in words."""
        column = min(self.shapes, key=lambda name: self.shapes[name])
        mean = np.mean(list(self.shapes.values()))
        found = [f"column shapes {mean:.4f}, worst {column} {self.shapes[column]:.4f} (1 is alike)"]
        if self.trends:
            pair = min(self.trends, key=lambda names: self.trends[names])
            mean = np.mean(list(self.trends.values()))
            found.append(f"pair trends {mean:.4f}, worst {pair[0]} and {pair[1]} {self.trends[pair]:.4f}")
        return [
            *found,
            f"{self.n_held_out:,} held-out rows: {self.held_out:.4f} nats per row under the model of {self.n_real:,} "
            f"real rows, {self.held_out_of_synthetic:.4f} under a model of the synthetic ones",
            f"synthetic rows under the model of the real ones: {self.synthetic:.4f} nats per row",
            f"median distance to the nearest real row: {self.distance:.4f}; of held-out rows "
            f"{self.distance_held_out:.4f}",
            f"copies of a real row: {self.copies:.2%} of the synthetic rows, {self.copies_held_out:.2%} of the "
            f"held-out ones; beyond chance {self.copies_beyond_chance:+.2%} (standard error {self.copies_error:.2%})",
        ]

    def to_json(self) -> dict[str, Any]:
        """The measures as plain values."""
        trends = [{"columns": list(pair), "score": score} for pair, score in self.trends.items()]
        own = {
            "column_shapes": float(np.mean(list(self.shapes.values()))),
            "pair_trends": float(np.mean(list(self.trends.values()))) if self.trends else None,
            "copies_beyond_chance": self.copies_beyond_chance,
        }
        return {**asdict(self), "trends": trends, **own}


def quality(made: Synthesizer, held: Prototype, drawn: Any, codes: Ints, seed: int = 0) -> Quality:
    """Compare drawn rows with those that their model has learned from, and with rows held out.

    Parameters
    ----------
    held : the rows that ``made`` has not seen.
    drawn, codes : what ``made.draw_with_codes`` gave.

    Raises
    ------
    FullspanError : there is no row to compare.
    """
    if not len(codes):
        raise FullspanError("there are no synthetic rows to compare; draw at least one")
    proto = made.prototype
    real, other, unseen = proto.read(proto.table), proto.read(drawn), proto.read(held.table)
    distribution = made.distribution
    unseen_codes = held.codes(made.space)
    again = made.learn(Empirical.from_codes(codes, space=made.space))
    rng = np.random.default_rng(seed)
    near = _nearest(real, other, rng), _nearest(real, unseen, rng)
    keys = _keys(real)
    known = set(keys)
    return Quality(
        shapes=column_shapes(real, other),
        trends=pair_trends(real, other),
        held_out=float(distribution.log_prob(unseen_codes).mean()),
        held_out_of_synthetic=float(again.log_prob(unseen_codes).mean()),
        synthetic=float(distribution.log_prob(codes).mean()),
        distance=near[0],
        distance_held_out=near[1],
        copies=float(np.mean([key in known for key in _keys(other)])),
        copies_held_out=float(np.mean([key in known for key in _keys(unseen)])),
        n_real=len(keys),
        n_held_out=len(unseen_codes),
        n_synthetic=len(codes),
    )


# -- shapes and trends -----------------------------------------------------------------------------------------------


def column_shapes(real: Columns, synthetic: Columns) -> dict[str, float]:
    """1 − D of Kolmogorov and Smirnov of each column of numbers, 1 − total variation of each other one."""
    return {name: _shape(real[name], synthetic[name]) for name in real}


def _shape(real: NDArray[Any], synthetic: NDArray[Any]) -> float:
    if real.dtype == object:
        present = [np.array([v for v in x if v is not None], dtype=object) for x in (real, synthetic)]
        return 1 - _variation(*_coded(*present))
    a, b = (np.sort(x[~np.isnan(x)]) for x in (real, synthetic))
    if not len(a) or not len(b):
        return math.nan
    points = np.concatenate([a, b])
    below = [np.searchsorted(x, points, side="right") / len(x) for x in (a, b)]
    return float(1 - np.abs(below[0] - below[1]).max())


def pair_trends(real: Columns, synthetic: Columns) -> dict[tuple[str, str], float]:
    """The similarity of every pair of columns; pairs of numbers without a correlation are left out."""
    codes = {name: _coded(*_cut(real[name], synthetic[name])) for name in real}
    found: dict[tuple[str, str], float] = {}
    for a, b in itertools.combinations(real, 2):
        if real[a].dtype != object and real[b].dtype != object:
            score = 1 - abs(_correlation(real[a], real[b]) - _correlation(synthetic[a], synthetic[b])) / 2
        else:
            n = 1 + max(int(own.max()) for own in codes[b])
            score = 1 - _variation(*(own * n + other for own, other in zip(codes[a], codes[b], strict=True)))
        if not math.isnan(score):
            found[a, b] = score
    return found


def _cut(real: NDArray[Any], synthetic: NDArray[Any]) -> tuple[Any, Any]:
    """Levels as they are; numbers by the interval of the real range they are in, a missing one beyond the last."""
    if real.dtype == object:
        return real, synthetic
    edges = np.histogram_bin_edges(real[~np.isnan(real)], bins=N_INTERVALS)
    edges[0], edges[-1] = -np.inf, np.inf
    return np.digitize(real, edges), np.digitize(synthetic, edges)


def _coded(real: NDArray[Any], synthetic: NDArray[Any]) -> tuple[Ints, Ints]:
    """Values as numbers from 0 on, the same in both."""
    number: dict[Any, int] = {}
    coded = [
        np.array([number.setdefault(v, len(number)) for v in x.tolist()], dtype=np.int64) for x in (real, synthetic)
    ]
    return coded[0], coded[1]


def _correlation(a: Array, b: Array) -> float:
    both = ~(np.isnan(a) | np.isnan(b))
    x, y = a[both], b[both]
    if len(x) < 2 or x.std() == 0 or y.std() == 0:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


def _variation(real: Ints, synthetic: Ints) -> float:
    """Total variation between the frequencies of two lists of numbers."""
    _, place = np.unique(np.concatenate([real, synthetic]), return_inverse=True)
    n = int(place.max(initial=-1)) + 1
    shares = [np.bincount(own, minlength=n) / max(len(own), 1) for own in (place[: len(real)], place[len(real) :])]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


# -- nearness --------------------------------------------------------------------------------------------------------


def _nearest(real: Columns, asked: Columns, rng: np.random.Generator) -> float:
    """Median distance of some rows to the nearest of the real ones."""
    n_real, n_asked = len(next(iter(real.values()))), len(next(iter(asked.values())))
    against = rng.permutation(n_real)[:_AGAINST]
    rows = rng.permutation(n_asked)[:_ASKED]
    distance = np.zeros((len(rows), len(against)), dtype=np.float32)
    for name, own in real.items():
        if own.dtype == object:
            code: dict[Any, int] = {}
            a, b = (np.array([code.setdefault(v, len(code)) for v in x]) for x in (own[against], asked[name][rows]))
            distance += b[:, None] != a[None, :]
            continue
        finite = own[~np.isnan(own)]
        width = float(np.ptp(finite)) or 1.0
        a, b = own[against], asked[name][rows]
        gap = np.abs(b[:, None] - a[None, :]) / width
        distance += np.where(np.isnan(gap), np.isnan(b)[:, None] != np.isnan(a)[None, :], np.minimum(gap, 1.0))
    return float(np.median(distance.min(axis=1)) / len(real))


def _keys(columns: Columns) -> list[tuple[Any, ...]]:
    """Rows as keys; missing numbers are equal to each other."""
    plain = [c.tolist() if c.dtype == object else [None if x != x else x for x in c.tolist()] for c in columns.values()]
    return list(zip(*plain, strict=True))
