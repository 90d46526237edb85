"""Pictures as inline SVG. Colours are custom properties of the page: one picture serves light, dark and print."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fullspan.pictures.chart import Bars, Chart, Series, ticks
from fullspan.pictures.interactions import InteractionGraph
from fullspan.pictures.labels import LABEL, LABEL_LINES, extent, lines
from fullspan.pictures.legend import N_GROUPS, ROLES, Key

LETTER_WIDTH = 7.2
"""Width of a letter at 13 pixels."""
_MARK, _KEY_ROW = 34, 22
"""Width of the mark of a legend's entry, and height of a line of entries."""


def text(x: float, y: float, words: str, anchor: str, *, muted: bool = False, size: int = 13) -> str:
    """A line of text."""
    colour = "muted" if muted else "ink"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="var(--{colour})">'
        f"{html.escape(words)}</text>"
    )


def text_lines(x: float, y: float, words: Sequence[str], anchor: str, *, size: int = 13, title: str = "") -> str:
    """Lines of text around a height; what was left out of them is the title that a pointer shows."""
    step = 1.25 * size
    top = y + 0.35 * size - step * (len(words) - 1) / 2
    drawn = "".join(text(x, top + k * step, line, anchor, size=size) for k, line in enumerate(words))
    return f"<g><title>{html.escape(title)}</title>{drawn}</g>" if title else drawn


def legend(keys: Sequence[Key], left: float, top: float, right: float) -> tuple[list[str], float]:
    """Entries from left to right on as many lines as they need, and the height of these."""
    parts, x, y = [], left, top
    for key in keys:
        width = _MARK + 8 + LETTER_WIDTH * extent(key.text)
        if x > left and x + width > right:
            x, y = left, y + _KEY_ROW
        parts.append(f'<g class="key">{_mark(key, x, y + _KEY_ROW / 2)}')
        parts.append(text(x + _MARK + 8, y + _KEY_ROW / 2 + 4.5, key.text, "start") + "</g>")
        x += width + 24
    return parts, y + _KEY_ROW - top if keys else 0.0


def _mark(key: Key, x: float, y: float) -> str:
    colour = f"var(--{key.roles[0]})"
    if key.mark == "areas":
        each = _MARK / len(key.roles)
        return "".join(
            f'<rect x="{x + k * each:.1f}" y="{y - 7}" width="{each:.1f}" height="14" fill="var(--{role})" '
            'fill-opacity=".3"/>'
            for k, role in enumerate(key.roles)
        )
    if key.mark == "bar":
        return f'<rect x="{x}" y="{y - 6}" width="{_MARK}" height="12" rx="2" fill="{colour}" fill-opacity=".85"/>'
    if key.mark == "dot":
        return f'<circle cx="{x + _MARK / 2}" cy="{y}" r="5" fill="{colour}" fill-opacity=".85"/>'
    if key.mark == "arrow":
        return f'<path d="{arrow(x + _MARK, y, 1)}" fill="{colour}"/>'
    if key.mark == "widths":
        paths = [(f"M{x + k * 12} {y}h10", width) for k, width in enumerate((1.2, 4.0, 7.7))]
    elif key.mark == "whisker":
        paths = [(f"M{x + 4} {y}h26m0 -4v8m-26 0v-8", 1.3)]
    else:
        paths = [(f"M{x} {y}h{_MARK}", 3)]
    dash = ' stroke-dasharray="7 5"' if key.mark == "dashed" else ""
    return "".join(f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="{w}"{dash}/>' for d, w in paths)


def arrow(x: float, y: float, sign: int) -> str:
    """The path of an arrowhead whose tip is at x."""
    return f"M{x:.1f} {y:.1f}l{-9 * sign} -8v16z"


def document(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    """The picture as inline SVG that is as wide as the page allows."""
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{html.escape(label)}" '
        f'style="max-width:{width:.0f}px">{"".join(parts)}</svg>'
    )


_W, _H = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 16, 12, 48
_TELEPHONE_WIDTH = 344
"""Width for a telephone."""
_ROW, _LINE = 26, 16
"""Height of a bar's row, and of each further line of its label."""


def graph(picture: InteractionGraph, label: str) -> str:
    """The interaction graph: groups shaded below, pairs as lines, labels above, and the legend under it all."""
    aspect, scale = picture.frame.aspect, 15 if picture.frame.aspect > 1 else 12
    height = scale / 15 * 640 / picture.frame.letters
    width, bottom = aspect * height, picture.tall * height
    at = picture.at * (width, bottom)
    parts = [*_groups(picture, at), *_edges(picture, at), *_nodes(picture, at, width, bottom, scale)]
    key, more = legend(picture.keys, 8, bottom + 10, width)
    return document(width, bottom + 10 + more, label, [*parts, *key])


def _groups(picture: InteractionGraph, at: np.ndarray) -> Iterator[str]:
    for k, group in reversed(list(enumerate(picture.groups))):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in hull(at[list(group.nodes)]))
        names = ", ".join(picture.names[i] for i in group.nodes)
        colour = f"var(--group{k % N_GROUPS})"
        yield (
            f'<g opacity=".22"><title>{html.escape(names)}</title><polygon '
            f'points="{points}" fill="{colour}" stroke="{colour}" stroke-width="58" stroke-linejoin="round"/></g>'
        )


