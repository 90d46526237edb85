"""``fullspan reproduce``: re-run a table or figure of a source paper."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

EPILOG = "Example: fullspan reproduce fsll-table1 --seeds 3"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("reproduce", epilog=EPILOG, short_help="Re-run a paper's table: published beside measured.")(reproduce)


def reproduce(
    name: Annotated[str | None, typer.Argument(help="Experiment; see --list.", show_default=False)] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Random draws of each data set; medians are shown.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
) -> None:
    """Re-run a table or figure of a source paper, and print published and measured values side by side."""
    from fullspan.cli.summary import print_json

    if listing:
        _list(as_json=as_json)
        return
    if name is None:
        raise typer.BadParameter("name an experiment, or ask for --list")
    from fullspan.estimators.progress import Reporter
    from fullspan.reproduce import experiment

    chosen = experiment(name)
    with contextlib.closing(Reporter()) as reporter:
        result = chosen.run(seeds, reporter.say)
    if as_json:
        print_json(result.to_json())
    else:
        typer.echo(result.to_text())


def _list(*, as_json: bool) -> None:
    from fullspan.cli.summary import print_json
    from fullspan.reproduce import EXPERIMENTS

    if as_json:
        print_json([{"name": e.name, "summary": e.summary} for e in EXPERIMENTS.values()])
        return
    for e in EXPERIMENTS.values():
        typer.echo(f"{e.name}  {e.summary}")
