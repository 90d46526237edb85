"""``fullspan demo``: a tour of the package on the votes of the U.S. House of Representatives, 1984."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fullspan.model.fitted import Fitted

EPILOG = "Example: fullspan demo demo-output"
STRONGEST = 12
QUESTIONS = (
    "P(party=democrat | physician=n)",
    "P(crime=y | party=democrat, education=y)",
)
CREDIT = "Congressional Voting Records, UCI Machine Learning Repository, CC BY 4.0"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("demo", epilog=EPILOG, short_help="Take a tour with the 1984 House votes.")(demo)


def demo(
    folder: Annotated[Path, typer.Argument(help="Folder to write to, created if necessary.")] = Path("demo-output"),
) -> int:
    """Fit a model to the 1984 House votes, print what was found, and ask two questions."""
    from fullspan.model.files.log_linear import write
    from fullspan.people.cli.running.interrupt import INTERRUPTED

    folder.mkdir(parents=True, exist_ok=True)
    _heading(
        "Learning",
        "435 members of the U.S. House of Representatives, 16 votes of 1984. 392 votes are missing; no row is dropped: "
        f"what is missing is summed over.\n{CREDIT}.",
    )
    started = time.monotonic()
    fitted = _fitted()
    write(fitted, folder / "votes.fsm")
    _show(fitted, time.monotonic() - started)
    _ask(fitted)
    _report(folder)
    _farewell(folder)
    return INTERRUPTED if fitted.status == "interrupted" else 0


def _fitted() -> Fitted:
    from fullspan.datasets import house_votes_path
    from fullspan.estimators.inputs.reading import Reading
    from fullspan.learn.base.reporter import Reporter, announce
    from fullspan.learn.effects.explain import explained
    from fullspan.learn.search.fit import fit_search
    from fullspan.learn.search.options import Options

    reading = Reading(missing="em")
    with contextlib.closing(Reporter()) as reporter:
        announce(reporter)
        data = reading.count(house_votes_path())
        fitted = reading.noted(fit_search(data, Options(), watch=reporter))
        reporter.say("working out what each interaction saves")
        return explained(fitted, data)


def _show(fitted: Fitted, seconds: float) -> None:
    from fullspan.estimators.explain.shown import shown_by_terms
    from fullspan.people.cli.running.summary import print_block

    lines, *tables = shown_by_terms(fitted, STRONGEST, terms=False, whole=False).blocks
    print_block(lines)
    typer.echo(f"learned in {seconds:.1f} s")
    _heading("The strongest interactions", "Which votes go together, beyond what the others already explain.")
    for block in tables:
        print_block(block)


def _ask(fitted: Fitted) -> None:
    from fullspan.query.distributions.log_linear import LogLinearDistribution

    _heading("Two questions", "Answers are exact under the model: nothing is sampled.")
    distribution = LogLinearDistribution(fitted.model)
    for question in QUESTIONS:
        typer.echo(f"{question} = {distribution.probability(question):.4f}")


def _report(folder: Path) -> None:
    from fullspan.datasets import house_votes_path
    from fullspan.estimators.registry import load
    from fullspan.people.cli.running.files import write_text
    from fullspan.people.report.content import gather
    from fullspan.people.report.page import page

    content = gather(load(folder / "votes.fsm"), house_votes_path(), title="House votes 1984")
    write_text(folder / "report.html", page(content))


def _farewell(folder: Path) -> None:
    _heading("Written", f"{folder}/votes.fsm (the model), {folder}/report.html (all of this as a page)")
    typer.echo("Try next:")
    for arguments in (
        f"show {folder}/votes.fsm",
        f'query {folder}/votes.fsm "P(party | crime=n, water=y)"',
        f'sample {folder}/votes.fsm -n 5 --given "party=republican"',
    ):
        typer.echo(f"  {_program()} {arguments}")


def _program() -> str:
    """How to call the program from here: by name if the shell finds it, else by its path."""
    script = Path(sys.argv[0])
    if shutil.which("fullspan") or script.name != "fullspan":
        return "fullspan"
    return os.path.relpath(script)


def _heading(title: str, text: str) -> None:
    from rich.rule import Rule

    from fullspan.people.cli.running.summary import console

    out = console()
    out.print()
    out.print(Rule(title, align="left", characters="─"), width=min(out.width, 100))
    out.print(text)
