"""What joins the variables of a model, as the page lists and draws it: one link per set of variables, with a strength.

Only a log-linear model has interactions in the strict sense. Trees have edges, mixtures pairs that share information,
networks from files factors; the name, the measure and the note say which it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fullspan.estimators.explain.interactions import NATS_SAVED, NATS_SHARED
from fullspan.model.effects.interaction import Interaction
from fullspan.model.graph import FactorGraph

Called = Literal["interaction", "edge", "pair", "factor"]
_EFFECTS = (
    " Odds: the odds ratio of the two levels with all other variables held fixed; where it depends on those, its "
    "average and its range. ×3 without odds: three times as frequent as the smaller sets of variables alone make it; "
    "÷3: a third."
)
_SAVED = (
    "Nats saved: the log-likelihood that the rows lose if the interaction is dropped and everything else is refitted; "
    "~ marks an approximation."
)
_AVERAGE = (
    "An average of fits. Nats saved: the log-likelihood that the rows lose without the interaction, averaged over the "
    "fits; ~ marks an approximation."
)
_CHOSEN = " Chosen: the share of the fits that have the interaction."
_UNKNOWN = "Nats saved are not known. Log ratio: the logarithm of the strongest × or ÷ of the interaction."
TREE = (
    "The edges of the tree. Nats saved: the number of rows times the mutual information of the two columns, which "
    "approximates (~) the log-likelihood lost without the edge."
)
HIDDEN = (
    "The edges of the tree of hidden variables, by the columns that they belong to. Nats shared: the number of rows "
    "times the mutual information of the two columns. A tree of hidden variables gives no effect with an odds ratio."
)
MIXTURE = (
    "A mixture has no interactions of its own. Listed are the pairs of variables that share most, a few for each "
    "variable. Nats shared: the number of rows times the mutual information that two variables have directly or "
    "through the hidden variable, not through other variables."
)
TREE_REPORT = (
    "<em>Nats shared</em>: the mutual information of the two in the rows, times their number. That is the "
    "log-likelihood that the rows lose if the edge is dropped and the other edges stay"
)
HIDDEN_REPORT = (
    "<em>Nats shared</em>: the mutual information of the two in the rows, times their number. The tree joins them by "
    "hidden variables, so that a pair has no one odds ratio."
)
MIXTURE_REPORT = (
    "<em>Nats shared</em>: the information that the two share directly or by the hidden variable, and not through "
    "other variables, times the rows. The strongest pairs of each variable are shown. The model mixes several graphs, "
    "so that a pair has no one odds ratio."
)
_NETWORK = (
    "The factors over two or more variables. A network comes without rows, so there are no nats saved. Range of log "
    "factor: the largest minus the smallest logarithm of the factor, zeros left out."
)


@dataclass(frozen=True)
class Link:
    """A set of variables, what is known about it, and its strength in the measure of its :class:`Links`."""

    row: Interaction
    strength: float
    approximate: bool = False

    @property
    def kind(self) -> str | None:
        """What its effects are; None where it has none."""
        return self.row.kind if self.row.effects else None


@dataclass(frozen=True)
class Links:
    """All links of a model, strongest first.

    Attributes
    ----------
    called : what one of them is.
    measure : what a strength is, such as ``nats saved``.
    note : what the list holds and how to read it, in sentences.
    report : of numbers that are not nats saved, what they are, in a sentence of HTML.
    """

    called: Called
    measure: str
    note: str
    links: tuple[Link, ...]
    report: str = ""


def links_by_sharing(estimator: Any, called: Called, note: str, report: str) -> Links:
    """Pairs by the information that they share, of a model whose pairs have no odds ratios."""
    known = [row for row in estimator.interactions_ if math.isfinite(row.nats_saved)]
    return Links(called, NATS_SHARED, note, tuple(Link(row, row.nats_saved) for row in known), report)


def links_by_interactions(estimator: Any, called: Called = "interaction", note: str = "", report: str = "") -> Links:
    """Interactions by the nats that they save, or by their effects where that is not known."""
    table = estimator.interactions_
    rows = list(table)
    if rows and not any(math.isfinite(row.nats_saved) for row in rows):
        by_effect = sorted((Link(row, row.size) for row in rows), key=lambda link: -link.strength)
        return Links("interaction", "log ratio", _UNKNOWN + _EFFECTS, tuple(by_effect), report)
    links = tuple(Link(row, _positive(row.nats_saved), row.approximate) for row in rows)
    own = note or (_AVERAGE if estimator.fitted_.kind == "averaged" else _SAVED)
    chosen = _CHOSEN if any(row.chosen != 1.0 for row in rows) and not note else ""
    remarks = "".join(f" {note[0].upper()}{note[1:]}" for note in table.notes)
    return Links(called, NATS_SAVED, own + chosen + _EFFECTS + remarks, links, report)


def _positive(nats: float) -> float:
    """A refit that ends short of its optimum can lose less than nothing; what is not known has no strength."""
    return max(nats, 0.0) if math.isfinite(nats) else 0.0


def links_of_network(graph: FactorGraph) -> Links:
    """The factors of two variables and more, as strong as their log values differ; those of a scope are multiplied."""
    tables: dict[tuple[int, ...], Any] = {}
    for scope, table in zip(graph.scopes, graph.tables, strict=True):
        if len(scope) > 1:
            key, sorted_axes = tuple(sorted(scope)), np.transpose(table, np.argsort(scope))
            tables[key] = tables[key] + sorted_axes if key in tables else sorted_axes
    names = graph.space.names
    found = [
        Link(Interaction(tuple(names[i] for i in scope), math.nan, True, "cell ratio", ()), _range(table))
        for scope, table in tables.items()
    ]
    ordered = sorted(found, key=lambda link: (-link.strength, link.row.variables))
    return Links("factor", "range of log factor", _NETWORK, tuple(ordered))


def _range(table: Any) -> float:
    values = table[np.isfinite(table)]
    return float(np.ptp(values)) if values.size else 0.0
