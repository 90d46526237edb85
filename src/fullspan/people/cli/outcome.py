"""What is printed after a fit: where it ran, what was found, and how it ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from fullspan.people.cli.interrupt import INTERRUPTED

STRONGEST = 5
"""Interactions or edges shown after a fit."""


def print_fit(estimator: Any, more: dict[str, Any], *, as_json: bool) -> None:
    """Print what was fitted; ``more`` has the file and the seconds."""
    from fullspan.people.cli.summary import print_json, print_shown

    _print_notes(estimator)
    shown = estimator._shown(STRONGEST, whole=False)
    if as_json:
        print_json({**more, **shown.facts})
        return
    print_shown(shown)
    typer.echo(f"fitted in {more['seconds']:.1f} s, written to {more['file']}")


def _print_notes(estimator: Any) -> None:
    """Where the fit ran, and why: the engine, and the device of a table that is worth a GPU."""
    from fullspan.people.cli.messages import as_options

    settings = estimator.fitted_.settings
    if "engine_reason" in settings:
        typer.echo(f"fitted {as_options(settings['engine_reason'])}", err=True)
    if settings.get("device_note"):
        typer.echo(settings["device_note"], err=True)


def closing(estimator: Any, output: Path, *, is_measured: bool) -> int:
    """Say how the fit ended, if it did not end well; the exit code."""
    from fullspan.estimators.explain.endings import ending_words

    is_stopped = estimator.status_ == "interrupted"
    if not is_measured:
        which = "best model so far" if is_stopped else "learned model"
        when = "interrupted while the fit was measured"
        typer.echo(f"fullspan: {when}; the {which} is in {str(output)!r}, without these measures", err=True)
        return INTERRUPTED
    if estimator.status_ == "diverged":
        ended = ending_words(estimator.fitted_)
        typer.echo(f"fullspan: {ended}; the weights kept are in {str(output)!r}", err=True)
    if is_stopped:
        typer.echo(f"fullspan: interrupted; the best model so far is in {str(output)!r}", err=True)
    return INTERRUPTED if is_stopped else 0
