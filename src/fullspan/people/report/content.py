"""The numbers of a report: gathered once, drawn by :mod:`fullspan.people.report.page`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.row_sketch import Judgement
from fullspan.data.space import Variable
from fullspan.data.tables.resampling import held_out
from fullspan.errors import FullspanError
from fullspan.estimators.compare.comparing import compare_counts, judgement
from fullspan.estimators.compare.comparison import ALL, SOME, Comparison, are_repeated
from fullspan.estimators.explain.interactions import InteractionTable
from fullspan.estimators.explain.limits import approach
from fullspan.estimators.explain.shares import shares_of
from fullspan.estimators.inputs.checks import check_exact_joint
from fullspan.estimators.inputs.reading import Reading
from fullspan.learn.likelihood.nested import information_by_order
from fullspan.model.effects.interaction import Interaction
from fullspan.people.report.caveats import caveats
from fullspan.pictures.shares import Shares
from fullspan.query.margins import WorstCells, worst_cells
from fullspan.query.pair_misfit import PairMisfit, pair_misfit

WORST = 15
HELD_OUT_SHARE = 0.2
"""Of the rows that is held out for a second fit."""
MAX_SECONDS = 120.0
"""Time that the first fit may have taken for there to be a second one."""
MAX_LISTED = 100
"""Variables listed with their levels."""
STRONGEST = 3
"""Interactions that are shown as pictures."""
MAX_CELLS = 4096
"""Cells of the table of the variables of such an interaction."""
THIS, BEST = "this model", "the best predictor"
"""Its name among the baselines."""
Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class VariableShares:
    """A variable with the shares of its levels in the rows, if at hand, and in the model; and its missing share."""

    variable: Variable
    observed: Array | None
    expected: Array
    missing: float


@dataclass(frozen=True, eq=False)
class Content:
    """All that is shown.

    Attributes
    ----------
    estimator : the model.
    data : the rows given, if any.
    judged : how far the model was learned from them.
    comparison : on held-out rows, with baselines; ``held_out`` says in words which rows those are.
    information : nats per row explained by each order.
    misfit : the largest pairwise misfit in the rows learned from, if they are given, of a model with a full table; for
        others it is kept with the model.
    interactions : all of them, strongest first.
    strongest : the first of them that can be drawn, each with its shares.
    why_not_held_out : why there is no comparison, in words.
    """

    title: str
    estimator: Any
    data: Empirical | None
    judged: Judgement
    shares: tuple[VariableShares, ...]
    worst: WorstCells | None
    comparison: Comparison | None
    held_out: str
    information: dict[int, float] | None
    caveats: tuple[str, ...]
    misfit: PairMisfit | None = None
    interactions: InteractionTable = field(default_factory=lambda: InteractionTable(()))
    strongest: tuple[tuple[Interaction, Shares], ...] = ()
    why_not_held_out: str = ""

    @property
    def training_share(self) -> float:
        """Share of the rows given that equal rows the model was learned from; NaN if that cannot be judged."""
        return self.judged.share

    @property
    def is_training(self) -> bool:
        """Whether the model was learned from the rows given, and from none of them less often than they are given."""
        return _is_training(self.judged)


def gather(
    estimator: Any,
    data: Any = None,
    test: Any = None,
    *,
    title: str = "",
    refit: bool = True,
    check: bool = False,
    say: Say = lambda _: None,
) -> Content:
    """Everything about a fitted estimator.

    Parameters
    ----------
    data : rows to show next to the model. If they are those it was learned from, a fifth of them is held out and the
        model is learned again from the rest, to see how well it predicts; otherwise they are held-out rows themselves.
    test : held-out rows, if they are another table.
    refit : whether to learn a second time.
    check : whether to learn the best predictor too, from the same rows, and compare it with the model on held-out ones.
    say : called with a status message.

    Raises
    ------
    FullspanError : the model predicts some columns from others, or is a layered machine.
    DataError : a table cannot be read.
    """
    check_exact_joint(estimator, "the model", "a report")
    counts, judged = _judged(estimator, data)
    is_training = _is_training(judged)
    say("measuring the fit")
    held_out_rows = _counted(estimator, test)
    if check:
        _require_check(counts, is_training, held_out_rows, refit)
    comparison, words, why = _held_out(estimator, counts, judged, held_out_rows, refit, check, say)
    return Content(
        title=title or type(estimator).__name__,
        estimator=estimator,
        data=counts,
        judged=judged,
        shares=_shares(estimator, counts),
        worst=None if counts is None else worst_cells(estimator.distribution_, counts, WORST),
        comparison=comparison,
        held_out=words,
        information=information_by_order(estimator.model_) if estimator._has_terms else None,
        caveats=tuple(caveats(estimator, counts)),
        misfit=_misfit(estimator, counts) if is_training and counts is not None else None,
        interactions=estimator.interactions_,
        strongest=_strongest(estimator, counts),
        why_not_held_out=why,
    )


def _strongest(estimator: Any, data: Empirical | None) -> tuple[tuple[Interaction, Shares], ...]:
    """The strongest interactions whose tables are small enough to be looked at, with their shares."""
    distribution = estimator.distribution_
    found: list[tuple[Interaction, Shares]] = []
    space = distribution.visible
    for row in estimator.interactions_:
        if row.is_weak or len(found) == STRONGEST:
            break
        if not row.has_part:  # the larger interaction shows it
            continue
        if math.prod(space.variables[space.position(name)].card for name in row.variables) <= MAX_CELLS:
            found.append((row, shares_of(distribution, row, data)))
    return tuple(found)


def _counted(estimator: Any, table: Any) -> Empirical | None:
    """All rows of a table, incomplete ones included; None if there is no table."""
    if table is None:
        return None
    reading = replace(Reading.by(estimator), missing="em", weight_column=estimator.fitted_.settings.get("weights"))
    return reading.count_again(table, estimator.distribution_.visible)


def _is_training(judged: Judgement) -> bool:
    return judged.share >= ALL and not are_repeated(judged.repeats)


def _judged(estimator: Any, data: Any) -> tuple[Empirical | None, Judgement]:
    """The rows to show, and how far the model was learned from them.

    Of the table learned from, these are the rows that the fit kept: counts of others, such as incomplete rows that were
    dropped, do not belong next to what the weights were fitted to. Of any other table they are all rows.
    """
    counts = _counted(estimator, data)
    if counts is None:
        return None, Judgement(0.0)
    fitted = estimator.fitted_
    weights = fitted.settings.get("weights")
    try:
        rows = replace(Reading.by(estimator), weight_column=weights).count_again(data, counts.space)
    except FullspanError:
        return counts, judgement(fitted, counts)  # such as missing cells, which the model was fitted without
    if rows.fingerprint() == str(fitted.fingerprint):
        return rows, Judgement(1.0, is_whole=True)
    judged = judgement(fitted, rows)
    return (rows if judged.share >= ALL else counts), judged


def _misfit(estimator: Any, data: Empirical) -> PairMisfit | None:
    """The largest pairwise misfit of a model that uses the table of all states, in its training rows, if quick."""
    if approach(estimator.fitted_) is not None:
        return None
    return pair_misfit(estimator.distribution_, data, lambda: None)


def _require_check(data: Empirical | None, is_training: bool, test: Empirical | None, refit: bool) -> None:
    """Refuse a check where the best predictor cannot be learned from the rows that the model was learned from."""
    why = None
    if data is None or not is_training:
        why = "give --data with the table that the model was learned from"
    elif not refit and test is None:
        why = "--no-refit holds no rows out; leave it out, or give --test"
    if why is not None:
        raise FullspanError(f"the best predictor cannot be learned: {why}")


def _held_out(
    estimator: Any,
    data: Empirical | None,
    judged: Judgement,
    test: Empirical | None,
    refit: bool,
    check: bool,
    say: Say,
) -> tuple[Comparison | None, str, str]:
    """The model on held-out rows; in words which rows those are, or why there are none.

    ``judged`` says how far ``data`` was learned from.
    """
    is_training = _is_training(judged)
    if test is not None:
        train = data if is_training else None
        models = {THIS: estimator, **_best(estimator, train, check, say)}
        return _compared(models, test, train), f"{test.total:,.6g} rows of a separate table", ""
    if data is None:
        return None, "", "no table was given; --data FILE shows how well the model predicts its rows"
    if not is_training:
        return _compared({THIS: estimator}, data, None), f"{data.total:,.6g} {_which(judged)}", ""
    if (why := _no_refit(estimator, data, refit, check)) is not None:
        return None, "", f"{why}; --test FILE takes rows that the model has not seen"
    say(f"learning again from about {1 - HELD_OUT_SHARE:.0%} of the rows, to test on the others")
    train, valid = held_out(data, HELD_OUT_SHARE, np.random.default_rng(0))
    if valid is None:
        return None, "", "there are too few rows to hold some out"
    words = (
        f"the model was learned again from {train.total:,.6g} of these rows and tested on the other {valid.total:,.6g}"
    )
    models = {THIS: _learned_again(estimator, train), **_best(estimator, train, check, say)}
    return _compared(models, valid, train, held_out=True), words, ""


def _best(estimator: Any, train: Empirical | None, check: bool, say: Say) -> dict[str, Any]:
    """The best predictor of some rows by its name, if it is asked for."""
    from fullspan.estimators.jobs.checking import best_predictor

    if not check or train is None:
        return {}
    say("learning the best predictor")
    return {BEST: _learned_again(best_predictor(estimator), train)}


def _no_refit(estimator: Any, data: Empirical, refit: bool, check: bool) -> str | None:
    """Why the model is not learned a second time, from a part of its rows; None if it is. A check takes its time."""
    history = estimator.fitted_.history
    seconds = estimator.fitted_.settings.get("seconds", history[-1].seconds if history else 0.0)
    if not refit:
        return "the rows given are those the model was learned from, and a second fit was not wanted"
    if seconds > MAX_SECONDS and not check:
        return (
            f"the rows given are those the model was learned from; its fit took {seconds:,.0f} s, and it is learned "
            f"again from a part of them only if that took at most {MAX_SECONDS:.0f} s"
        )
    return "there are too few rows to hold some out" if data.total < 20 else None


def _which(judged: Judgement) -> str:
    """Which rows a table has that is not the one learned from."""
    share = judged.share
    if share >= ALL:
        return f"rows, which equal training rows but occur about {judged.repeats:.2g} times as often"
    if math.isnan(share):
        return "rows, some of which may be training rows"
    return f"rows, about {share:.0%} of which are training rows" if share >= SOME else "held-out rows"


def _learned_again(estimator: Any, train: Empirical) -> Any:
    again = clone(estimator)
    again._accept(again._noted(again._learn(train, None)), "arrow")
    return again


def _compared(models: dict[str, Any], test: Empirical, train: Empirical | None, held_out: bool = False) -> Comparison:
    return compare_counts(models, test, train, baselines=True, seed=0, held_out=held_out)


def _shares(estimator: Any, data: Empirical | None) -> tuple[VariableShares, ...]:
    distribution, found = estimator.distribution_, []
    marginals = distribution.marginals().shares
    listed = distribution.visible.variables[:MAX_LISTED]
    if data is None:
        return tuple(VariableShares(variable, None, marginals[variable.name], math.nan) for variable in listed)
    for variable, counts in zip(listed, data.level_counts(), strict=False):  # there may be more columns
        total, expected = float(counts.sum()), marginals[variable.name]
        found.append(VariableShares(variable, counts / max(total, 1e-300), expected, 1 - total / data.total))
    return tuple(found)
