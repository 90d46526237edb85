"""``fullspan bench``: what this machine can do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullspan.people.cli.options.arguments import Device
from fullspan.people.cli.options.headings import NamedValues

EPILOG = "Example: fullspan bench device --n 13 --rows 1000"
LIMIT_HELP = "Time limit of a method for one fold, in seconds; 0 for none."
SECONDS_HELP = (
    "Learning time of mixtures, averages and hidden trees, in seconds.  [default: 420, or 0.7 times --limit if less]"
)
SECONDS_SHARE = 0.7
"""Of --limit; what is left is for the end of the step at hand, and for scoring."""
DENSITY_EPILOG = """With sets of your own: fullspan bench density --data DATA/debd --set nltcs --results density.jsonl

Sets are .npz files: train, valid, test (packed bits) and nvars; bits and n; or codes with 255 for a missing cell. Sets
without parts are cross-validated. Ctrl-C keeps the scores so far in the file of --results, and the same command goes on
there; what was stopped by --limit is tried again with a longer one."""

SYNTHETIC_EPILOG = """With networks of your own: fullspan bench synthetic DATA/bif --set asia --set child

"syn" is the mean log-likelihood of the synthetic rows under the true network, "test" that of unseen rows of the network
under its structure with tables counted from the synthetic rows; both as log(p + 1e-8), the protocol of SDGym. "real" is
the same for the rows learned from in place of synthetic ones, the most that can be reached; the gaps are to these."""

COUNTING_EPILOG = """With a table of your own: fullspan bench counting adult_mbi.npz --without fnlwgt --ordered age

The q-error of a query is the larger of its estimated and true number of rows over the smaller, both at least 1. Queries
are generated as in the code of the study AreCELearnedYet: 1 to all columns, ranges of --ordered columns around a row,
and equality of the others. As there, a model learns from all rows. "ms" is processor time per query, all together and
each on its own."""


def register(app: typer.Typer) -> None:
    """Add the group of commands to the application."""
    group = typer.Typer(
        cls=NamedValues, no_args_is_help=True, help="Run benchmarks on this machine.", short_help="Run benchmarks."
    )
    group.command("device", epilog=EPILOG, short_help="Time the full-span search.")(device)
    group.command("density", epilog=DENSITY_EPILOG, short_help="Compare held-out likelihoods of models and rivals.")(
        density
    )
    group.command("synthetic", epilog=SYNTHETIC_EPILOG, short_help="Measure the quality of synthetic tables.")(
        synthetic
    )
    group.command("counting", epilog=COUNTING_EPILOG, short_help="Measure accuracy and time of counting queries.")(
        counting
    )
    app.add_typer(group, name="bench")


def device(
    n: Annotated[
        list[int] | None, typer.Option(min=13, max=40, help="Number of columns.  [default: 20, 22, 24]")
    ] = None,
    on: Annotated[
        Device, typer.Option("--device", help="Where to run; auto takes a GPU if there is one.")
    ] = Device.auto,
    rows: Annotated[int, typer.Option(min=1000, help="Number of rows.")] = 100_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random network.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Time the full-span search on random Bayesian networks.

    GB/s counts the bytes that a pass over the table must move. "per pass" is the number of search steps in one pass.
    """
    from fullspan.bench.device import measure
    from fullspan.engine.cuda.device import why_not
    from fullspan.people.cli.running.summary import print_json

    if on is Device.sharded:
        raise typer.BadParameter("several devices are not measured by this command; choose cpu or cuda")
    reason = why_not()
    where = "cpu" if on is Device.cpu or (on is Device.auto and reason) else "cuda"
    if on is Device.auto and reason and not as_json:
        typer.echo(f"on the CPU: {reason}")
    if not as_json:
        typer.echo(f"{'n':>3} {'candidates':>14} {'chosen':>6} {'steps':>5} {'fit s':>8} {'step ms':>8} "
                   f"{'per pass':>8} {'GB/s':>6} {'copy':>6} {'share':>5}")  # fmt: skip
    found = []
    for size in n or [20, 22, 24]:
        row = measure(size, where, rows, seed)  # type: ignore[arg-type]
        found.append(row.to_json())
        if not as_json:
            typer.echo(
                f"{row.n:>3} {row.candidates:>14,} {row.chosen:>6} {row.steps:>5} {row.seconds:>8.3g} "
                f"{row.step_ms:>8.3g} {row.steps_per_pass:>8.2f} {row.pass_gb_s:>6.0f} {row.copy_gb_s:>6.0f} "
                f"{row.share:>5.2f}"
            )
    if as_json:
        print_json({"device": where, "rows": rows, "seed": seed, "sizes": found})


