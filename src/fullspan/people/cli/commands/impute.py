"""``fullspan impute``: fill the missing cells of a table."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullspan.people.cli.running.models import Na, OnUnknown, reading_of

if TYPE_CHECKING:
    from fullspan.data.space import Space

EPILOG = """Example: fullspan impute votes.fsm votes.csv -o filled.csv

The output is the table with missing values filled in; everything else stays as it is.

--how mode: the most probable completion of each row. --how cells: the most probable value of each cell by itself; more
of these are right, but together they may be improbable. --how draw: random completions, which keep shares and
correlations. --how mean: the probability of every level, in columns name=level.

A missing number in a column cut into bins becomes the median of its bin, or with --how draw one of the values observed
there. An existing output file is replaced, the data file never. A model fitted with --missing level has nothing to
fill in."""


class How(enum.StrEnum):
    """What a missing cell becomes."""

    mode = "mode"
    cells = "cells"
    mean = "mean"
    draw = "draw"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("impute", epilog=EPILOG, short_help="Fill in the missing values of a table.")(impute)


def impute(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    data: Annotated[Path, typer.Argument(help="Table with missing values.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write: .csv, .tsv, .parquet, .jsonl or .arrow.")
    ],
    how: Annotated[How, typer.Option(help="How values are filled in; see below.")] = How.mode,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the random completion.")] = None,
    na: Na = None,
    unknown: OnUnknown = None,
) -> None:
    """Fill in the missing values of a table, given the observed values of each row."""
    from fullspan.people.cli.running.files import check_table_target, table_suffix, write_table

    check_table_target(output, model, data)
    import numpy as np

    from fullspan.data import fill
    from fullspan.estimators.inputs.reading import refuse_missing_level
    from fullspan.estimators.registry import distribution_of
    from fullspan.people.cli.running.models import joint_model

    fitted = joint_model(model)
    distribution = distribution_of(fitted)
    space = distribution.visible
    codes = reading_of(fitted, na, unknown).encode(data, space, allow_missing=True)
    refuse_missing_level(codes, space)
    if how is How.mean:
        table = _wide(distribution.impute(codes, "mean"), space)
    else:
        rng = np.random.default_rng(seed)
        if how is How.cells:
            completed = distribution.likeliest_cells(codes)
        else:
            completed = distribution.impute(codes.copy(), "mode" if how is How.mode else "draw", rng)
        within = rng if how is How.draw else None
        table = fill(data, space, codes, completed, within, as_text=table_suffix(output) in (".csv", ".tsv"))
    write_table(table, output)
    n_cells = f"{int((codes < 0).sum()):,} cells of {len(codes):,} rows"
    filled = f"{n_cells} filled, written to {output}"
    means = f"probabilities of the missing cells written to {output}: {n_cells} were missing"
    typer.echo(means if how is How.mean else filled, err=True)


def _wide(probabilities: dict[str, Any], space: Space) -> Any:
    """One column ``name=level`` per level, with its probability."""
    import pyarrow as pa

    return pa.table(
        {f"{v.name}={level}": probabilities[v.name][:, j] for v in space.variables for j, level in enumerate(v.levels)}
    )
