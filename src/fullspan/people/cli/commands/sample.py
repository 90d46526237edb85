"""``fullspan sample``: draw rows from a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Example: fullspan sample votes.fsm -n 5 --seed 1 --given "crime=y, water=n"

Without -o, rows are printed as CSV, or with --json as JSON lines. An existing output file is replaced."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("sample", epilog=EPILOG, short_help="Draw rows from a model.")(sample)


def sample(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    n: Annotated[int, typer.Option("-n", "--number", min=0, help="Number of rows; they are held in memory.")] = 100,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed.")] = None,
    given: Annotated[
        str | None, typer.Option(help="Condition that all rows satisfy, such as 'crime=y, education=n'.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write: .csv, .tsv, .parquet, .jsonl or .arrow.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines instead of CSV.")] = False,
) -> None:
    """Draw independent rows from a model; models too large to sum are sampled by Gibbs chains, with a note."""
    from fullspan.people.cli.running.files import check_table_target, put_table

    check_table_target(output, model)
    import numpy as np

    from fullspan.data import decode
    from fullspan.estimators.inputs.evidence import event_of
    from fullspan.people.cli.running.estimates import say_drawn
    from fullspan.people.cli.running.models import distribution_in, walked

    rng = np.random.default_rng(seed)
    distribution = walked(distribution_in(model), rng)
    codes = distribution.sample(n, rng, event_of(given, distribution.space))
    say_drawn(distribution)
    table = decode(codes, distribution.visible)
    put_table(table, output, as_json=as_json)
