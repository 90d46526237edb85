"""Families of curves as text for a terminal and as SVG: no plotting library is needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np

from fullspan.arrays import Array

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 420, 260, 64, 34, 40
"""Size of a panel in an SVG, and its margins."""
_COLOURS = (
    "#1b6ca8",
    "#c1440e",
    "#3a7d44",
    "#7d3a72",
    "#8a6d1f",
    "#2a9d9d",
    "#a83252",
    "#5b5b9f",
    "#6d8a1f",
    "#555555",
)


@dataclass(frozen=True)
class Panel:
    """Curves (runs, points) over the iterations 0, 1, ..., with a title; a logarithmic or a linear axis.

    ``across`` says what is counted where it is not iterations, and ``evenly`` that a text plot has it evenly spaced.
    """

    title: str
    values: Array
    logarithmic: bool = False
    across: str = "iteration"
    evenly: bool = False

    def heights(self) -> tuple[Array, float, float]:
        """The values on the axis, and its ends: whole powers of ten, or 0 and a round number."""
        if self.logarithmic:
            positive = self.values[self.values > 0]
            least = float(positive.min()) if positive.size else 1.0
            on_axis = np.log10(np.maximum(self.values, least))
            low, high = math.floor(on_axis.min()), math.ceil(on_axis.max())
            return on_axis, float(low), float(max(high, low + 1))
        top = float(self.values.max())
        unit = math.pow(10.0, math.floor(math.log10(top))) if top > 0 else 1.0
        return self.values, 0.0, float(max(unit * math.ceil(top / unit), unit))

    def label(self, height: float) -> str:
        """A number on the axis."""
        return f"1e{height:.0f}" if self.logarithmic else f"{height:g}"


def text_plot(panel: Panel, width: int = 72, height: int = 14) -> list[str]:
    """The runs as dots and their median as stars, over the logarithm of the iteration."""
    on_axis, low, high = panel.heights()
    last = on_axis.shape[1] - 1
    canvas = [[" "] * width for _ in range(height)]
    for column in range(width):
        way = column / (width - 1)
        t = round(last * way) if panel.evenly else 0 if column == 0 else round(max(last, 1) ** way)
        t = min(t, last)
        for mark, values in ((".", on_axis[:, t]), ("*", np.median(on_axis[:, t : t + 1], axis=0))):
            for value in values:
                canvas[_row(float(value), low, high, height)][column] = mark
    ends = {0: panel.label(high), height - 1: panel.label(low)}
    lines = [f"{ends.get(r, ''):>7} |{''.join(row).rstrip()}" for r, row in enumerate(canvas)]
    words = panel.across if panel.evenly else f"{panel.across}, logarithmic"
    scale = f"{'0  ' if panel.evenly else '0 1'}{words:^{max(width - 4 - len(str(last)), 0)}}{last}"
    return [f"{panel.title} (. runs, * median)", *lines, " " * 8 + "+" + "-" * width, " " * 9 + scale]


def _row(value: float, low: float, high: float, height: int) -> int:
    return min(height - 1, max(0, round((high - value) / (high - low) * (height - 1))))


def svg(panels: Sequence[Panel], across: int = 2) -> str:
    """All panels in rows of ``across``, linear in the iteration; the median is drawn thick."""
    down = math.ceil(len(panels) / across)
    width, height = across * _WIDTH, down * _HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for k, panel in enumerate(panels):
        parts.append(f'<g transform="translate({k % across * _WIDTH},{k // across * _HEIGHT})">')
        parts += _panel(panel)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel) -> list[str]:
    on_axis, low, high = panel.heights()
    right, foot = _WIDTH - 16, _HEIGHT - _BOTTOM
    last: int = max(on_axis.shape[1] - 1, 1)

    def x(t: float) -> float:
        return _LEFT + (right - _LEFT) * t / last

    def y(v: float) -> float:
        return foot - (foot - _TOP) * (v - low) / (high - low)

    out = [f'<text x="{_LEFT}" y="20" font-size="13">{escape(panel.title)}</text>']
    for v in _ticks(low, high, panel.logarithmic):
        out.append(f'<line x1="{_LEFT}" x2="{right}" y1="{y(v):.1f}" y2="{y(v):.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{_LEFT - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{panel.label(v)}</text>')
    for t in (0, last // 2, last):
        out.append(f'<text x="{x(t):.1f}" y="{foot + 16}" text-anchor="middle">{t}</text>')
    out.append(
        f'<text x="{(right + _LEFT) / 2:.0f}" y="{foot + 32}" text-anchor="middle">{escape(panel.across)}</text>'
    )
    for r, row in enumerate(on_axis):
        out.append(_line(row, x, y, _COLOURS[r % len(_COLOURS)], 0.8))
    out.append(_line(np.median(on_axis, axis=0), x, y, "black", 1.8))
    out.append(
        f'<rect x="{_LEFT}" y="{_TOP}" width="{right - _LEFT}" height="{foot - _TOP}" fill="none" stroke="#444444"/>'
    )
    return out


def _ticks(low: float, high: float, logarithmic: bool) -> list[float]:
    step = max(1.0, math.ceil((high - low) / 6)) if logarithmic else (high - low) / 5
    return [low + k * step for k in range(math.floor((high - low) / step + 1e-9) + 1)]


def _line(row: Array, x: Callable[[float], float], y: Callable[[float], float], colour: str, width: float) -> str:
    points = " ".join(f"{x(t):.1f},{y(v):.1f}" for t, v in enumerate(row.tolist()))
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