def density(
    data: Annotated[Path, typer.Option(help="Folder of data sets, searched with its subfolders.")],
    sets: Annotated[list[str] | None, typer.Option("--set", help="Name of a data set; may be repeated.")] = None,
    method: Annotated[list[str] | None, typer.Option(help="Name of a method; may be repeated.")] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="JSON lines file to which scores are added; scores in it are not computed again."),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds, for sets without given parts.")] = 5,
    limit: Annotated[float, typer.Option(min=0.0, help=LIMIT_HELP)] = 600.0,
    seconds: Annotated[float | None, typer.Option(min=0.0, help=SECONDS_HELP)] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    picture: Annotated[Path | None, typer.Option(help="SVG file to write, drawn by Matplotlib.")] = None,
    table: Annotated[Path | None, typer.Option(help="Markdown file to write.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare the mean log-likelihood of held-out rows under Fullspan's models and other packages."""
    from dataclasses import asdict

    from fullspan.bench import density as bench
    from fullspan.bench.density_methods import Settings, how_to_add_rivals
    from fullspan.bench.density_picture import picture as drawn
    from fullspan.papers.plots import EXTRA, can_draw
    from fullspan.people.cli.running.files import check_target, write_text
    from fullspan.people.cli.running.summary import print_json

    if seconds is None:
        seconds = min(Settings().seconds, SECONDS_SHARE * limit) if limit else Settings().seconds
    if (not method or "mixture" in method) and 0 < limit <= seconds:
        raise typer.BadParameter(
            f"--seconds {seconds:g} leaves a mixture no time to end within --limit {limit:g}; give fewer"
        )
    if picture is not None and not can_draw():
        raise typer.BadParameter(EXTRA)
    for path in (picture, table, results):
        if path is not None:
            check_target(path)

    def say(text: str) -> None:
        typer.echo(text, err=True)

    if not method and (hint := how_to_add_rivals()):
        say(hint)
    try:
        scores = bench.compare(data, results, sets, method, folds, Settings(seconds, seed, limit), say)
    except KeyboardInterrupt:
        if results is not None:
            say(f"the scores so far are in {results}; the same command goes on there")
        raise
    if picture is not None:
        write_text(picture, drawn(scores))
    if table is not None:
        write_text(table, bench.markdown(scores) + "\n")
    print_json({"scores": [asdict(s) for s in scores]}) if as_json else typer.echo(bench.markdown(scores))


def synthetic(
    data: Annotated[Path, typer.Argument(help="Folder of networks: .bif or .bif.gz.")],
    sets: Annotated[list[str] | None, typer.Option("--set", help="Name of a network; may be repeated.")] = None,
    rows: Annotated[int, typer.Option(min=100, help="Number of rows to fit, to draw, and to test on.")] = 10_000,
    seeds: Annotated[int, typer.Option(min=1, help="Number of repetitions; means are printed.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Draw synthetic rows from models of a known Bayesian network, and measure how far they are from it."""
    from dataclasses import asdict

    from fullspan.bench.synthetic import networks_in, run
    from fullspan.people.cli.running.summary import print_json

    paths = networks_in(data, sets)
    if not as_json:
        typer.echo(
            f"{'network':<12} {'columns':>7} {'real syn':>9} {'real test':>9} {'gap syn':>8} {'±':>6} "
            f"{'gap test':>8} {'±':>6} {'seconds':>8}"
        )
    found = []
    for path in paths:
        score = run(path, rows, seeds)
        found.append(asdict(score))
        if not as_json:
            typer.echo(
                f"{score.network:<12} {score.columns:>7} {score.real_syn:>9.4f} {score.real_test:>9.4f} "
                f"{score.gap_syn:>8.4f} {score.gap_syn_error:>6.4f} {score.gap_test:>8.4f} "
                f"{score.gap_test_error:>6.4f} {score.seconds:>8.1f}"
            )
    if as_json:
        print_json({"rows": rows, "seeds": seeds, "networks": found})


def counting(
    data: Annotated[Path, typer.Argument(help="Table of codes (.npz), with names in a meta.json next to it.")],
    ordered: Annotated[
        list[str] | None, typer.Option(help="Column that is queried by ranges; may be repeated.")
    ] = None,
    without: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="network, mixture or full-span; may be repeated.")] = None,
    queries: Annotated[int, typer.Option(min=1, help="Number of queries.")] = 10_000,
    seconds: Annotated[float, typer.Option(min=1.0, help="Learning time of a mixture, in seconds.")] = 100.0,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Estimate how many rows satisfy random queries, and compare with the table: accuracy and time."""
    from dataclasses import asdict

    from fullspan.bench.counting import MODELS, read_table, run
    from fullspan.people.cli.running.summary import print_json

    chosen = model or ["network", "mixture"]
    if unknown := [name for name in chosen if name not in MODELS]:
        raise typer.BadParameter(f"there is no model {unknown[0]!r}; choose from {', '.join(MODELS)}")
    table = read_table(data, ordered or (), without or ())
    if not as_json:
        typer.echo(
            f"{'model':<10} {'queries':>7} {'largest':>8} {'99 %':>6} {'median':>7} {'ms together':>11} "
            f"{'ms alone':>8} {'fit s':>6}"
        )
    found = []
    for name in chosen:
        score = run(table, name, queries, seed, seconds)
        found.append(asdict(score))
        if not as_json:
            typer.echo(
                f"{score.model:<10} {score.queries:>7} {score.largest:>8.1f} {score.ninety_ninth:>6.2f} "
                f"{score.median:>7.3f} {score.ms_together:>11.3f} {score.ms_alone:>8.3f} {score.fit_seconds:>6.1f}"
            )
    if as_json:
        print_json({"rows": len(table.codes), "columns": len(table.space), "seed": seed, "models": found})
