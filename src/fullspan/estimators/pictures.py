"""What the pictures of a fitted estimator show: numbers only, drawn by :mod:`fullspan.picture`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.errors import FullspanError
from fullspan.model.mixture import FittedMixture
from fullspan.model.words import direction
from fullspan.picture.chart import Bars, Chart, Series
from fullspan.picture.interactions import Interaction, InteractionGraph
from fullspan.query.direct_pairs import DirectPairs

if TYPE_CHECKING:
    from fullspan.query.calibration import Calibration

TOP = 20
"""Terms in a picture of weights."""
PAIRS_EACH = 3
"""Pairs of each variable of a mixture that are drawn."""
MAX_POINTS = 400
"""Points of a learning curve."""


def interactions(estimator: Any) -> list[Interaction]:
    """The terms of two variables and more, by nats saved where that is known and by size else.

    Of a tree, its edges; of a mixture, the pairs that share most.
    """
    fitted = estimator.fitted_
    if isinstance(fitted, FittedMixture):
        return _direct(estimator)
    if not hasattr(fitted, "nats_saved"):
        return [Interaction((a, b), fitted.total * nats) for a, b, nats in estimator.edges_]
    model, names, weights = fitted.model, fitted.model.space.names, fitted.weights
    found = []
    for k, term in enumerate(model.terms):
        if len(term) < 2:
            continue
        saved = float(fitted.nats_saved[k])
        plain = all(model.basis.cards[i] == 2 for i, _ in term)
        found.append(
            Interaction(
                tuple(names[i] for i, _ in term),
                saved if math.isfinite(saved) else abs(float(weights[k])),
                direction(model.basis, term, float(weights[k])) if plain and len(term) == 2 else 0,
            )
        )
    return found


def _direct(estimator: Any) -> list[Interaction]:
    """Pairs of a mixture in which one of the two shares most: a few for each variable.

    All variables share something by the hidden one, so that all pairs would be drawn. Those that save less than their
    weights would cost, ``N I < (|X_i| - 1)(|X_j| - 1) (ln N) / 2``, are left out too.
    """
    found, space, total = DirectPairs.of(estimator._oracle), estimator.space_, estimator.fitted_.total
    n, cards = len(space), np.array(space.cards)
    first, second = np.triu_indices(n, 1)
    saved = total * found.information
    price = 0.5 * (cards[first] - 1) * (cards[second] - 1) * math.log(max(total, 2.0))
    square = np.zeros((n, n))
    square[first, second] = np.where(saved > price, saved, 0.0)
    square += square.T
    most = square[np.arange(n)[:, None], np.argsort(-square, axis=1)[:, :PAIRS_EACH]].min(axis=1)
    kept = np.flatnonzero((saved > price) & (saved >= np.minimum(most[first], most[second])))
    ways = np.where((cards[first] == 2) & (cards[second] == 2), np.sign(found.covariance), 0.0).astype(np.int64)
    names = space.names
    return [Interaction((names[first[k]], names[second[k]]), float(saved[k]), int(ways[k])) for k in kept]


def interaction_graph(estimator: Any) -> InteractionGraph:
    """Variables, pairs and groups."""
    return InteractionGraph.of(estimator.space_.names, interactions(estimator))


def weights(estimator: Any, top: int = TOP) -> Bars:
    """The strongest terms: weight and standard error.

    Raises
    ------
    FullspanError : a tree or a mixture has no terms.
    """
    if not hasattr(estimator, "terms_"):
        name = type(estimator).__name__
        raise FullspanError(f"a {name} has no weights to plot; plot_interactions shows which variables it joins")
    rows = list(estimator.terms_[:top])
    return Bars(
        "Weights of the strongest terms, with standard errors",
        "weight θ (whiskers: one standard error)",
        tuple(_short(row.words) for row in rows),
        tuple(row.weight for row in rows),
        tuple(row.standard_error for row in rows),
        tuple("neutral" if row.order != 2 else "with" if row.weight > 0 else "against" for row in rows),
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
