"""What every SVG picture is made of: text, a legend, and the document around them."""

from __future__ import annotations

import html
from collections.abc import Sequence

from fullspan.pictures.labels import extent
from fullspan.pictures.legend import Key

LETTER = 7.2
"""Width of a letter at 13 pixels."""
_MARK, _ROW = 34, 22
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
        width = _MARK + 8 + LETTER * extent(key.text)
        if x > left and x + width > right:
            x, y = left, y + _ROW
        parts.append(f'<g class="key">{_mark(key, x, y + _ROW / 2)}')
        parts.append(text(x + _MARK + 8, y + _ROW / 2 + 4.5, key.text, "start") + "</g>")
        x += width + 24
    return parts, y + _ROW - top if keys else 0.0


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
