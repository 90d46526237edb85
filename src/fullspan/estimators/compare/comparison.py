"""Models side by side on held-out rows, as people read it: best first, differences between the same rows.

    mean_r [log p_A(x_r) - log p_B(x_r)]  ±  sd_r [log p_A(x_r) - log p_B(x_r)] / sqrt(N)

Rows that are hard for one model are mostly hard for the others: the error of a difference is best taken row by row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, overload

import numpy as np

from fullspan.arrays import Array
from fullspan.display import html_table, power_of_two
from fullspan.estimators.explain.terms import aligned
from fullspan.query.calibration import Calibration

FOLDS = 10
"""Parts of the held-out rows by which baselines are cross-validated where there are no rows to learn from."""
SOME, ALL = 0.05, 0.95
"""Share of training rows from which they are reported, and from which all rows are called training rows."""
HEADINGS = (
    "model",
    "nats/row",
    "std. error",
    "behind best",
    "paired error",
    "parameters",
    "description",
    "skill",
    "calibration",
    "learned",
    "scored",
)


@dataclass(frozen=True)
class Compared:
    """One model on the held-out rows.

    Attributes
    ----------
    log_likelihood, standard_error : mean over the rows in nats, and its error.
    difference, difference_error : mean of the best model minus this one, row by row, and the paired error.
    n_parameters : free weights or probabilities.
    description_length : nats for the model and the rows it was learned from; NaN if not known.
    calibration_error, skill, log_loss : see :class:`fullspan.query.calibration.Calibration`.
    fit_seconds, score_seconds : time of the fit, NaN if not known, and to score the rows. Of a cross-validated baseline
        the mean time of a fold.
    n_impossible : rows that the model holds impossible.
    is_baseline : whether it is one of :data:`fullspan.estimators.compare.baselines.BASELINES`.
    training_share : share of the rows that equal rows the model was learned from, NaN if that cannot be judged; see
        :mod:`fullspan.data.row_sketch`.
    unjudged : why that cannot be judged, in words.
    repeats : how often rows occur for each time that the model was learned from them.
    """

    name: str
    log_likelihood: float
    standard_error: float
    difference: float
    difference_error: float
    n_parameters: int
    description_length: float
    calibration_error: float
    skill: float
    log_loss: float
    fit_seconds: float
    score_seconds: float
    n_impossible: int
    is_baseline: bool
    training_share: float = math.nan
    unjudged: str = ""
    repeats: float = 1.0

    @property
    def rows_are(self) -> str:
        """To this model: "training", "repeated training", "partly training" or "held-out" rows, or "not known"."""
        return rows_are(self.training_share, self.repeats)

    def cells(self) -> tuple[str, ...]:
        """As text, in the order of :data:`HEADINGS`."""
        return (
            self.name,
            _shown(self.log_likelihood, 4),
            _shown(self.standard_error, 4),
            _shown(self.difference, 4),
            _shown(self.difference_error, 4),
            power_of_two(self.n_parameters),
            _shown(self.description_length, 1),
            _shown(self.skill, 4),
            _shown(self.calibration_error, 4),
            _seconds(self.fit_seconds),
            _seconds(self.score_seconds),
        )


class Comparison(Sequence[Compared]):
    """The models, best first; prints as a table.

    Attributes
    ----------
    n_rows : held-out rows, or the sum of their weights.
    cross_validated : whether the baselines were learned from the held-out rows themselves, fold by fold.
    calibrations : the calibration of each model, by name.
    remarks : which log-likelihoods are estimates or bounds, in words.
    same_rows : whether all models that have a description length were learned from the same rows.
    """

    def __init__(
        self,
        rows: Sequence[Compared],
        scores: Mapping[str, Array],
        counts: Array,
        calibrations: Mapping[str, Calibration],
        cross_validated: bool,
        remarks: Sequence[str] = (),
        same_rows: bool = True,
    ) -> None:
        self._rows, self._scores, self._counts = tuple(rows), dict(scores), counts
        self.calibrations, self.cross_validated = dict(calibrations), cross_validated
        self.remarks, self.same_rows = tuple(remarks), same_rows
        self.n_rows = float(counts.sum())

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Compared]:
        return iter(self._rows)

    @overload
    def __getitem__(self, item: int) -> Compared: ...
    @overload
    def __getitem__(self, item: slice) -> Sequence[Compared]: ...
    def __getitem__(self, item: int | slice) -> Compared | Sequence[Compared]:
        return self._rows[item]

    def difference(self, a: str, b: str) -> tuple[float, float]:
        """Mean log-likelihood of ``a`` minus that of ``b`` in nats per row, and its paired standard error.

        Raises
        ------
        KeyError : a name is unknown.
        """
        return paired(self._scores[a], self._scores[b], self._counts)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Plain dictionaries, as JSON holds them."""
        return [{**asdict(row), "rows_are": row.rows_are} for row in self]

    def notes(self, descriptions: bool = True) -> list[str]:
        """What a reader should know, in words; ``descriptions`` if description lengths are shown too."""
        training = {
            "baselines" if row.is_baseline else row.name: training_words(row.training_share, row.repeats)
            for row in self
            if row.training_share >= SOME
        }
        unknown = [row for row in self if row.rows_are == "not known" and not row.is_baseline]
        rows = "rows" if training or unknown else "held-out rows"
        notes = [f"{self.n_rows:,.6g} {rows}; nats/row is the mean log-likelihood, higher is better"]
        notes += [f"{name}: {words}" for name, words in training.items()]
        for why in dict.fromkeys(row.unjudged for row in unknown):
            names = [row.name for row in unknown if row.unjudged == why]
            notes.append(f"{', '.join(names)}: {unjudged_words(why, len(names))}")
        if self.cross_validated:
            notes.append(
                f"baselines: learned from these rows, {FOLDS}-fold, each row scored by parts that do not hold it"
            )
        notes += [f"{row.name}: {row.n_impossible:,} rows are impossible" for row in self if row.n_impossible]
        if descriptions and not self.same_rows:
            notes.append("description lengths are of different training rows and cannot be compared with each other")
        return [*notes, *self.remarks]

    def __repr__(self) -> str:
        return "\n".join([*aligned([HEADINGS, *(row.cells() for row in self)]), *self.notes()])

    def _repr_html_(self) -> str:
        return html_table(HEADINGS, [row.cells() for row in self], notes=self.notes())


