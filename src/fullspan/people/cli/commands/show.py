"""``fullspan show``: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = "Example: fullspan show votes.fsm --top 20"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("show", epilog=EPILOG, short_help="Print a model and its interactions.")(show)


def show(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    top: Annotated[int, typer.Option(min=0, help="Number of interactions, strongest first; 0 for all.")] = 20,
    terms: Annotated[bool, typer.Option("--terms", help="Print the weights of the basis, term by term.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print a model: its size, its fit, and its interactions in words, strongest first."""
    from fullspan.estimators.registry import load
    from fullspan.people.cli.running.summary import print_json, print_shown

    shown = load(model)._shown(top or None, terms=terms)
    if as_json:
        print_json({**shown.facts, **shown.details})
    else:
        print_shown(shown)
