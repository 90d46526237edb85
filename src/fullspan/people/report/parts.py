"""What a report is put together from: figures, tables with bars, numbers."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from fullspan.pictures.shares import Shares

SHOWN_ROWS = 25
"""Rows in the open part of a long table."""
Rows = Sequence[tuple[Sequence[str], float | None]]
"""Cells of a row, and the length of its bar, from 0 to 1."""


def figure(picture: str, caption: str, *, tall: bool = False, narrow: str = "") -> str:
    """A picture with its caption; on a narrow screen another one is shown; a tall one has more of a page."""
    attributes = ' class="tall"' if tall else ""
    shown = f'<div class="wide">{picture}</div><div class="narrow">{narrow}</div>' if narrow else picture
    return f"<figure{attributes}>{shown}{f'<figcaption>{caption}</figcaption>' if caption else ''}</figure>"


def folded(head: Sequence[str], rows: Rows, roles: Sequence[str] = ()) -> str:
    """The first rows, and the others to unfold."""
    text = table(head, rows[:SHOWN_ROWS], roles=roles[:SHOWN_ROWS])
    if len(rows) > SHOWN_ROWS:
        rest = table(head, rows[SHOWN_ROWS:], roles=roles[SHOWN_ROWS:])
        more = f"{len(rows) - SHOWN_ROWS:,} more"
        text += f"<details><summary>{more}</summary>{rest}</details>"
        text += f'<p class="unfolded">{more} are on the page that this was printed from.</p>'
    return text


def table(head: Sequence[str], rows: Rows, best: Sequence[bool] = (), roles: Sequence[str] = ()) -> str:
    """First column text, others numbers, then a bar where there is one, in the colour of its role."""
    bars = any(bar is not None for _, bar in rows)
    names = "".join(
        f'<th scope="col"{" class=t" if j == 0 else ""}>{html.escape(name)}</th>' for j, name in enumerate(head)
    )
    body = []
    for k, (cells, bar) in enumerate(rows):
        text = "".join(
            f"<td class=t>{html.escape(cell)}</td>" if j == 0 else _cell(head[j], cell) for j, cell in enumerate(cells)
        )
        if bars:
            share = bar if bar is not None and math.isfinite(bar) else 0.0
            colour = f";background:var(--{roles[k]})" if roles else ""
            text += f'<td class="w"><span class="bar" style="width:{100 * max(share, 0.0):.1f}%{colour}"></span></td>'
        body.append(f"<tr{' class=best' if best and best[k] else ''}>{text}</tr>")
    extra = "<td></td>" if bars else ""
    head_row, rows_text = f"<tr>{names}{extra}</tr>", "".join(body)
    return f'<div class="table" tabindex="0"><table><thead>{head_row}</thead><tbody>{rows_text}</tbody></table></div>'


def _cell(heading: str, text: str) -> str:
    """A number with its heading, which stands above it where the screen is too narrow for columns."""
    return f'<td data-h="{html.escape(heading)}">{html.escape(text)}</td>'


def shares(picture: Shares, role: str) -> str:
    """Bars for the model, dots with intervals for the data; a table to those who do not see it."""
    heads = "".join(f'<th scope="col" class=t>{html.escape(name)}</th>' for name in picture.columns)
    rows = []
    for i, label in enumerate(picture.rows):
        cells = "".join(_share(picture, i, j) for j in range(len(picture.columns)))
        rows.append(f'<tr><th scope="row" class=t>{html.escape(label)}</th>{cells}</tr>')
    first = f'<th scope="col" class=t>{html.escape(picture.heading)}</th>'
    body = f"<thead><tr>{first}{heads}</tr></thead><tbody>{''.join(rows)}</tbody>"
    title = picture.title + (f" ({picture.left_out})" if picture.left_out else "")
    table = f'<table class="shares" style="--bar:var(--{role})"><caption>{html.escape(title)}</caption>{body}</table>'
    return f'<div class="table" tabindex="0">{table}</div>'


def _share(picture: Shares, i: int, j: int) -> str:
    model, data = float(picture.model[i, j]), picture.data(i, j)
    low, high = picture.interval(i, j)
    marks, words = "", f"model {model:.1%}"
    if not math.isnan(data):
        marks = f'<i class="range" style="left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%"></i>'
        marks += f'<i class="dot" style="left:{100 * data:.1f}%"></i>'
        words = f"data {data:.1%}, {words}"
    bar = f'<i class="model" style="width:{100 * model:.1f}%"></i>'
    column = f' data-h="{html.escape(picture.columns[j])}"' if len(picture.columns) > 1 else ""
    return f'<td{column}><span class="track">{bar}{marks}</span><span class="said">{words}</span></td>'


def sentence(words: str) -> str:
    """The same words with a capital first letter."""
    return words[:1].upper() + words[1:]


def number(value: float, digits: int = 3) -> str:
    """A number, or a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:+}" if math.isinf(value) else f"{value:.{digits}f}"
