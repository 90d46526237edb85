"""Rows of marks with standard errors: many things measured by several methods, one row each, one lane per method.

Shape and colour name the method, so that colour never speaks alone; marks of one row stand below each other and hide
none. As an SVG file of its own, light and dark by the reader's setting.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import dataclass

from fullspan.pictures.chart import ticks
from fullspan.pictures.legend import DARK, LIGHT, css_variables

_LANE, _PAD, _TOP, _BOTTOM, _PLOT = 8.0, 5.0, 98, 56, 520
_LETTER_WIDTH = 7.0
_SHAPES = {
    "circle": "M-{r} 0a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z",
    "square": "M-{s} -{s}h{e}v{e}h-{e}z",
    "diamond": "M0 -{t}L{t} 0L0 {t}L-{t} 0z",
    "up": "M0 -{t}L{t} {s}L-{t} {s}z",
    "down": "M0 {t}L{t} -{s}L-{t} -{s}z",
    "cross": "M-{s} -{s}L{s} {s}M-{s} {s}L{s} -{s}",
    "plus": "M-{t} 0L{t} 0M0 -{t}L0 {t}",
    "bar": "M0 -{t}L0 {t}",
}
"""Paths by name, in terms of a size."""


@dataclass(frozen=True)
class Method:
    """A name with its mark: a shape, a role of the palette, whether it is filled, and whether it stands out."""

    name: str
    shape: str
    role: str
    filled: bool = False
    strong: bool = False


@dataclass(frozen=True)
class Row:
    """A label, a note at its right, and (value, error) of some methods by name."""

    label: str
    note: str
    marks: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Dots:
    """What is drawn; values outside the range stand at its edge as arrows.

    ``headings`` are those of the labels and of the notes.
    """

    title: str
    x_label: str
    headings: tuple[str, str]
    methods: tuple[Method, ...]
    rows: tuple[Row, ...]
    low: float
    high: float

    @property
    def row_height(self) -> float:
        """Of one row, a lane for each method."""
        return 2 * _PAD + _LANE * max(len(self.methods), 2)


def dots(picture: Dots) -> str:
    """The picture as the text of an SVG file."""
    left = 16 + _LETTER_WIDTH * max(map(len, [picture.headings[0], *(row.label for row in picture.rows)]))
    right = 24 + _LETTER_WIDTH * max(map(len, [picture.headings[1], *(row.note for row in picture.rows)]))
    width, bottom = left + _PLOT + right, _TOP + picture.row_height * len(picture.rows)
    height = bottom + _BOTTOM
    frame = _Frame(left, left + _PLOT, picture.low, picture.high)
    parts = [*_legend(picture, left), *_grid(picture, frame, bottom)]
    parts += [_text(left - 10, _TOP - 8, picture.headings[0], "end", muted=True)]
    parts += [_text(left + _PLOT + 12, _TOP - 8, picture.headings[1], "start", muted=True)]
    for k, row in enumerate(picture.rows):
        parts += _row(picture, row, frame, _TOP + k * picture.row_height, width)
    style = f"svg{{{css_variables(LIGHT)}}}@media(prefers-color-scheme:dark){{svg{{{css_variables(DARK)}}}}}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'font-family="sans-serif" font-size="13" aria-label="{html.escape(picture.title)}"><style>{style}</style>'
        f'<rect width="100%" height="100%" fill="var(--paper)"/>{"".join(parts)}</svg>\n'
    )


@dataclass(frozen=True)
class _Frame:
    """From values to pixels."""

    left: float
    right: float
    low: float
    high: float

    def x(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.left + share * (self.right - self.left)


def _legend(picture: Dots, left: float) -> Iterator[str]:
    yield _text(left, 24, picture.title, "start", size=15)
    x, y = left, 50.0
    for method in picture.methods:
        if x > left and x + 20 + _LETTER_WIDTH * len(method.name) > left + _PLOT + 140:
            x, y = left, y + 20
        yield _mark(method, x + 6, y - 4)
        yield _text(x + 16, y, method.name, "start", bold=method.strong)
        x += 28 + _LETTER_WIDTH * len(method.name)


def _grid(picture: Dots, frame: _Frame, bottom: float) -> Iterator[str]:
    for tick in ticks(picture.low, picture.high, 6):
        x = frame.x(tick)
        strong = "muted" if tick in (0.0, 1.0) else "grid"
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom:.1f}" stroke="var(--{strong})"/>'
        yield _text(x, bottom + 18, f"{tick:g}", "middle")
    yield _text((frame.left + frame.right) / 2, bottom + 40, picture.x_label, "middle", muted=True)


def _row(picture: Dots, row: Row, frame: _Frame, top: float, width: float) -> Iterator[str]:
    middle = top + picture.row_height / 2
    yield f'<line x1="8" x2="{width - 8:.0f}" y1="{top:.1f}" y2="{top:.1f}" stroke="var(--grid)"/>'
    yield _text(frame.left - 10, middle + 4.5, row.label, "end")
    yield _text(frame.right + 12, middle + 4.5, row.note, "start", muted=True)
    for lane, method in enumerate(picture.methods):
        if method.name not in row.marks:
            continue
        value, error = row.marks[method.name]
        y = top + _PAD + _LANE * (lane + 0.5)
        words = f"{row.label}, {method.name}: {value:.3f} ± {error:.3f}"
        yield f"<g><title>{html.escape(words)}</title>{''.join(_measured(method, value, error, frame, y))}</g>"


def _measured(method: Method, value: float, error: float, frame: _Frame, y: float) -> Iterator[str]:
    """The whisker and the mark; what lies outside is an arrow at the edge."""
    colour = f"var(--{method.role})"
    if not frame.low <= value <= frame.high:
        x, sign = frame.x(value), -1 if value < frame.low else 1
        yield f'<path d="M{x + 5 * sign:.1f} {y:.1f}l{-6 * sign} -3.5v7z" fill="{colour}"/>'
        return
    a, b = frame.x(value - error), frame.x(value + error)
    if math.isfinite(error) and b - a > 1:
        look = f'stroke="{colour}" stroke-width="1.3" stroke-opacity=".8"'
        yield f'<line x1="{a:.1f}" x2="{b:.1f}" y1="{y:.1f}" y2="{y:.1f}" {look}/>'
    yield _mark(method, frame.x(value), y)


def _mark(method: Method, x: float, y: float) -> str:
    size = 4.1 if method.strong else 3.4
    sizes = {"r": size, "d": 2 * size, "s": 0.85 * size, "e": 1.7 * size, "t": 1.2 * size}
    path = _SHAPES[method.shape].format(**{k: f"{v:.2f}" for k, v in sizes.items()})
    fill = f"var(--{method.role})" if method.filled else "var(--paper)"
    return (
        f'<path transform="translate({x:.1f} {y:.1f})" d="{path}" fill="{fill}" stroke="var(--{method.role})" '
        'stroke-width="1.4"/>'
    )


def _text(
    x: float, y: float, text: str, anchor: str, *, muted: bool = False, size: int = 13, bold: bool = False
) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{weight} '
        f'fill="var(--{"muted" if muted else "ink"})">{html.escape(text)}</text>'
    )
