"""``fullspan rake``: weights that give a table known margins."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fullspan.people.cli.options.arguments import MARGINS_HELP
from fullspan.people.cli.running.models import Na

if TYPE_CHECKING:
    from fullspan.estimators.jobs.weighting import Raking

EPILOG = """Example: fullspan rake votes.csv --margins house.json -o weighted.csv

The output is the table with the weights as its last column.

--margins is a JSON file whose "margins" is a list of tables, each a list of rows such as {"sex": "f", "count": 510};
a CSV file with the columns of one margin and a column count; or the margin itself, as in --margins "sex: f=510, m=490".
Rows with several columns make a margin of several columns. Counts that sum to 1 are shares.

If margins contradict each other, or a cell has a count but no rows, nothing is written (exit code 2)."""


class On(enum.StrEnum):
    """What is bounded."""

    ratio = "ratio"
    weight = "weight"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("rake", epilog=EPILOG, short_help="Weight the rows of a table to known margins.")(rake)


def rake(
    data: Annotated[Path, typer.Argument(help="Table to weight.")],
    margins: Annotated[list[str], typer.Option(help=MARGINS_HELP)],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write: .csv, .tsv, .parquet, .jsonl or .arrow.")
    ],
    weights: Annotated[str | None, typer.Option(help="Column of design weights.  [default: equal weights]")] = None,
    bounds: Annotated[str | None, typer.Option(help="Smallest and largest weight, such as 0.3,3.")] = None,
    bounds_on: Annotated[
        On, typer.Option(help="Whether --bounds limits the ratio of new to design weight, or the weight.")
    ] = On.ratio,
    name: Annotated[str, typer.Option(help="Name of the column of weights.")] = "weight",
    tol: Annotated[float, typer.Option(help="Largest relative difference from a margin.")] = 1e-10,
    max_iter: Annotated[int, typer.Option(min=1, help="Maximum number of sweeps over the margins.")] = 10_000,
    na: Na = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Weight the rows of a table to known margins (raking, iterative proportional fitting).

    Of all weights with these margins, the result is nearest to the design weights.
    """
    from fullspan.data.tables.margin_counts import is_written_out
    from fullspan.estimators.jobs.weighting import rake as raked
    from fullspan.people.cli.running.files import check_table_target, table_suffix, write_table
    from fullspan.people.cli.running.summary import print_json

    check_table_target(output, data, *(Path(m) for m in margins if not is_written_out(m)))
    found = raked(
        data,
        margins,
        weights,
        bounds=None if bounds is None else _bounds(bounds),
        bounds_on=bounds_on.value,
        name=name,
        tol=tol,
        max_iter=max_iter,
        na_values=na,
    )
    write_table(found.as_table(as_text=table_suffix(output) in (".csv", ".tsv")), output)
    if as_json:
        print_json(_facts(found))
    else:
        for line in found.lines():
            typer.echo(line)
    typer.echo(f"{len(found.weights):,} rows with a column {name!r} written to {output}", err=True)


def _bounds(text: str) -> tuple[float, float]:
    """Two numbers; the largest may be left out or ``inf``.

    Raises
    ------
    typer.BadParameter : they are none.
    """
    try:
        low, high = (float(part) if part.strip() else float("inf") for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"--bounds is {text!r}; two numbers are needed, 0.3,3") from None
    return low, high


def _facts(found: Raking) -> dict[str, object]:
    return {
        "rows": len(found.weights),
        "cells": found.n_cells,
        "sum": float(found.weights.sum()),
        "smallest": float(found.weights.min()),
        "largest": float(found.weights.max()),
        "design_effect": found.design_effect,
        "effective_n": found.effective_n,
        "converged": found.converged,
        "sweeps": found.sweeps,
        "misfit": found.misfit,
        "at_bound": found.n_at_bound,
    }
