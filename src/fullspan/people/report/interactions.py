"""What the numbers of the interactions in a report mean, in plain words: a sentence for each kind that is shown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from fullspan.estimators.explain.pictures import is_saved
from fullspan.model.effects.interaction import Interaction
from fullspan.model.mixture import FittedMixture


def interaction_notes(estimator: Any, rows: Sequence[Interaction]) -> Iterator[str]:
    """Sentences of HTML about the rows shown."""
    if not rows:
        yield "The model joins no variables: they are independent of each other."
        return
    if any(row.effects for row in rows):
        yield "An interaction says which levels go together beyond what everything else in the model explains."
    yield from _effect_notes(rows)
    yield from _saved_notes(rows) if is_saved(estimator) else _shared_notes(estimator)


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


def _shared_notes(estimator: Any) -> Iterator[str]:
    """Of trees and mixtures: information times rows."""
    if isinstance(estimator.fitted_, FittedMixture):
        yield (
            "<em>Nats shared</em>: the information that the two share directly or by the hidden variable, and not by "
            "way of other variables, times the rows. The strongest pairs of each variable are shown. The model mixes "
            "several graphs, so that a pair has no one odds ratio."
        )
    elif estimator.model_.is_observed:
        settings = estimator.fitted_.settings
        but = ["up to the pseudo-count"] if settings.get("pseudo_count") else []
        but += ["where no cell is missing"] if settings.get("missing") == "em" else []
        yield (
            "<em>Nats shared</em>: the mutual information of the two in the rows, times their number. That is the "
            "log-likelihood that the rows lose if the edge is dropped and the other edges stay"
            f"{''.join(f', {words}' for words in but)}."
        )
    else:
        yield (
            "<em>Nats shared</em>: the mutual information of the two in the rows, times their number. The tree joins "
            "them by hidden variables, so that a pair has no one odds ratio."
        )
