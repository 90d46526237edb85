"""What a report is put together from: figures, tables with bars, numbers."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

SHOWN = 25
"""Rows in the open part of a long table."""
Rows = Sequence[tuple[Sequence[str], float | None]]
"""Cells of a row, and the length of its bar, from 0 to 1."""


def figure(picture: str, caption: str, *, wide: bool = False) -> str:
    """A picture with its caption; a wide one scrolls."""
    scrolls = ' class="wide" tabindex="0"' if wide else ""
    return f"<figure{scrolls}>{picture}{f'<figcaption>{caption}</figcaption>' if caption else ''}</figure>"


def folded(head: Sequence[str], rows: Rows, roles: Sequence[str] = ()) -> str:
    """The first rows, and the others to unfold."""
    text = table(head, rows[:SHOWN], roles=roles[:SHOWN])
    if len(rows) > SHOWN:
        rest = table(head, rows[SHOWN:], roles=roles[SHOWN:])
        text += f"<details><summary>All {len(rows):,}</summary>{rest}</details>"
    return text


def table(head: Sequence[str], rows: Rows, best: Sequence[bool] = (), roles: Sequence[str] = ()) -> str:
    """First column text, others numbers, then a bar where there is one, in the colour of its role."""
    bars = any(bar is not None for _, bar in rows)
    names = "".join(
        f'<th scope="col"{" class=t" if j == 0 else ""}>{html.escape(name)}</th>' for j, name in enumerate(head)
    )
    body = []
    for k, (cells, bar) in enumerate(rows):
        text = "".join(f"<td{' class=t' if j == 0 else ''}>{html.escape(cell)}</td>" for j, cell in enumerate(cells))
        if bars:
            share = bar if bar is not None and math.isfinite(bar) else 0.0
            colour = f";background:var(--{roles[k]})" if roles else ""
            text += f'<td class="w"><span class="bar" style="width:{100 * max(share, 0.0):.1f}%{colour}"></span></td>'
        body.append(f"<tr{' class=best' if best and best[k] else ''}>{text}</tr>")
    extra = "<td></td>" if bars else ""
    head_row, rows_text = f"<tr>{names}{extra}</tr>", "".join(body)
    return f'<div class="table" tabindex="0"><table><thead>{head_row}</thead><tbody>{rows_text}</tbody></table></div>'


def sentence(words: str) -> str:
    """The same words with a capital first letter."""
    return words[:1].upper() + words[1:]


def number(value: float, digits: int = 3) -> str:
    """A number, or a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:+}" if math.isinf(value) else f"{value:.{digits}f}"
