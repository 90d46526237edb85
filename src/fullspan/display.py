"""Tables as notebooks show them: plain HTML that takes the colours of the page, light or dark."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from decimal import Decimal

_CELL = "padding:.2em .8em .2em 0;border-bottom:1px solid rgba(128,128,128,.25);vertical-align:baseline"
_NUMBERS = "text-align:right;font-variant-numeric:tabular-nums"
_WHOLE = f"{_NUMBERS};white-space:nowrap"
_BAR = "display:inline-block;height:.65em;border-radius:2px;vertical-align:baseline"
BAR_WIDTH = 120
"""Pixels of a bar of length 1."""
BLUE = "#0072b2"


def html_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    notes: Sequence[str] = (),
    bars: Sequence[float] | None = None,
    colours: Sequence[str] | None = None,
    n_text: int = 1,
) -> str:
    """A table whose first ``n_text`` columns are text and whose others are numbers.

    Parameters
    ----------
    bars : a length from 0 to 1 for each row, drawn behind its last cell.
    colours : of the bars, blue if there are none.
    notes : lines below the table.

    Examples
    --------
    >>> "&lt;b&gt;" in html_table(["name"], [["<b>"]])
    True
    """
    head = "".join(
        f'<th scope="col" style="{_CELL};{"text-align:left" if j < n_text else _NUMBERS}">{html.escape(text)}</th>'
        for j, text in enumerate(headings)
    )
    body = "".join(
        _row(cells, n_text, None if bars is None else bars[k], BLUE if colours is None else colours[k])
        for k, cells in enumerate(rows)
    )
    caption = f'<div style="font-weight:600;margin:.4em 0">{html.escape(title)}</div>' if title else ""
    below = "".join(f'<div style="opacity:.75;font-size:90%">{html.escape(note)}</div>' for note in notes)
    table = f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f"<div>{caption}{table}{below}</div>"


def _row(cells: Sequence[str], n_text: int, bar: float | None, colour: str) -> str:
    parts = [
        f'<td style="{_CELL};{"text-align:left" if j < n_text else _WHOLE}">{html.escape(text)}</td>'
        for j, text in enumerate(cells)
    ]
    if bar is not None:
        width = round(BAR_WIDTH * min(max(bar, 0.0), 1.0))
        look = f"{_BAR};background:{colour};width:{width}px"
        parts.append(f'<td style="{_CELL};text-align:left"><span style="{look}"></span></td>')
    return f"<tr>{''.join(parts)}</tr>"


WRITTEN_OUT = 10**7
"""Numbers below it are written out: a reader grasps up to seven digits."""
_LONG = 10**12
"""From here on a number is rounded to a power of two."""
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_of_ten(n: int) -> str:
    """A number, to two digits where it is large.

    Examples
    --------
    >>> power_of_ten(131_072), power_of_ten(905_969_664)
    ('131,072', '9.1·10⁸')
    """
    if n < WRITTEN_OUT:
        return f"{n:,}"
    digits, power = f"{Decimal(n):.1e}".split("e+")
    return f"{digits.removesuffix('.0')}·10{power.translate(_SUPERSCRIPTS)}"


def power_of_two(n: int) -> str:
    """A number as a power of two: an exact one from seven digits on, any from twelve on.

    Examples
    --------
    >>> power_of_two(131_072), power_of_two(2**40), power_of_two(3**15), power_of_two(3**50)
    ('131,072', '2^40', '14,348,907', 'about 2^79')
    """
    if n >= WRITTEN_OUT and n & (n - 1) == 0:
        return f"2^{n.bit_length() - 1}"
    return f"{n:,}" if n < _LONG else f"about 2^{round(math.log2(n))}"
