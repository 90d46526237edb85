"""A fitted model in a notebook: what it is, its interaction graph, its strongest interactions."""

from __future__ import annotations

import html
from typing import Any

from fullspan.estimators.explain.limits import row_words
from fullspan.estimators.explain.pictures import interaction_graph
from fullspan.pictures import svg
from fullspan.pictures.legend import LIGHT, css_variables

TOP = 10
"""Interactions shown."""
MAX_NODES = 40
"""Variables up to which the graph is drawn."""


def model_html(estimator: Any) -> str:
    """The model on a card: its size, the graph of a model that is not too large, and its strongest interactions."""
    fitted, space = estimator.fitted_, estimator.space_
    rows = "given" if fitted.status == "given" else row_words(fitted)
    size = f"{estimator.n_terms_:,} terms" if estimator._has_terms else f"{estimator.n_parameters_:,} parameters"
    head = f"{rows}, {len(space):,} variables, {size}, {fitted.status}"
    title = f"<strong>{html.escape(type(estimator).__name__)}</strong> <span>{html.escape(head)}</span>"
    return f"<div>{title}{_graph(estimator)}{estimator.interactions_[:TOP]._repr_html_()}</div>"


def _graph(estimator: Any) -> str:
    if not 2 <= len(estimator.space_) <= MAX_NODES:
        return ""
    look = "background:#fff;border-radius:8px;max-width:60em;margin:.6em 0;padding:6px;font-family:sans-serif"
    style = f"{css_variables(LIGHT)};{look}"
    return f'<div style="{style}">{svg.graph(interaction_graph(estimator), "interaction graph")}</div>'