def are_repeated(repeats: float) -> bool:
    """Whether rows occur more often than they were learned from, by more than is said of rows without a word."""
    return repeats > 1 / ALL


def rows_are(share: float, repeats: float = 1.0) -> str:
    """What rows are to a model that was learned from a share of them, NaN if that is not known."""
    if math.isnan(share):
        return "not known"
    if share >= ALL and are_repeated(repeats):
        return "repeated training"
    return "training" if share >= ALL else "partly training" if share >= SOME else "held-out"


def unjudged_words(why: str, n_models: int = 1) -> str:
    """That it is not known whether rows were learned from."""
    models = "the model was" if n_models == 1 else "these models were"
    return f"whether {models} learned from some of these rows cannot be judged, because {why}"


def training_words(share: float, repeats: float = 1.0) -> str:
    """What it means that rows were learned from, or others that equal them."""
    if are_repeated(repeats):
        what = "these rows equal" if share >= ALL else f"about {share:.0%} of these rows equal"
        return f"{what} training rows, but occur about {repeats:.2g} times as often: the score is not of new rows"
    if share >= ALL:
        return "these are training rows: the score says how well they were fitted, not how well others are predicted"
    return f"about {share:.0%} of these rows are training rows: the score is too high"


def paired(a: Array, b: Array, counts: Array) -> tuple[float, float]:
    """Mean of ``a - b`` and its standard error; where one of them is -inf, infinite and NaN."""
    with np.errstate(invalid="ignore"):
        gap = np.where(a == b, 0.0, a - b)
    return mean_and_error(gap, counts)


def mean_and_error(values: Array, counts: Array) -> tuple[float, float]:
    total = float(counts.sum())
    mean = float(counts @ values) / total
    if not math.isfinite(mean) or total <= 1:
        return mean, math.nan
    return mean, math.sqrt(float(counts @ (values - mean) ** 2) / (total - 1) / total)


def _shown(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}" if math.isfinite(value) else str(value)


def _seconds(value: float) -> str:
    """A duration, as wide as any: a table then has one width, however long its lines took."""
    if math.isnan(value):
        return "not known".rjust(9)
    return (f"{1000 * value:.1f} ms" if value < 1 else f"{value:.1f} s").rjust(9)
