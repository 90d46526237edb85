"""Score models and baselines on rows that none of them has seen."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.row_sketch import Judgement, RowSketch
from fullspan.data.space import Space
from fullspan.errors import FullspanError
from fullspan.estimators.compare.baselines import BASELINES
from fullspan.estimators.compare.comparison import FOLDS, Compared, Comparison, mean_and_error, paired
from fullspan.estimators.compare.translation import translation
from fullspan.estimators.inputs.reading import Reading
from fullspan.query.calibration import Calibration, pooled

if TYPE_CHECKING:
    from fullspan.estimators.density import DensityEstimator

LogProb = Callable[[NDArray[Any]], Array]


def compare(
    models: Mapping[str, DensityEstimator] | Sequence[DensityEstimator],
    data: Any,
    train: Any = None,
    *,
    baselines: bool = True,
    random_state: int = 0,
    sample_weight: str | None = None,
) -> Comparison:
    """Compare fitted models of the same variables on a table that none of them was learned from.

    Parameters
    ----------
    models : by name, or in a list.
    data : the held-out table. Missing cells are summed out; a model that scores complete rows only (a deep machine) is
        then left out, and a note says so.
    train : the table the models were learned from; the baselines learn from it too. Without it they are cross-validated
        on ``data``, and have no description length.
    baselines : also score the columns independent, the Chow–Liu tree, and the saturated table, smoothed.
    random_state : seed of the folds, and of the cells on which calibration is measured.
    sample_weight : the column that holds the weight of each row; by default that of the first model, where a table has
        it.

    Raises
    ------
    FullspanError : there is no model, a model is conditional, or the variables differ.
    DataError : a table cannot be read.

    Examples
    --------
    >>> import numpy as np, fullspan as fs
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 2, (600, 1)); rows = np.hstack([x, x ^ (rng.random((600, 1)) < 0.1)])
    >>> found = fs.compare({"machine": fs.BoltzmannMachine().fit(rows[:300])}, rows[300:], rows[:300])
    >>> [row.name for row in found if row.log_likelihood < -1.2]
    ['independent']
    """
    named = _named(models)
    space = next(iter(named.values())).distribution_.visible
    first = next(iter(named.values()))
    weights = getattr(first.fitted_, "settings", {}).get("weights")
    reading = replace(Reading.by(first), missing="em", weight_column=weights)
    test = reading.count_again(data, space, sample_weight)
    learned = None if train is None else reading.count_again(train, space, sample_weight)
    return compare_counts(named, test, learned, baselines=baselines, seed=random_state)


def compare_counts(
    named: Mapping[str, DensityEstimator],
    test: Empirical,
    train: Empirical | None,
    *,
    baselines: bool,
    seed: int,
    held_out: bool = False,
) -> Comparison:
    """The same for counted rows over the variables of the first model; ``held_out`` if it is known that they are."""
    space = next(iter(named.values())).distribution_.visible
    named, left_out = _able(named, test)
    entries = [_of_model(name, model, space, test, held_out) for name, model in named.items()]
    if baselines and train is not None:
        entries += [_of_baseline(name, train, test, held_out) for name in BASELINES]
    elif baselines:
        entries += [_cross_validated(name, test, seed) for name in BASELINES]
    measured = [(row, scores, pooled(parts, np.random.default_rng(seed))) for row, scores, parts in entries]
    remarks = [*left_out, *(remark for name, model in named.items() if (remark := _remark(name, model)) is not None)]
    same_rows = held_out or _same_rows(named.values(), train if baselines else None)
    return _ranked(measured, test.counts, baselines and train is None, remarks, same_rows)


def _able(named: Mapping[str, DensityEstimator], test: Empirical) -> tuple[Mapping[str, DensityEstimator], list[str]]:
    """The models that can score all rows, and for each of the others a sentence that says why it is left out.

    Differences are row by row, so all models are scored on the same rows.

    Raises
    ------
    FullspanError : no model can score all rows.
    """
    if test.is_complete:
        return named, []
    able = {name: model for name, model in named.items() if not model.distribution_.complete_rows_only}
    n = float(test.counts[(test.states < 0).any(axis=1)].sum())
    why = f"scores complete rows only, and {n:,.6g} of {test.total:,.6g} rows have missing cells"
    if not able:
        raise FullspanError(f"{', '.join(named)} {why}; give a table without missing cells, or impute them first")
    return able, [f"{name}: left out, because it {why}" for name in named if name not in able]


def _same_rows(models: Iterable[DensityEstimator], train: Empirical | None) -> bool:
    """Whether all models with a description length, and the baselines, were learned from the same rows."""
    learned = {(RowSketch.of(train).digest, round(train.total, 6))} if train is not None else set()
    for fitted in (model.fitted_ for model in models):
        if not math.isnan(_description_length(fitted)):
            rows = RowSketch.from_json(fitted.settings.get("rows"))
            # Files of earlier versions have the likelihood of a part of the rows, if others were held out.
            learned.add((str(fitted.fingerprint) if rows is None else rows.digest, round(fitted.total, 6)))
    return len(learned) <= 1


def _remark(name: str, model: DensityEstimator) -> str | None:
    """That the log-likelihood of a model is estimated, or a bound, in words."""
    said = []
    if model.distribution_.bound:
        said.append("nats/row is a lower bound")
    if error := model.distribution_.log_z.error:
        said.append(f"log Z is estimated, which adds an error of {error:.2g} nats to every row")
    return f"{name}: {'; '.join(said)}" if said else None


_Entry = tuple[Compared, Array, list[tuple[LogProb, Empirical]]]
"""A model, its scores of the distinct rows, and who predicts which rows for its calibration."""


def _named(models: Mapping[str, DensityEstimator] | Sequence[DensityEstimator]) -> dict[str, DensityEstimator]:
    if not isinstance(models, Mapping):
        models = {f"{type(model).__name__} {k + 1}": model for k, model in enumerate(models)}
    if not models:
        raise FullspanError("no model is given to compare")
    for name, model in models.items():
        if model.fitted_.is_conditional:
            raise FullspanError(f"{name!r} predicts some columns from others; only models of all columns are compared")
        if name in BASELINES:
            raise FullspanError(f"{name!r} is the name of a baseline; give the model another name")
    return dict(models)


def _of_model(name: str, model: DensityEstimator, space: Space, test: Empirical, held_out: bool) -> _Entry:
    translate = translation(name, space, model.distribution_.visible)

    distribution = model.distribution_

    def log_prob(codes: NDArray[Any]) -> Array:
        return distribution.log_prob(translate(codes))

    fitted = model.fitted_
    row, scores = _scored(name, log_prob, test)
    judged = Judgement(0.0) if held_out else judgement(fitted, test)
    row = replace(
        row,
        n_parameters=int(getattr(model, "n_parameters_", 0) or getattr(model, "n_terms_", 0)),
        description_length=_description_length(fitted),
        fit_seconds=_fit_seconds(fitted),
        training_share=judged.share,
        unjudged=judged.unjudged,
        repeats=judged.repeats,
    )
    return row, scores, [(log_prob, test)]


def _fit_seconds(fitted: Any) -> float:
    """Time of the fit, as it is kept with the model; NaN if it is not."""
    seconds = fitted.settings.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) else math.nan


def judgement(fitted: Any, test: Empirical) -> Judgement:
    """How far the rows are those that the model was learned from."""
    if fitted.status == "given":
        return Judgement(0.0)
    rows = RowSketch.from_json(fitted.settings.get("rows"))
    if rows is None:
        return Judgement(math.nan, "the model keeps no record of its training rows")
    return rows.judge(test, fitted.total or math.inf)


def _description_length(fitted: Any) -> float:
    """As learned; of a tree, ``-log-likelihood + (k/2) ln N``; of a machine in layers not known."""
    if hasattr(fitted, "description_length"):
        return float(fitted.description_length)
    if not hasattr(fitted, "log_likelihood"):
        return math.nan
    price = 0.5 * fitted.model.n_parameters * math.log(max(fitted.total, 1.0))
    return float(price - fitted.total * fitted.log_likelihood)


def _of_baseline(name: str, learned: Empirical, test: Empirical, held_out: bool) -> _Entry:
    started = time.perf_counter()
    model = BASELINES[name](learned)
    seconds = time.perf_counter() - started
    row, scores = _scored(name, model.log_prob, test)
    price = 0.5 * model.n_parameters * math.log(max(learned.total, 1.0))
    length = price - float(learned.counts @ model.log_prob(learned.states))
    judged = Judgement(0.0) if held_out else RowSketch.of(learned).judge(test, learned.total)
    row = replace(
        row,
        n_parameters=model.n_parameters,
        description_length=length,
        fit_seconds=seconds,
        is_baseline=True,
        training_share=judged.share,
        unjudged=judged.unjudged,
        repeats=judged.repeats,
    )
    return row, scores, [(model.log_prob, test)]


def _cross_validated(name: str, test: Empirical, seed: int) -> _Entry:
    """A baseline learned from the other folds of the held-out rows, for each fold."""
    folds = _folds(test, np.random.default_rng(seed))
    parts = [_of_counts(test, test.counts - fold) for fold in folds]
    started = time.perf_counter()
    learned = [BASELINES[name](part) for part in parts]
    seconds = time.perf_counter() - started

    def log_prob(codes: NDArray[Any]) -> Array:
        """Of the rows of the test: the mean over the folds that hold a row."""
        scores = sum(fold * model.log_prob(codes) for fold, model in zip(folds, learned, strict=True))
        return np.asarray(scores / test.counts)

    row, scores = _scored(name, log_prob, test)
    row = replace(
        row,
        n_parameters=learned[0].n_parameters,
        fit_seconds=seconds / len(parts),
        is_baseline=True,
        training_share=0.0,
    )
    used: list[tuple[LogProb, Empirical]] = [
        (model.log_prob, _of_counts(test, fold)) for model, fold in zip(learned, folds, strict=True) if fold.any()
    ]
    return row, scores, used


def _folds(data: Empirical, rng: np.random.Generator) -> list[Array]:
    """Rows of each state in each fold; rows of the same state are drawn apart, fractional weights are not."""
    whole = data.counts == np.floor(data.counts)
    split = rng.multinomial(np.where(whole, data.counts, 1).astype(np.int64), np.full(FOLDS, 1 / FOLDS))
    # A weight that is no whole number goes to one fold as it is.
    folds = split * np.where(whole, 1.0, data.counts)[:, None]
    if data.total <= folds.sum(axis=0).max():
        raise FullspanError(
            f"{data.total:g} held-out rows are too few to cross-validate baselines; give train=, or baselines=False"
        )
    return list(folds.T)


def _of_counts(data: Empirical, counts: Array) -> Empirical:
    """The same states with other counts, those of count 0 left out."""
    return replace(data, states=data.states[counts > 0], counts=counts[counts > 0])


def _scored(name: str, log_prob: LogProb, test: Empirical) -> tuple[Compared, Array]:
    log_prob(np.asarray(test.states))  # the first call may compile kernels, or build tables that are kept
    started = time.perf_counter()
    scores = log_prob(np.asarray(test.states))
    seconds = time.perf_counter() - started
    mean, error = mean_and_error(scores, test.counts)
    impossible = round(float(test.counts[np.isneginf(scores)].sum()))
    nan = math.nan
    return Compared(name, mean, error, nan, nan, 0, nan, nan, nan, nan, nan, seconds, impossible, False), scores


def _ranked(
    measured: Sequence[tuple[Compared, Array, Calibration]],
    counts: Array,
    cross_validated: bool,
    remarks: Sequence[str],
    same_rows: bool,
) -> Comparison:
    ordered = sorted(measured, key=lambda entry: -entry[0].log_likelihood)
    best = ordered[0][1]
    rows = []
    for row, scores, found in ordered:
        difference, error = paired(best, scores, counts)
        rows.append(
            replace(
                row,
                difference=difference,
                difference_error=error,
                calibration_error=found.error,
                skill=found.skill,
                log_loss=found.log_loss,
            )
        )
    return Comparison(
        rows,
        {row.name: scores for row, scores, _ in ordered},
        counts,
        {row.name: found for row, _, found in ordered},
        cross_validated,
        remarks,
        same_rows,
    )
