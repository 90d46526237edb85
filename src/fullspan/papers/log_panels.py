"""Lines with error bars over logarithmic axes, side by side as SVG: no plotting library is needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_SIDE, _LEFT, _RIGHT, _TOP, _BOTTOM, _KEY = 400, 62, 14, 30, 44, 18
COLOURS = ("#1b6ca8", "#c1440e", "#3a7d44", "#7d3a72", "#8a6d1f", "#2a9d9d", "#a83252", "#5b5b9f", "#6d8a1f", "#555555")


@dataclass(frozen=True)
class Line:
    """Points with a name in the key; ``errors`` are drawn to both sides. NaN is left out."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    errors: tuple[float, ...] = ()
    dashed: bool = False


@dataclass(frozen=True)
class LogPanel:
    """Lines over a logarithmic x, and over a logarithmic y or one from 0 to 1."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    logarithmic: bool = True

    def ends(self) -> tuple[float, float, float, float]:
        """Of both axes: whole powers of ten, as exponents, or 0 and 1."""
        xs = [math.log10(x) for line in self.lines for x in line.x]
        ys = [math.log10(y) for line in self.lines for y in line.y if y > 0] if self.logarithmic else [0.0, 1.0]
        (x0, x1), (y0, y1) = ((math.floor(min(v) + 1e-9), math.ceil(max(v) - 1e-9)) for v in (xs, ys))
        return x0, max(x1, x0 + 1), y0, max(y1, y0 + 1)


def log_svg(panels: Sequence[LogPanel]) -> str:
    """All panels in a row, each with its key below."""
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    width, height = len(panels) * _SIDE, _SIDE + _KEY * (len(names) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for k, panel in enumerate(panels):
        parts += [f'<g transform="translate({k * _SIDE},0)">', *_panel(panel, names), "</g>"]
    for k, name in enumerate(names):
        colour, y = COLOURS[k % len(COLOURS)], _SIDE + _KEY * (k + 0.5)
        parts.append(f'<circle cx="{_LEFT}" cy="{y:.0f}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{_LEFT + 12}" y="{y + 4:.0f}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: LogPanel, names: list[str]) -> list[str]:
    x0, x1, y0, y1 = panel.ends()
    right, foot = _SIDE - _RIGHT, _SIDE - _BOTTOM

    def at(x: float, y: float) -> tuple[float, float]:
        height = math.log10(max(y, 10.0**y0)) if panel.logarithmic else min(max(y, 0.0), 1.0)
        across = (math.log10(x) - x0) / (x1 - x0)
        return _LEFT + (right - _LEFT) * across, foot - (foot - _TOP) * (height - y0) / (y1 - y0)

    out = [f'<text x="{_LEFT}" y="20" font-size="13">{escape(panel.title)}</text>']
    for power in range(int(x0), int(x1) + 1):
        out.append(f'<text x="{at(10.0**power, 1)[0]:.1f}" y="{foot + 16}" text-anchor="middle">1e{power}</text>')
    marks = [10.0**p for p in range(int(y0), int(y1) + 1)] if panel.logarithmic else [k / 5 for k in range(6)]
    for mark in marks:
        y = at(10.0**x0, mark)[1]
        label = f"1e{round(math.log10(mark))}" if panel.logarithmic else f"{mark:g}"
        out.append(f'<line x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    middle = (_TOP + foot) / 2
    out.append(
        f'<text x="{(_LEFT + right) / 2:.0f}" y="{foot + 34}" text-anchor="middle">{escape(panel.x_label)}</text>'
    )
    out.append(
        f'<text x="14" y="{middle:.0f}" transform="rotate(-90 14 {middle:.0f})" text-anchor="middle">'
        f"{escape(panel.y_label)}</text>"
    )
    for line in panel.lines:
        colour = COLOURS[names.index(line.name) % len(COLOURS)]
        points = [at(x, y) for x, y in zip(line.x, line.y, strict=True) if not math.isnan(y)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if line.dashed else ""
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{dash}/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        for x, y, error in zip(line.x, line.y, line.errors, strict=False):
            (a, low), (_, high) = at(x, y - error), at(x, y + error)
            out.append(f'<line x1="{a:.1f}" x2="{a:.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="{colour}"/>')
    out.append(
        f'<rect x="{_LEFT}" y="{_TOP}" width="{right - _LEFT}" height="{foot - _TOP}" fill="none" stroke="#444444"/>'
    )
    return out
