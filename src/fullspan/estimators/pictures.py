"""What the pictures of a fitted estimator show: numbers only, drawn by :mod:`fullspan.picture`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.errors import FullspanError
from fullspan.model.interaction import NEAR_BOUNDARY, factor
from fullspan.picture.chart import Bars, Chart, Series
from fullspan.picture.interactions import Interaction, InteractionGraph

if TYPE_CHECKING:
    from fullspan.query.calibration import Calibration

TOP = 20
"""Terms in a picture of weights."""
MAX_POINTS = 400
"""Points of a learning curve."""


def interactions(estimator: Any) -> list[Interaction]:
    """The interactions of a model as they are drawn: by nats saved, blue with, orange against, grey neither."""
    return [
        Interaction(one.variables, max(one.nats_saved, 0.0), one.direction)
        for one in estimator.interactions_
        if math.isfinite(one.nats_saved) or one.effects
    ]


def interaction_graph(estimator: Any) -> InteractionGraph:
    """Variables, pairs and groups."""
    return InteractionGraph.of(estimator.space_.names, interactions(estimator))


def effects(estimator: Any, top: int = TOP) -> Bars:
    """The effects of the strongest interactions: log odds ratios and log ratios of cells, with 95 % intervals."""
    rows = [one for one in estimator.interactions_[:top] if one.effects]
    values = [_drawn(one.effects[0].log_ratio) for one in rows]
    return Bars(
        "Effects of the strongest interactions",
        "log odds ratio of a pair, log ratio of a cell otherwise (whiskers: 95 % interval)",
        tuple(_short(f"{' × '.join(one.effects[0].events)}") for one in rows),
        tuple(values),
        tuple(_Z * one.effects[0].standard_error for one in rows),
        tuple(_ROLES[one.direction] for one in rows),
        texts=tuple(factor(one.effects[0].log_ratio) for one in rows),
    )


_Z = 1.959964
"""Standard errors on each side of a 95 % interval."""
_ROLES = {1: "with", -1: "against", 0: "neutral"}
"""Colours: blue goes with, orange against, grey where there is no one direction."""


def _drawn(log_ratio: float) -> float:
    """What is beyond all bounds ends at the boundary."""
    return float(np.clip(log_ratio, -NEAR_BOUNDARY, NEAR_BOUNDARY))


def weights(estimator: Any, top: int = TOP) -> Bars:
    """The strongest terms: weight and standard error.

    Raises
    ------
    FullspanError : a tree or a mixture has no terms.
    """
    if not hasattr(estimator, "n_terms_"):
        name = type(estimator).__name__
        raise FullspanError(f"a {name} has no weights to plot; plot_interactions shows which variables it joins")
    rows = list(estimator.terms_[:top])
    return Bars(
        "Weights of the strongest terms, with standard errors",
        "weight θ (whiskers: one standard error)",
        tuple(_short(row.words) for row in rows),
        tuple(row.weight for row in rows),
        tuple(row.standard_error for row in rows),
        tuple(_ROLES[row.direction] for row in rows),
    )


def _short(text: str, most: int = 68) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


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
    )
    diagonal = Series((0.0, 1.0), (0.0, 1.0), role="neutral", dashed=True)
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
