"""``fullspan synth``: a synthetic table, like a given one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from fullspan.people.cli.running.models import Na

EPILOG = """Example: fullspan synth votes.csv -n 1000 -o synthetic.csv

Columns keep their type, order and spelling. Numbers and dates are drawn from the data's own values in the same bin. Row
numbers are made anew; names and other keys are left out, with a note.

--given and --forbid are satisfied exactly, as in --given "region=north, age<30" or --forbid "sex=m, pregnant=y".

--report fits the model to four fifths of the rows and compares the synthetic rows with these and with the rest."""
EPSILON_HELP = "Privacy budget epsilon of differential privacy; not with --report."
DELTA_HELP = "Delta of differential privacy, with --epsilon.  [default: 1e-9]"
BINS_HELP = "Number of bins for numbers and dates; not with --epsilon.  [default: 16]"
SCHEMA_HELP = """JSON file of levels, with --epsilon: {"sex": ["f", "m"], "age": {"edges": [0, 30, 60, 120]}}."""
REPORT_HELP = "Hold out a fifth of the rows, and print the quality of the synthetic rows."

SEED_WARNING = "the noise follows from --seed: anyone who knows the seed can remove it, so use it for tests only"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("synth", epilog=EPILOG, short_help="Draw a synthetic table like a given one.")(synth)


def synth(
    data: Annotated[Path, typer.Argument(help="Table to imitate.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write: .csv, .tsv, .parquet, .jsonl or .arrow.")
    ],
    n: Annotated[
        int | None, typer.Option("-n", "--number", min=0, help="Number of rows.  [default: as many as the table]")
    ] = None,
    given: Annotated[
        str | None, typer.Option(help="Condition that all rows satisfy, such as 'crime=y, education=n'.")
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(help="Event that no row satisfies, such as 'crime=y, party=democrat'. May be repeated."),
    ] = None,
    columns: Annotated[str | None, typer.Option(help="Columns to draw, separated by commas.  [default: all]")] = None,
    bins: Annotated[int | None, typer.Option(min=2, max=256, help=BINS_HELP)] = None,
    missing: Annotated[bool, typer.Option("--missing", help="Draw missing values too.")] = False,
    report: Annotated[bool, typer.Option("--report", help=REPORT_HELP)] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed.")] = None,
    na: Na = None,
    epsilon: Annotated[float | None, typer.Option(help=EPSILON_HELP)] = None,
    delta: Annotated[float | None, typer.Option(help=DELTA_HELP)] = None,
    bounded: Annotated[bool, typer.Option("--bounded", help="The number of rows is public.")] = False,
    schema: Annotated[Path | None, typer.Option(help=SCHEMA_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Draw a synthetic table: fit a model to a table and draw rows from it."""
    from fullspan.people.cli.options.values import names
    from fullspan.people.cli.running.files import check_table_target

    check_table_target(output, data)
    if report and (given or forbid):
        raise typer.BadParameter("--report compares with the table as it is; leave out --given and --forbid")
    chosen = None if columns is None else names(columns)
    job = _Job(data, output, n, given, tuple(forbid or ()), chosen, missing, na, seed)
    if epsilon is not None:
        if report:
            raise typer.BadParameter("--report measures the rows, which --epsilon protects; leave out one of them")
        if bins is not None:
            raise typer.BadParameter(
                "--bins cuts at values of the rows, which --epsilon protects; give edges in --schema"
            )
        job.run_privately(epsilon, delta, bounded, schema)
        return
    if schema is not None or bounded or delta is not None:
        raise typer.BadParameter("--schema, --bounded and --delta are about privacy; give --epsilon too")
    if as_json and not report:
        raise typer.BadParameter("--json prints the report; give --report too")
    quality = job.run(bins, report)
    if quality is not None and as_json:
        from fullspan.people.cli.running.summary import print_json

        print_json(quality.to_json())
    elif quality is not None:
        for line in quality.lines():
            typer.echo(line)


@dataclass(frozen=True)
class _Job:
    """What is asked for with and without privacy."""

    data: Path
    output: Path
    n: int | None
    given: str | None
    forbid: tuple[str, ...]
    columns: list[str] | None
    missing: bool
    na: Any
    seed: int | None

    def run(self, bins: int | None, report: bool) -> Any:
        """Fit, draw and write; the quality of the rows if ``report``."""
        from fullspan.data.tables.prototype import N_BINS, prototype
        from fullspan.estimators.jobs.synthesis import synthesizer
        from fullspan.people.cli.running.files import table_suffix

        conditions = [*([self.given] if self.given else []), *self.forbid]
        whole, held = prototype(self.data, self.columns, bins or N_BINS, self.na, conditions), None
        size = whole.table.num_rows if self.n is None else self.n
        if report:
            whole, held = whole.split(0.2, self.seed or 0)
        made = synthesizer(whole, missing=self.missing, given=self.given, forbid=self.forbid, verbose=True)
        for note in made.notes():
            typer.echo(note, err=True)
        drawn, codes = made.draw_with_codes(size, self.seed, self.given, self.forbid)
        found = None
        if held is not None:
            from fullspan.estimators.jobs.synthetic_quality import quality

            found = quality(made, held, drawn, codes, self.seed or 0)
        # Text files keep the spelling of the original, which columns with types cannot.
        self._write(drawn if table_suffix(self.output) in (".csv", ".tsv") else whole.typed(drawn))
        return found

    def run_privately(self, epsilon: float, delta: float | None, bounded: bool, schema: Path | None) -> None:
        """The same under differential privacy."""
        from fullspan.estimators.private import private_model, sentences
        from fullspan.learn.private.accountant import Privacy

        privacy = Privacy(epsilon, 1e-9 if delta is None else delta, "bounded" if bounded else "unbounded")
        levels = None if schema is None else _schema(schema)
        if self.seed is not None:
            typer.echo(SEED_WARNING, err=True)
        model = private_model(
            self.data, privacy, schema=levels, columns=self.columns, missing=self.missing, na_values=self.na,
            random_state=self.seed, verbose=True,
        )  # fmt: skip
        # The rows must not repeat the random numbers of the noise.
        drawn = model.synthesize(self.n, self.given, self.forbid, None if self.seed is None else self.seed + 1)
        for line in sentences(model):
            typer.echo(line, err=True)
        self._write(drawn)

    def _write(self, rows: Any) -> None:
        from fullspan.people.cli.running.files import write_table

        write_table(rows, self.output)
        typer.echo(f"{rows.num_rows:,} synthetic rows written to {self.output}", err=True)


def _schema(path: Path) -> Any:
    """The levels in a JSON file.

    Raises
    ------
    DataError : it is no JSON object.
    """
    import json

    from fullspan.errors import DataError

    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"{path} is not a schema: {error}") from error
    if not isinstance(found, dict):
        raise DataError(f'{path} is not a schema: it holds {type(found).__name__}, not {{"column": ["level", ...]}}')
    return found
