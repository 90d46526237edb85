"""Printing: JSON, tables and what is shown of a model, to a terminal or a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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
            console().print(block)  # which breaks lines between words
        else:
            print(block)
        return
    if len(block.cells):
        print_rows(block.headings, block.cells)
    if block.n_more:
        print(f"... and {block.n_more} more")


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
