"""Pictures as inline SVG. Colours are custom properties of the page: one picture serves light, dark and print."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator

import numpy as np

from fullspan.picture.chart import Bars, Chart, Series, ticks
from fullspan.picture.interactions import ASPECT, InteractionGraph
from fullspan.picture.palette import N_GROUPS

_W, _H = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 16, 12, 48
_ROW = 26


def graph(picture: InteractionGraph, label: str, height: int = 640) -> str:
    """The interaction graph: groups shaded below, pairs as lines, labels above."""
    width = round(ASPECT * height)
    at = picture.at * (width, height)
    parts = [*_groups(picture, at), *_edges(picture, at), *_nodes(picture, at, width, height)]
    return _svg(width, height, label, parts)


def _groups(picture: InteractionGraph, at: np.ndarray) -> Iterator[str]:
    for k, group in reversed(list(enumerate(picture.groups))):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in hull(at[list(group.nodes)]))
        names = ", ".join(picture.names[i] for i in group.nodes)
        colour = f"var(--group{k % N_GROUPS})"
        yield (
            f'<g opacity=".{round(14 + 14 * group.strength)}"><title>{html.escape(names)}</title><polygon '
            f'points="{points}" fill="{colour}" stroke="{colour}" stroke-width="58" stroke-linejoin="round"/></g>'
        )


def hull(points: np.ndarray) -> list[tuple[float, float]]:
    """Corners of the convex hull, in order (Andrew's monotone chain)."""
    ordered = sorted({(float(x), float(y)) for x, y in points})

    def half(way: list[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for p in way:
            while len(kept) > 1 and _turn(kept[-2], kept[-1], p) <= 0:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return half(ordered) + half(ordered[::-1]) if len(ordered) > 2 else ordered


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _edges(picture: InteractionGraph, at: np.ndarray) -> Iterator[str]:
    roles = {1: ("with", ""), -1: ("against", ' stroke-dasharray="7 5"'), 0: ("neutral", "")}
    for edge in reversed(picture.edges):
        (x1, y1), (x2, y2) = at[edge.nodes[0]], at[edge.nodes[1]]
        role, dash = roles[edge.direction]
        names = " – ".join(picture.names[i] for i in edge.nodes)
        yield (
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="var(--{role})" stroke-width='
            f'"{1.2 + 6.5 * edge.strength**0.7:.1f}" stroke-opacity="{0.45 + 0.5 * edge.strength**0.5:.2f}"{dash}>'
            f"<title>{html.escape(names)}</title></line>"
        )


def _nodes(picture: InteractionGraph, at: np.ndarray, width: int, height: int) -> Iterator[str]:
    for (x, y), (w, h), name in zip(at, picture.sizes * (width, height), picture.names, strict=True):
        yield (
            f'<rect x="{x - w / 2:.1f}" y="{y - h / 2:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{h / 2:.1f}" '
            f'fill="var(--paper)" stroke="var(--muted)"/>{_text(x, y + 0.16 * h, name, "middle", size=15)}'
        )


def chart(picture: Chart) -> str:
    """A chart with its axes."""
    width = _H + _LEFT - _BOTTOM if picture.square else _W
    (x0, x1), (y0, y1) = picture.ranges()
    frame = _Frame(_LEFT, width - _RIGHT, _TOP, _H - _BOTTOM, x0, x1, y0, y1)
    parts = [*_axes(frame, picture)]
    for series in picture.series:
        parts += _series(series, frame)
    return _svg(width, _H, picture.title, parts)


class _Frame:
    """From numbers to pixels."""

    def __init__(
        self, left: float, right: float, top: float, bottom: float, x0: float, x1: float, y0: float, y1: float
    ) -> None:
        self.left, self.right, self.top, self.bottom = left, right, top, bottom
        self.x0, self.x1, self.y0, self.y1 = x0, x1, y0, y1

    def x(self, value: float) -> float:
        return self.left + (value - self.x0) / (self.x1 - self.x0) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.bottom - (value - self.y0) / (self.y1 - self.y0) * (self.bottom - self.top)


def _axes(f: _Frame, picture: Chart) -> Iterator[str]:
    for tick in ticks(f.y0, f.y1):
        y = f.y(tick)
        yield f'<line x1="{f.left}" x2="{f.right}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--grid)"/>'
        yield _text(f.left - 8, y + 4, f"{tick:g}", "end")
    for tick in ticks(f.x0, f.x1, whole=picture.whole_x):
        yield _text(f.x(tick), f.bottom + 18, f"{tick:g}", "middle")
    yield f'<line x1="{f.left}" x2="{f.right}" y1="{f.bottom}" y2="{f.bottom}" stroke="var(--muted)"/>'
    yield _text((f.left + f.right) / 2, f.bottom + 38, picture.x_label, "middle", muted=True)
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


def bars(picture: Bars) -> str:
    """Horizontal bars with their labels to the left; a whisker is one standard error to either side."""
    left = 20 + 7.2 * max(map(len, picture.labels), default=0)
    texts = picture.texts or ("",) * len(picture.labels)
    right = 20 + 7.2 * max(map(len, texts), default=0)
    height = _TOP + _ROW * len(picture.labels) + _BOTTOM
    width = max(_W, left + right + 240)
    low, high = picture.range()
    f = _Frame(left, width - right, _TOP, height - _BOTTOM, low, high, 0, 1)
    parts = [
        f'<line x1="{f.x(t):.1f}" x2="{f.x(t):.1f}" y1="{f.top}" y2="{f.bottom}" stroke="var(--grid)"/>'
        + _text(f.x(t), f.bottom + 18, f"{t:g}", "middle")
        for t in ticks(low, high)
    ]
    for k, (label, value) in enumerate(zip(picture.labels, picture.values, strict=True)):
        parts += _bar(picture, k, label, value, f, texts[k])
    parts.append(f'<line x1="{f.x(0):.1f}" x2="{f.x(0):.1f}" y1="{f.top}" y2="{f.bottom}" stroke="var(--muted)"/>')
    parts.append(_text((f.left + f.right) / 2, f.bottom + 38, picture.x_label, "middle", muted=True))
    return _svg(round(width), round(height), picture.title, parts)


def _bar(picture: Bars, k: int, label: str, value: float, f: _Frame, text: str) -> Iterator[str]:
    y = f.top + _ROW * k
    yield _text(f.left - 10, y + 0.66 * _ROW, label, "end")
    if text:
        yield _text(f.right + 10, y + 0.66 * _ROW, text, "start", muted=True)
    if not math.isfinite(value):
        return
    role = picture.roles[k] if picture.roles else "with"
    a, b = sorted((f.x(0), f.x(value)))
    yield (
        f'<rect x="{a:.1f}" y="{y + 5:.1f}" width="{b - a:.1f}" height="{_ROW - 10}" rx="2" fill="var(--{role})" '
        'fill-opacity=".85"/>'
    )
    if picture.errors and math.isfinite(picture.errors[k]):
        lo, hi = f.x(value - picture.errors[k]), f.x(value + picture.errors[k])
        mid = y + _ROW / 2
        yield (
            f'<path d="M{lo:.1f} {mid}H{hi:.1f}M{lo:.1f} {mid - 4}v8M{hi:.1f} {mid - 4}v8" stroke="var(--ink)" '
            'stroke-width="1.3" fill="none"/>'
        )


def _text(x: float, y: float, text: str, anchor: str, *, muted: bool = False, size: int = 13) -> str:
    colour = "muted" if muted else "ink"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="var(--{colour})">'
        f"{html.escape(text)}</text>"
    )


def _svg(width: int, height: int, label: str, parts: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(label)}" style="max-width:{width}px">'
        f"{''.join(parts)}</svg>"
    )
