"""``fullspan report``: everything a model knows, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullspan.people.cli.running.models import Na, changes

EPILOG = """Example: fullspan report votes.fsm --data votes.csv -o report.html

The report opens offline and prints. If --data is the table to which the model was fitted, the model is fitted again to
four fifths of it and tested on the rest; --no-refit skips this. Any other table is used as held-out rows. An existing
.html file is replaced."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("report", epilog=EPILOG, short_help="Write a report of a model as one HTML page.")(report)


def report(
    model: Annotated[Path, typer.Argument(help="Model file or network (.uai, .bif, .net, .dsc, .xmlbif, also .gz).")],
    output: Annotated[Path, typer.Option("-o", "--output", help="HTML file to write.")] = Path("report.html"),
    data: Annotated[Path | None, typer.Option(help="Table to compare with the model.")] = None,
    test: Annotated[Path | None, typer.Option(help="Table of held-out rows.")] = None,
    title: Annotated[str | None, typer.Option(help="Title.  [default: name of the model file]")] = None,
    na: Na = None,
    refit: Annotated[bool, typer.Option(help="Fit again to part of the rows and test on the others.")] = True,
    check: Annotated[
        bool, typer.Option("--check", help="Also compare with the best predictor, on the same rows.")
    ] = False,
) -> None:
    """Write a report as one HTML file: interactions, goodness of fit, calibration and warnings, with pictures."""
    from fullspan.errors import FullspanError
    from fullspan.estimators.registry import load
    from fullspan.model.files.disk import is_pipe_or_device
    from fullspan.model.files.networks.formats import NETWORKS, suffix
    from fullspan.people.cli.running.files import check_target, write_text
    from fullspan.people.report.content import gather
    from fullspan.people.report.networks import Network
    from fullspan.people.report.page import page

    if output.suffix.lower() not in (".html", ".htm") and not is_pipe_or_device(output):
        raise FullspanError(
            f"a report is an HTML file, but {str(output)!r} was asked for; write for example report.html"
        )
    check_target(output, model, *(path for path in (data, test) if path is not None))
    estimator = Network.read(model) if suffix(model) in NETWORKS else load(model)
    estimator.set_params(**changes(na))
    content = gather(estimator, data, test, title=title or model.stem, refit=refit, check=check, say=_say)
    text = page(content)
    write_text(output, text)
    typer.echo(f"report written to {output} ({len(text.encode()) / 1024:.0f} KiB)", err=True)


def _say(text: str) -> None:
    import sys

    if sys.stderr.isatty():
        typer.echo(text, err=True)
