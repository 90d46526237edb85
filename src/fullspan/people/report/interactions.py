"""What the numbers of the interactions in a report mean, in plain words: a sentence for each kind that is shown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from fullspan.model.effects.interaction import Interaction, remark_notes


def interaction_notes(estimator: Any, rows: Sequence[Interaction]) -> Iterator[str]:
    """Sentences of HTML about the rows shown."""
    if not rows:
        yield "The model joins no variables: they are independent of each other."
        return
    if any(row.effects for row in rows):
        yield "An interaction says which levels go together beyond what everything else in the model explains."
    yield from _effect_notes(rows)
    yield from [shared] if (shared := estimator._links().report) else _saved_notes(rows)
    for note in remark_notes(rows):
        name, sentence = note.split(": ", 1)
        yield f"<em>[{name}]</em>: {sentence}"


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
