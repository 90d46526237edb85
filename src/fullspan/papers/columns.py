"""Rows of text under a head, in columns, as the experiments print them."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Lines of a table: the head, a rule, the rows. Columns ``left`` are words, the others end at the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for row in (head, *rows):
        cells = [c.ljust(w) if j in left else c.rjust(w) for j, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]
