"""Printing: JSON, tables and what is shown of a model, to a terminal or a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import typer

from fullspan.people.cli.running.interrupt import INTERRUPTED

if TYPE_CHECKING:
    from rich.console import Console

    from fullspan.estimators.explain.shown import Rows, Shown

FILE_WIDTH = 200
"""Columns assumed where the output is no terminal, so that nothing wraps."""


def console() -> Console:
    """A console on standard output, that leaves marks such as ``[0, 1)`` alone."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else FILE_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)


def print_json(value: Any) -> None:
    """One JSON document on standard output; infinite numbers are null."""
    print(json.dumps(_finite(value), ensure_ascii=False, indent=2, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value


def print_shown(shown: Shown) -> None:
    """What is said of a model, for people."""
    for block in shown.blocks:
        print_block(block)


def print_block(block: str | Rows) -> None:
    """Lines of text, or a table and how many of its rows were left out."""
    if isinstance(block, str):
        if sys.stdout.isatty():
            print(_broken(block, console().width))
        else:
            print(block)
        return
    if len(block.cells):
        print_rows(block.headings, block.cells)
    if block.n_more:
        print(f"... and {block.n_more} more")


def _broken(text: str, width: int) -> str:
    """Lines broken between words; what goes on from an indented one is indented further."""
    lines = []
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        lines += wrap(line, width, subsequent_indent=" " * (indent + 2) if indent else "") or [""]
    return "\n".join(lines)


def print_rows(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """A table whose first column is text and whose others are numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for j, heading in enumerate(headings):
        table.add_column(heading, justify="left" if j == 0 else "right", no_wrap=j > 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console().print(table)


STRONGEST = 5
"""Interactions or edges shown after a fit."""


def print_fit(estimator: Any, more: dict[str, Any], *, as_json: bool) -> None:
    """Print what was fitted; ``more`` has the file and the seconds."""
    _print_notes(estimator)
    shown = estimator._shown(STRONGEST, whole=False)
    if as_json:
        print_json({**more, **shown.facts})
        return
    print_shown(shown)
    fitted = "" if more["seconds"] is None else f"fitted in {more['seconds']:.1f} s, "
    typer.echo(f"{fitted}written to {more['file']}")


def _print_notes(estimator: Any) -> None:
    """Where the fit ran, and why: the engine, and the device of a table that is worth a GPU."""
    from fullspan.people.cli.running.messages import as_options

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
