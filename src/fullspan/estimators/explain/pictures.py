"""What the pictures of a fitted estimator show: numbers only, drawn by :mod:`fullspan.pictures`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fullspan.errors import FullspanError
from fullspan.estimators.explain.interactions import NATS_SAVED
from fullspan.estimators.explain.terms import AVERAGED_HEADINGS
from fullspan.model.effects.interaction import NEAR_BOUNDARY, factor
from fullspan.pictures.chart import Bars, Chart, Series
from fullspan.pictures.interactions import NARROW, WIDE, Hyperedge, InteractionGraph
from fullspan.pictures.labels import LABEL, extent
from fullspan.pictures.legend import ROLES, WORDS

if TYPE_CHECKING:
    from fullspan.query.calibration import Calibration

TOP = 20
"""Terms in a picture of weights."""
MAX_POINTS = 400
"""Points of a learning curve."""


def interactions(estimator: Any, top: int | None = None) -> list[Hyperedge]:
    """The strongest interactions as they are drawn: by nats saved, or by their size where none are known.

    Blue with, orange against, grey neither.
    """
    table = estimator.interactions_
    return [
        Hyperedge(one.variables, max(one.nats_saved, 0.0) if table.has_nats else one.size, one.direction)
        for one in table[:top]
        if one.has_part and (math.isfinite(one.nats_saved) or one.effects)
    ]


def interaction_graph(estimator: Any, top: int | None = None, *, narrow: bool = False) -> InteractionGraph:
    """Variables, pairs and groups; ``narrow`` for a telephone."""
    found, frame = interactions(estimator, top), NARROW if narrow else WIDE
    if is_saved(estimator):
        measure = NATS_SAVED if estimator.interactions_.has_nats else "log ratio"
        return InteractionGraph.of(estimator.space_.names, found, measure, frame=frame)
    neutral = WORDS[0] if any(one.effects for one in estimator.interactions_) else "pair of variables"
    return InteractionGraph.of(estimator.space_.names, found, measure_of(estimator), neutral, frame)


def measure_of(estimator: Any) -> str:
    """What the numbers of interactions are."""
    measure = str(estimator._links().measure)
    return measure if is_saved(estimator) or measure != NATS_SAVED else "nats shared"


def is_saved(estimator: Any) -> bool:
    """Whether the numbers of interactions are nats saved; those of trees and mixtures are information shared."""
    return bool(estimator._has_terms)


def effects(estimator: Any, top: int = TOP) -> Bars:
    """The effects of the strongest interactions: log odds ratios and log ratios of cells, with 95 % intervals.

    Raises
    ------
    FullspanError : the model has interactions, but hidden variables, which leave it without effects.
    """
    found = estimator.interactions_
    rows = [one for one in found[:top] if one.effects]
    if found and not rows:
        name = type(estimator).__name__
        raise FullspanError(f"a {name} has no odds ratios to plot; plot_interactions shows which variables it joins")
    kinds = [kind for kind in ("odds ratio", "cell ratio") if any(one.kind == kind for one in rows)]
    return Bars(
        "Effects of the strongest interactions",
        " or ".join(f"log {kind}" for kind in kinds),
        tuple(_label(one.effects[0].events) for one in rows),
        tuple(_drawn(one.effects[0].log_ratio) for one in rows),
        tuple(_Z * one.effects[0].standard_error for one in rows),
        tuple(ROLES[one.direction] for one in rows),
        texts=tuple(factor(one.effects[0].log_ratio) for one in rows),
        whisker=f"95 % interval{' (posterior)' if 'posterior' in found.caution else ''}",
        boundary="near or at the boundary",
        neutral="cell ratio",
        limit=NEAR_BOUNDARY,
    )


def _label(events: tuple[str, ...]) -> str:
    """The levels on one line if they fit, else each of a few on its own."""
    text = ", ".join(events)
    return text if extent(text) <= LABEL or len(events) > 3 else ",\n".join(events)


_Z = 1.959964
"""Standard errors on each side of a 95 % interval."""


def _drawn(value: float) -> float:
    """The value; an infinite one where it is so large that its words name the boundary instead of a number."""
    return value if abs(value) <= NEAR_BOUNDARY else math.copysign(math.inf, value)


def weights(estimator: Any, top: int = TOP) -> Bars:
    """The strongest terms: weight and standard error.

    Raises
    ------
    FullspanError : a tree or a mixture has no terms.
    """
    if not estimator._has_terms:
        name = type(estimator).__name__
        raise FullspanError(f"a {name} has no weights to plot; plot_interactions shows which variables it joins")
    rows = list(estimator.terms_[:top])
    average = estimator.terms_.headings == AVERAGED_HEADINGS
    return Bars(
        "Weights of the strongest terms",
        "weight θ",
        tuple(row.words for row in rows),
        tuple(row.weight for row in rows),
        tuple(row.standard_error for row in rows),
        tuple(ROLES[row.direction] for row in rows),
        whisker="standard deviation between fits" if average else "one standard error",
        boundary="no finite maximum",
        limit=NEAR_BOUNDARY,
    )


def learning(estimator: Any) -> Chart | None:
    """The cost in nats per row after every step; None if there were fewer than two."""
    history = [step for step in estimator.fitted_.history if math.isfinite(step.cost)]
    if len(history) < 2:
        return None
    stride = math.ceil(len(history) / MAX_POINTS)
    kept = sorted({*range(0, len(history), stride), len(history) - 1})
    series = Series(tuple(float(k) for k in kept), tuple(history[k].cost for k in kept))
    return Chart("Cost after every step of the search", "step", "cost, nats per row", (series,), whole_x=True)


def reliability(found: Calibration) -> Chart:
    """What was said against what came true; a calibrated model lies on the diagonal."""
    share = found.weights / found.weights.max()
    dots = Series(
        tuple(found.predicted),
        tuple(found.observed),
        "points",
        errors=tuple(2 * found.errors),
        sizes=tuple((3.0 + 5.0 * share**0.5).tolist()),
        name="forecasts ± 2 standard errors",
    )
    diagonal = Series((0.0, 1.0), (0.0, 1.0), role="neutral", dashed=True, name="calibrated")
    title = "Predicted probability against how often it came true"
    return Chart(title, "predicted", "came true", (diagonal, dots), (-0.02, 1.02), (-0.04, 1.04), square=True)


def information(parts: dict[int, float]) -> Bars:
    """Information explained by each order."""
    total = sum(parts.values())
    return Bars(
        "Information explained by each order of interaction",
        "nats per row",
        tuple(_order_name(order) for order in parts),
        tuple(parts.values()),
        texts=tuple(f"{value:.3f} ({value / total:.0%})" if total > 0 else "0" for value in parts.values()),
    )


def _order_name(order: int) -> str:
    return {1: "single variables", 2: "pairs", 3: "triples"}.get(order, f"order {order}")
