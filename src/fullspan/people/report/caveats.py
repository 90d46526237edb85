"""What a reader of a report should keep in mind, in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fullspan.data import Empirical
from fullspan.estimators.explain.endings import ending_words
from fullspan.estimators.explain.interactions import InteractionTable
from fullspan.estimators.explain.limits import is_weighted
from fullspan.estimators.explain.shown import copies_words
from fullspan.model.effects.interaction import Interaction
from fullspan.people.report.parts import sentence

MANY_ROWS = 10
"""Rows per weight below which the data are called few."""
RARE = 5
"""Rows below which a level is called rare."""
NOTABLE_DRIFT = 1e-6


def caveats(estimator: Any, data: Empirical | None) -> list[str]:
    """Warnings, the gravest first; ``data`` are the rows shown in the report, if any."""
    fitted = estimator.fitted_
    return [
        *_ending(fitted),
        *_boundary(fitted),
        *_few(estimator),
        *_missing(fitted, data),
        *_levels(data),
        *([] if data is None else [f"{sentence(words)}." for words in copies_words(data)]),
        *_drift(fitted),
    ]


def _ending(fitted: Any) -> Iterator[str]:
    if fitted.status == "given":
        yield "The model was given and not learned from rows: it has no standard errors and no measures of fit."
    elif fitted.status != "converged":
        yield f"The fit ended early: {ending_words(fitted)}."


def _boundary(fitted: Any) -> Iterator[str]:
    diverging = getattr(fitted, "diverging", ())
    if diverging:
        names = "; ".join(fitted.describe(k) for k in diverging[:3])
        more = f"; and {len(diverging) - 3} more" if len(diverging) > 3 else ""
        yield (
            f"On the boundary: {_counted(len(diverging), 'weight has', 'weights have')} no finite maximum, because "
            "some combinations never occur in the data. The model gives those combinations probability 0, which new "
            f"data may contradict: {names}{more}."
        )


def _few(estimator: Any) -> Iterator[str]:
    fitted = estimator.fitted_
    n_weights = estimator.n_terms_ if estimator._has_terms else estimator.n_parameters_
    if fitted.total and n_weights and fitted.total < MANY_ROWS * n_weights:
        where = "at the standard errors, and " if estimator._has_terms else ""
        yield (
            f"Few data: {fitted.total:,.6g} rows for {_counted(n_weights, 'weight', 'weights')}, "
            f"{fitted.total / n_weights:.2g} rows each. Weak interactions are uncertain; look {where}at the held-out "
            "rows."
        )


def _missing(fitted: Any, data: Empirical | None) -> Iterator[str]:
    if fitted.n_dropped:
        what = "lines of the table" if is_weighted(fitted) else "rows"
        were = "was" if fitted.n_dropped == 1 else "were"
        yield f"{fitted.n_dropped:,} of {fitted.n_rows:,} {what} {were} left out because of missing cells."
    if data is None or data.is_complete:
        return
    absent = data.counts @ (data.states < 0) / data.total
    worst = int(np.argmax(absent))
    shown = "were summed over" if fitted.settings.get("missing") == "em" else "are summed over in this report"
    yield (
        f"Missing cells: {float(absent.mean()):.1%} of all cells are missing, most often in {data.space.names[worst]} "
        f"({absent[worst]:.1%} of its cells). They {shown}, which is right if they are missing at random."
    )


def _levels(data: Empirical | None) -> Iterator[str]:
    if data is None:
        return
    rare, constant = [], []
    for variable, counts in zip(data.space.variables, data.level_counts(), strict=True):
        if (counts > 0).sum() == 1:
            constant.append(variable.name)
        rare += [f"{variable.name}={variable.levels[k]} ({counts[k]:g})" for k in np.flatnonzero(counts < RARE)]
    if constant:
        have, carry = ("has", "carries") if len(constant) == 1 else ("have", "carry")
        yield f"Constant: {listed(constant)} {have} only one level in these rows and {carry} no information."
    if rare:
        yield f"Rare levels, seen in fewer than {RARE} rows: {listed(rare)}. What is said about them is a guess."


def _drift(fitted: Any) -> Iterator[str]:
    drift = getattr(fitted, "drift", 0.0)
    if drift > NOTABLE_DRIFT:
        yield (
            f"Rounding: while learning, expectations drifted by up to {drift:.1e} before they were rebuilt. The "
            "model itself "
            "was computed afresh at the end; dtype='float64' drifts less."
        )


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def listed(names: list[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def interaction_notes(estimator: Any, rows: InteractionTable) -> Iterator[str]:
    """Sentences of HTML about the rows shown."""
    if not rows:
        yield "The model joins no variables: they are independent of each other."
        return
    if any(row.effects for row in rows):
        yield "An interaction says which levels go together beyond what everything else in the model explains."
    yield from _effect_notes(rows)
    yield from [shared] if (shared := estimator._links().report) else _saved_notes(rows)
    for note in rows.notes:
        name, words = note.split(": ", 1)
        yield f"<em>{'95 % interval' if name == 'interval' else f'[{name}]'}</em>: {words}"


def has_intervals(rows: Sequence[Interaction]) -> bool:
    """Whether some effect has a standard error."""
    return any(math.isfinite(effect.standard_error) for row in rows for effect in row.effects)


def _effect_notes(rows: Sequence[Interaction]) -> Iterator[str]:
    odds = [row for row in rows if row.kind == "odds ratio" and row.effects]
    if odds:
        yield (
            "<em>Odds ×2</em>: the odds of the first level are twice as high with the second level as without it, "
            "all other variables held fixed."
        )
    if any(not math.isnan(row.smallest) for row in odds):
        yield (
            "Where that depends on other variables, <em>on average</em> is the geometric mean under the model, and the "
            "smallest and largest value follow."
        )
    if any(row.kind == "cell ratio" and row.effects for row in rows):
        yield "<em>×2</em> of a cell: it is twice as frequent as the lower orders expect."


def _saved_notes(rows: Sequence[Interaction]) -> Iterator[str]:
    if any(row.chosen != 1 for row in rows):
        yield "<em>Chosen</em>: the share of the averaged fits that have the interaction."
    known = [row for row in rows if not math.isnan(row.nats_saved)]
    if known:
        tilde = "; a tilde marks an approximation" if any(row.approximate for row in known) else ""
        yield (
            "<em>Nats saved</em>: the log-likelihood that the rows lose if the interaction is dropped and all else "
            f"refitted{tilde}."
        )
