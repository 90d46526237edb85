"""``fullspan show``: what is in a model file."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fullspan.data.space import Variable

EPILOG = "Example: fullspan show votes.fsm --top 20"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("show", epilog=EPILOG, short_help="Show a model: its interactions in words.")(show)


def show(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    top: Annotated[int, typer.Option(min=0, help="How many interactions to show, strongest first; 0 for all.")] = 20,
    terms: Annotated[bool, typer.Option("--terms", help="Show the weights of the basis, term by term.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show a model: its interactions in words, strongest first; of a machine its summary, of a tree its edges."""
    from fullspan.estimators.explain.interactions import InteractionTable
    from fullspan.estimators.explain.terms import TermTable
    from fullspan.estimators.registry import read_fitted
    from fullspan.learn.effects.explain import explained
    from fullspan.model.hidden_tree import FittedTree
    from fullspan.model.mixture import FittedMixture
    from fullspan.people.cli.layers import is_layered, show_layers
    from fullspan.people.cli.summary import is_machine, print_json, print_machine, strongest, summary, summary_lines
    from fullspan.people.cli.trees import show_mixture, show_tree

    if is_layered(model):
        show_layers(model, as_json=as_json)
        return
    fitted = read_fitted(model)
    if isinstance(fitted, FittedTree):
        show_tree(fitted, top or None, as_json=as_json)
        return
    if isinstance(fitted, FittedMixture):
        show_mixture(fitted, as_json=as_json)
        return
    fitted = explained(fitted, None)
    space, limit = fitted.model.space, top or None
    if as_json:
        variables = [
            {"name": v.name, "levels": list(v.levels), "edges": v.edges, "ordered": v.ordered} for v in space.variables
        ]
        found = InteractionTable(fitted.interactions or ())[:limit].to_dicts()
        listed = {"interactions": found, "terms": TermTable.of(fitted)[:limit].to_dicts()}
        print_json({**summary(fitted), "variables": variables, **listed})
        return
    if is_machine(fitted) and not terms:
        print_machine(fitted, limit)
        return
    typer.echo("\n".join(summary_lines(fitted)))
    typer.echo("\n".join(_variable_lines(space.variables)))
    strongest(fitted, limit, terms=terms)


def _variable_lines(variables: Iterable[Variable]) -> Iterator[str]:
    """Names and levels, neighbours with the same levels on one line."""
    for levels, group in itertools.groupby(variables, key=lambda v: v.levels):
        yield f"  {', '.join(v.name for v in group)}: {', '.join(map(str, levels))}"
