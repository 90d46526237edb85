"""A fitted model of any kind in a terminal, or as JSON."""

from __future__ import annotations

from typing import Any

import typer

STRONGEST, COEFFICIENTS = 5, 20
"""Interactions or edges shown after a search, and coefficients after the fit of given terms."""


def print_fit(estimator: Any, more: dict[str, Any], *, as_json: bool) -> None:
    """Print what was fitted; ``more`` has the file and the seconds."""
    from fullspan.model.fitted import Fitted
    from fullspan.model.hidden_tree import FittedTree
    from fullspan.model.layered import FittedLayers
    from fullspan.model.mixture import FittedMixture
    from fullspan.people.cli.layers import print_layers
    from fullspan.people.cli.trees import show_mixture, show_tree

    fitted = estimator.fitted_
    if isinstance(fitted, FittedTree):
        show_tree(fitted, STRONGEST, as_json=as_json, more=more)
    elif isinstance(fitted, FittedMixture):
        show_mixture(fitted, as_json=as_json, more=more)
    elif isinstance(fitted, FittedLayers):
        print_layers(estimator, more, as_json=as_json)
    elif isinstance(fitted, Fitted):
        _print_terms(fitted, more, as_json=as_json)
    if not as_json:
        typer.echo(f"fitted in {more['seconds']:.1f} s, written to {more['file']}")


def _print_terms(fitted: Any, more: dict[str, Any], *, as_json: bool) -> None:
    from fullspan.people.cli.summary import is_machine, print_json, print_machine, strongest, summary, summary_lines

    if as_json:
        print_json({**more, **summary(fitted)})
    elif is_machine(fitted):
        print_machine(fitted, COEFFICIENTS)
    else:
        typer.echo("\n".join(summary_lines(fitted)))
        strongest(fitted, STRONGEST)