def hull(points: np.ndarray) -> list[tuple[float, float]]:
    """Corners of the convex hull, in order (Andrew's monotone chain)."""
    ordered = sorted({(float(x), float(y)) for x, y in points})

    def half(path: list[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for p in path:
            while len(kept) > 1 and _turn(kept[-2], kept[-1], p) <= 0:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return half(ordered) + half(ordered[::-1]) if len(ordered) > 2 else ordered


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _edges(picture: InteractionGraph, at: np.ndarray) -> Iterator[str]:
    for edge in reversed(picture.edges):
        (x1, y1), (x2, y2) = at[edge.nodes[0]], at[edge.nodes[1]]
        role, dash = ROLES[edge.direction], ' stroke-dasharray="7 5"' if edge.direction < 0 else ""
        names = " – ".join(picture.names[i] for i in edge.nodes)
        yield (
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="var(--{role})" stroke-width='
            f'"{1.2 + 6.5 * edge.strength**0.7:.1f}" stroke-opacity="{0.45 + 0.5 * edge.strength**0.5:.2f}"{dash}>'
            f"<title>{html.escape(names)}</title></line>"
        )


def _nodes(picture: InteractionGraph, at: np.ndarray, width: float, height: float, letters: int) -> Iterator[str]:
    sizes = picture.sizes * (width, height)
    for (x, y), (w, h), name, label in zip(at, sizes, picture.names, picture.labels, strict=True):
        yield (
            f'<rect x="{x - w / 2:.1f}" y="{y - h / 2:.1f}" width="{w:.1f}" height="{h:.1f}" rx="16" '
            f'fill="var(--paper)" stroke="var(--muted)"/>{text_lines(x, y, label, "middle", size=letters, title=name)}'
        )


def chart(picture: Chart, *, narrow: bool = False) -> str:
    """A chart with its axes."""
    height = 0.75 * _H if narrow else _H
    width = height + _LEFT - _BOTTOM if picture.square else _TELEPHONE_WIDTH if narrow else _W
    (x0, x1), (y0, y1) = picture.ranges()
    frame = _Frame(_LEFT, width - _RIGHT, _TOP, height - _BOTTOM, x0, x1, y0, y1)
    parts = [*_axes(frame, picture)]
    for series in picture.series:
        parts += _series(series, frame)
    key, more = legend(picture.keys, 20, height, width)
    return document(width, height + more, picture.title, [*parts, *key])


class _Frame(NamedTuple):
    """From numbers to pixels."""

    left: float
    right: float
    top: float
    bottom: float
    x0: float
    x1: float
    y0: float
    y1: float

    def x(self, value: float) -> float:
        return self.left + (value - self.x0) / (self.x1 - self.x0) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.bottom - (value - self.y0) / (self.y1 - self.y0) * (self.bottom - self.top)


def _axes(f: _Frame, picture: Chart) -> Iterator[str]:
    for tick in ticks(f.y0, f.y1):
        y = f.y(tick)
        yield f'<line x1="{f.left}" x2="{f.right}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--grid)"/>'
        yield text(f.left - 8, y + 4, f"{tick:g}", "end")
    for tick in ticks(f.x0, f.x1, whole=picture.whole_x):
        yield text(f.x(tick), f.bottom + 18, f"{tick:g}", "middle")
    yield f'<line x1="{f.left}" x2="{f.right}" y1="{f.bottom}" y2="{f.bottom}" stroke="var(--muted)"/>'
    yield text((f.left + f.right) / 2, f.bottom + 38, picture.x_label, "middle", muted=True)
    middle = (f.top + f.bottom) / 2
    yield (
        f'<text x="14" y="{middle:.0f}" transform="rotate(-90 14 {middle:.0f})" text-anchor="middle" '
        f'font-size="13" fill="var(--muted)">{html.escape(picture.y_label)}</text>'
    )


def _series(s: Series, f: _Frame) -> Iterator[str]:
    points = [(f.x(x), f.y(y)) for x, y in zip(s.x, s.y, strict=True) if math.isfinite(y)]
    colour = f"var(--{s.role})"
    if s.mark == "line":
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = ' stroke-dasharray="5 5"' if s.dashed else ""
        look = f'fill="none" stroke="{colour}" stroke-width="2"{dash} stroke-linejoin="round"'
        yield f'<polyline points="{path}" {look}/>'
        return
    for k, (x, y) in enumerate(points):
        if s.errors and math.isfinite(s.errors[k]):
            a, b = f.y(s.y[k] - s.errors[k]), f.y(s.y[k] + s.errors[k])
            yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{a:.1f}" y2="{b:.1f}" stroke="{colour}" stroke-width="1.5"/>'
        size = s.sizes[k] if s.sizes else 4.0
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" fill="{colour}" fill-opacity=".85"/>'


def bars(picture: Bars, *, narrow: bool = False) -> str:
    """Horizontal bars with labels to the left, above if ``narrow``; words to the right, the legend below."""
    labels = [lines(label, 36 if narrow else LABEL, LABEL_LINES) for label in picture.labels]
    texts = picture.texts or ("",) * len(labels)
    left = 12 if narrow else 26 + LETTER_WIDTH * max((extent(line) for label in labels for line in label), default=0)
    right = 28 + LETTER_WIDTH * max(map(extent, texts), default=0)
    tops = np.cumsum([_TOP, *(_ROW + _LINE * (len(label) - (not narrow)) for label in labels)])
    width, bottom = _TELEPHONE_WIDTH if narrow else max(_W, left + right + 320), float(tops[-1])
    low, high = picture.range()
    f = _Frame(left, width - right, _TOP, bottom, low, high, 0, 1)
    parts = [
        f'<line x1="{f.x(t):.1f}" x2="{f.x(t):.1f}" y1="{f.top}" y2="{f.bottom}" stroke="var(--grid)"/>'
        + text(f.x(t), f.bottom + 18, f"{t:g}", "middle")
        for t in ticks(low, high)
    ]
    for k, label in enumerate(labels):
        y = float(tops[k + 1]) - _ROW / 2 if narrow else float(tops[k] + tops[k + 1]) / 2
        x, middle, anchor = (2, y - (_ROW + _LINE * len(label)) / 2, "start") if narrow else (f.left - 14, y, "end")
        drawn = text_lines(x, middle, label, anchor, title=picture.labels[k])
        parts.append(f'<g class="over">{drawn}</g>' if narrow else drawn)
        parts.append(text(f.right + 16, y + 4.5, texts[k], "start", muted=True) if texts[k] else "")
        parts += _bar(picture, k, y, f)
    parts.append(f'<line x1="{f.x(0):.1f}" x2="{f.x(0):.1f}" y1="{f.top}" y2="{f.bottom}" stroke="var(--muted)"/>')
    parts.append(text((f.left + f.right) / 2, f.bottom + 38, picture.x_label, "middle", muted=True))
    key, more = legend(picture.keys, 20, bottom + _BOTTOM, width)
    return document(width, bottom + _BOTTOM + more, picture.title, [*parts, *key])


def _bar(picture: Bars, k: int, y: float, f: _Frame) -> Iterator[str]:
    """A bar around the height y with its whisker, or with an arrow at the edge."""
    value, colour = picture.values[k], f"var(--{picture.role(k)})"
    if math.isnan(value):
        return
    a, b = sorted((f.x(0), f.x(min(max(value, f.x0), f.x1))))
    half = (_ROW - 10) / 2
    yield (
        f'<rect x="{a:.1f}" y="{y - half:.1f}" width="{b - a:.1f}" height="{2 * half:.0f}" rx="2" fill="{colour}" '
        'fill-opacity=".85"/>'
    )
    if math.isinf(value):
        yield f'<path d="{arrow(*((b + 8, y, 1) if value > 0 else (a - 8, y, -1)))}" fill="{colour}"/>'
    if (ends := picture.whiskers(k)) is not None:
        caps = "".join(f"M{f.x(end):.1f} {y - 4:.1f}v8" for end in ends if abs(end) < picture.limit)
        line = f"M{f.x(ends[0]):.1f} {y:.1f}H{f.x(ends[1]):.1f}{caps}"
        yield f'<path d="{line}" stroke="var(--ink)" stroke-width="1.3" fill="none"/>'
