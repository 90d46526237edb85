"""``fullspan score``: how well a model predicts a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fullspan.people.cli.options.arguments import WEIGHTS_HELP
from fullspan.people.cli.running.models import Na, OnUnknown, reading_of

if TYPE_CHECKING:
    from fullspan.estimators.inputs.reading import Reading
    from fullspan.query.distribution import Distribution

EPILOG = """Example: fullspan score votes.fsm test.csv

Incomplete rows are treated as in the fit: they are refused, left out, or have a level for missing values. With
--per-row, missing values are summed out unless the model refuses them. An existing output file is replaced, the data
file never."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("score", epilog=EPILOG, short_help="Compute the log-likelihood of a table.")(score)


def score(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    data: Annotated[Path, typer.Argument(help="Table to score.")],
    per_row: Annotated[bool, typer.Option("--per-row", help="Print the log-probability of every row.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File for --per-row: .csv, .tsv, .parquet, .jsonl or .arrow.")
    ] = None,
    weights: Annotated[str | None, typer.Option(help=WEIGHTS_HELP)] = None,
    na: Na = None,
    unknown: OnUnknown = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compute the mean log-probability of a table's rows, in nats, or that of every row."""
    from fullspan.estimators.registry import distribution_of
    from fullspan.people.cli.running.files import check_table_target
    from fullspan.people.cli.running.models import joint_model

    if output is not None and not per_row:
        raise typer.BadParameter("-o is for --per-row")
    if weights is not None and per_row:
        raise typer.BadParameter("--weights is for the mean; the log-probability of a row has no weight")
    check_table_target(output, model, data)
    fitted = joint_model(model)
    reading, distribution = reading_of(fitted, na, unknown), distribution_of(fitted)
    if per_row:
        _rows(distribution, data, reading, output, as_json=as_json)
    else:
        _mean(distribution, data, reading, weights, as_json=as_json)


def _mean(distribution: Distribution, data: Path, reading: Reading, weights: str | None, *, as_json: bool) -> None:
    from fullspan.people.cli.running.summary import print_json

    empirical = reading.count_again(data, distribution.visible, weights)
    mean = float(empirical.counts @ distribution.log_prob(empirical.states)) / empirical.total
    left_out = empirical.n_dropped + empirical.n_empty
    log_z = distribution.log_z
    if as_json:
        how = {"standard_error": log_z.error, "log_z_method": log_z.method, "is_lower_bound": distribution.bound}
        estimated = {} if log_z.exact else {"error": log_z.error, "log_z_is_estimated": True}
        print_json({"mean_log_prob": mean, **how, **estimated, "n_rows": empirical.n_rows, "n_dropped": left_out})
        return
    what = "lower bound of the mean log-probability" if distribution.bound else "mean log-probability"
    dropped = f" ({left_out:,} of {empirical.n_rows:,} left out)" if left_out else ""
    number = f"{mean:.6f}" if log_z.exact else f"{mean:.4f} ± {log_z.error:.4f}"
    note = "" if log_z.exact else "; log Z is an estimate"
    typer.echo(
        f"{what} {number} nats over {empirical.total:,.6g} row{'' if empirical.total == 1 else 's'}{dropped}{note}"
    )


def _rows(distribution: Distribution, data: Path, reading: Reading, output: Path | None, *, as_json: bool) -> None:
    import pyarrow as pa

    from fullspan.people.cli.running.files import put_table

    codes = reading.encode(data, distribution.visible, allow_missing=reading.missing != "error")
    table = pa.table({"log_prob": distribution.log_prob(codes)})
    if not distribution.log_z.exact:
        error = distribution.log_z.error
        typer.echo(f"log Z is an estimate: all values may be off together, by ± {error:.4f}", err=True)
    put_table(table, output, as_json=as_json)
