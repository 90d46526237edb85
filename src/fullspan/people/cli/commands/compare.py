"""``fullspan compare``: models side by side on rows that none of them has seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullspan.people.cli.options.arguments import WEIGHTS_HELP
from fullspan.people.cli.running.models import Na, OnUnknown, changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullspan.estimators.density import DensityEstimator

Row = tuple[str, ...]
_BETWEEN = 3
"""Blanks between two columns."""

EPILOG = """Example: fullspan compare votes.fsm --data test.csv

Example: fullspan compare a.fsm b.fsm --data test.csv --train train.csv

The best model comes first. "behind best" is the difference from the best model in nats per row, and "paired error" its
standard error. "skill" is 1 for perfect predictions of single values, and 0 for no better than base rates.
"calibration" is the mean distance between predicted probabilities and observed shares.

A note names models that were fitted to some of these rows. Missing values are summed out; deep machines, which score
complete rows only, are left out if values are missing. The baselines are fitted to --train; without it, they are
cross-validated on these rows."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("compare", epilog=EPILOG, short_help="Compare models on held-out rows.")(compare)


def compare(
    models: Annotated[list[Path], typer.Argument(help="Model files with the same columns.")],
    data: Annotated[Path, typer.Option(help="Table of held-out rows.")],
    train: Annotated[Path | None, typer.Option(help="Table to which the baselines are fitted.")] = None,
    baselines: Annotated[
        bool,
        typer.Option(help="Add baselines: independent columns, the Chow–Liu tree, the smoothed table of all states."),
    ] = True,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the folds and of the values that are predicted.")] = 0,
    weights: Annotated[str | None, typer.Option(help=WEIGHTS_HELP)] = None,
    na: Na = None,
    unknown: OnUnknown = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare models on held-out rows: log-likelihood with paired errors, skill, calibration and time."""
    from fullspan.estimators.compare.comparing import compare as compared
    from fullspan.estimators.compare.comparison import HEADINGS
    from fullspan.people.cli.running.summary import console, print_json, print_rows

    found = compared(
        _loaded(models, changes(na, unknown)),
        data,
        train,
        baselines=baselines,
        random_state=seed,
        sample_weight=weights,
    )
    if as_json:
        print_json({"n_rows": found.n_rows, "notes": found.notes(), "models": found.to_dicts()})
        return
    for headings, rows in blocks(HEADINGS, [row.cells() for row in found], console().width):
        print_rows(headings, rows)
    console().print("\n".join(found.notes()))


def blocks(headings: Row, rows: list[Row], width: int) -> Iterator[tuple[Row, list[Row]]]:
    """The table in parts that fit a terminal, each with the names of the models: these are never cut.

    A name that leaves no room for a single number is folded onto further lines.
    """
    widths = [max(len(row[k].strip()) for row in (headings, *rows)) for k in range(len(headings))]
    start = 1
    while start < len(headings):
        stop, used = start + 1, widths[0] + _BETWEEN + widths[start]
        while stop < len(headings) and used + _BETWEEN + widths[stop] <= width:
            used += _BETWEEN + widths[stop]
            stop += 1
        yield (headings[0], *headings[start:stop]), [(row[0], *map(str.strip, row[start:stop])) for row in rows]
        start = stop


def _loaded(paths: list[Path], reading: dict[str, Any]) -> dict[str, DensityEstimator]:
    """The models by the shortest names that tell them apart."""
    from fullspan.errors import FullspanError
    from fullspan.estimators.registry import load

    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    if len(set(names)) < len(names):
        raise FullspanError("a model is given twice; name each file once")
    return {name: load(path).set_params(**reading) for name, path in zip(names, paths, strict=True)}
