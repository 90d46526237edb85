"""``fullspan reproduce``: re-run a table or figure of a source paper."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
    from fullspan.papers import Experiment, FigureResult

EPILOG = "Example: fullspan reproduce basket"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("reproduce", epilog=EPILOG, short_help="Reproduce a published table or figure.")(reproduce)


def reproduce(
    name: Annotated[str | None, typer.Argument(help="Name of the experiment; see --list.", show_default=False)] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Tables: random draws of each data set; medians are shown. [default: 3]")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Figures: random machines, samples or draws. [default: the paper's]")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(min=1, help="Figures: steps of a run. [default: the paper's]")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Figures: of the random machines. [default: 0]")] = None,
    nodes: Annotated[
        int | None, typer.Option(min=1000, help="rueger: nodes of the largest tree. [default: 1000000]")
    ] = None,
    weights: Annotated[
        int | None, typer.Option(min=10, help="tbm-fig1: most weights on pairs. [default: 100000]")
    ] = None,
    rivals: Annotated[
        int | None, typer.Option(min=1, help="tbm-fig1: samples of each class for slow rivals. [default: 50]")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="tbm-fig1: processes. [default: 1]")] = None,
    variables: Annotated[int | None, typer.Option(min=10, help="tbm-fig2: most variables. [default: 1000]")] = None,
    data: Annotated[
        Path | None, typer.Option(help="tbm-fig1, tbm-fig3, tbm-spikes, rbm-digits: folder with the data sets.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for figures and data, created if necessary.  [default: the name]"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
) -> None:
    """Reproduce a published table or figure, and print published and measured values side by side."""
    from fullspan.people.cli.running.summary import print_json

    if listing:
        _list(as_json=as_json)
        return
    if name is None:
        raise typer.BadParameter("name an experiment, or ask for --list")
    from fullspan.learn.base.reporter import Reporter
    from fullspan.papers import experiment
    from fullspan.papers.plots import EXTRA, can_draw

    chosen = experiment(name)
    folder = _folder(chosen, out)
    draws = can_draw()
    if chosen.is_figure and not draws:
        typer.echo(f"fullspan: {EXTRA}. Only the numbers are written.", err=True)
    given: dict[str, Any] = {"seeds": seeds, "runs": runs, "iterations": iterations, "seed": seed, "nodes": nodes}
    given |= {"weights": weights, "rivals": rivals, "variables": variables, "data": data, "jobs": jobs}
    with contextlib.closing(Reporter()) as reporter:
        result = chosen.run(reporter.say, **{key: value for key, value in given.items() if value is not None})
    written = _write(cast("FigureResult", result), folder, draws=draws) if chosen.is_figure else []
    if as_json:
        print_json(result.to_json() | ({"files": [str(path) for path in written]} if written else {}))
        return
    typer.echo(result.to_text())
    if written:
        typer.echo("\nwritten: " + ", ".join(map(str, written)))


def _folder(chosen: Experiment, out: Path | None) -> Path:
    """Where the files go; refused before the work begins if that cannot be.

    Raises
    ------
    FullspanError : the experiment writes no files, or there is a file of that name.
    """
    from fullspan.errors import FullspanError

    if out is not None and not chosen.is_figure:
        raise FullspanError(f"{chosen.name} is a table and writes no files; leave out --out")
    folder = Path(chosen.name) if out is None else out
    if chosen.is_figure and folder.exists() and not folder.is_dir():
        raise FullspanError(f"{str(folder)!r} is a file; give a folder with --out")
    return folder


def _write(result: FigureResult, folder: Path, *, draws: bool) -> list[Path]:
    """Write the figures, if they can be drawn, and the numbers behind them into a folder; their paths."""
    from fullspan.papers.plots import as_svg
    from fullspan.people.cli.running.files import write_text

    figures = result.figures() if draws else {}
    files = {f"{name}.svg": as_svg(figure) for name, figure in figures.items()} | result.files()
    folder.mkdir(parents=True, exist_ok=True)
    for file_name, text in files.items():
        write_text(folder / file_name, text)
    return [folder / file_name for file_name in files]


def _list(*, as_json: bool) -> None:
    from fullspan.papers import EXPERIMENTS
    from fullspan.people.cli.running.summary import print_json

    if as_json:
        print_json([{"name": e.name, "summary": e.summary, "options": e.options} for e in EXPERIMENTS.values()])
        return
    width = max(map(len, EXPERIMENTS))
    for e in EXPERIMENTS.values():
        typer.echo(f"{e.name.ljust(width)}  {e.summary}")
