"""``fullspan explain``: which rows of a table are odd, and which of their cells make them so."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fullspan.people.cli.running.models import Na, OnUnknown, reading_of

EPILOG = """Example: fullspan explain votes.fsm votes.csv

Example: fullspan explain votes.fsm votes.csv --row 3 --json

The score of a row is minus its log-probability, in nats. The percentage says how many rows drawn from the model are at
least as improbable. "gain" is how much more probable the row becomes, in nats, if this one value is changed to the
likeliest one. Missing values are summed out. Rows are counted from 1, without the header."""
TOP_HELP = "Number of rows, least probable first."
CELLS_HELP = "Number of columns shown for each row, most unusual first; 0 for all."


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("explain", epilog=EPILOG, short_help="Find unusual rows, and the values that make them so.")(explain)


def explain(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    data: Annotated[Path, typer.Argument(help="Table whose rows are explained.")],
    row: Annotated[list[int] | None, typer.Option("--row", min=1, help="Number of a row; may be repeated.")] = None,
    top: Annotated[int, typer.Option(min=1, help=TOP_HELP)] = 3,
    cells: Annotated[int, typer.Option(min=0, help=CELLS_HELP)] = 3,
    draws: Annotated[int, typer.Option(min=1, help="Number of rows drawn from the model for comparison.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    na: Na = None,
    unknown: OnUnknown = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the rows that are least probable in a model, and the values that make them so."""
    import numpy as np

    from fullspan.errors import FullspanError
    from fullspan.estimators.registry import distribution_of
    from fullspan.people.cli.running.models import joint_model
    from fullspan.people.cli.running.summary import print_json, print_rows
    from fullspan.query.oddness import HEADINGS, explain_rows

    fitted = joint_model(model)
    distribution = distribution_of(fitted)
    codes = reading_of(fitted, na, unknown).encode(data, distribution.visible, allow_missing=True)
    chosen = [k - 1 for k in row or []] or _least_likely(distribution, codes, top)
    for k in chosen:
        if k >= len(codes):
            raise FullspanError(f"row {k + 1} was asked for, and the table has {len(codes):,} rows")
    found = explain_rows(distribution, codes[chosen], np.random.default_rng(seed), draws)
    if as_json:
        print_json({"rows": [{"row": k + 1, **e.to_dict()} for k, e in zip(chosen, found, strict=True)]})
        return
    for k, explanation in zip(chosen, found, strict=True):
        typer.echo(f"row {k + 1}: {explanation.heading()}")
        print_rows(HEADINGS, explanation.rows()[: cells or None])


def _least_likely(distribution: Any, codes: Any, top: int) -> list[int]:
    import numpy as np

    found: list[int] = np.argsort(distribution.log_prob(codes), kind="stable")[:top].tolist()
    return found
