"""The same pictures on Matplotlib axes, for papers and notebooks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullspan.errors import FullspanError
from fullspan.pictures.chart import Bars, Chart
from fullspan.pictures.interactions import WIDE, InteractionGraph
from fullspan.pictures.labels import LABEL, LABEL_LINES, extent, lines
from fullspan.pictures.legend import LIGHT, N_GROUPS, ROLES, Key
from fullspan.pictures.svg import hull

_ANGLES = np.linspace(0, 2 * np.pi, 48, endpoint=False)
AROUND = np.stack([np.cos(_ANGLES) / WIDE.aspect, np.sin(_ANGLES)], axis=1) * 0.046
"""How far the shade of a group reaches around its nodes."""
_LETTER_INCHES = 0.078
"""Width of a letter of 9 points in inches, and a little more."""


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes given, or new ones.

    Raises
    ------
    FullspanError : Matplotlib is not installed.
    """
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise FullspanError("plots need Matplotlib: pip install 'fullspan[plots]'") from error
    return plt.subplots(figsize=size, layout="constrained")[1]


def graph(picture: InteractionGraph, ax: Any = None) -> Any:
    """The interaction graph with its legend below; see :func:`fullspan.pictures.svg.graph`."""
    ax = new_axes(ax, (9.6, 6.0 * picture.tall + 0.6))
    width, height = _inches(ax)
    small = min(max(width / 9.0, 0.5), 1.0)
    columns = _columns(picture.keys, width / small)
    strip = 0.24 * small * math.ceil(len(picture.keys) / columns) / max(height, 1.0)  # the legend is within the axes
    for k, group in reversed(list(enumerate(picture.groups))):
        around = (picture.at[list(group.nodes)][:, None] + AROUND / (1.0, picture.tall)).reshape(-1, 2)
        x, y = np.array(hull(around)).T
        ax.fill(x, 1 - y, color=LIGHT[f"group{k % N_GROUPS}"], linewidth=0, alpha=0.22, zorder=1)
    for edge in reversed(picture.edges):
        x, y = picture.at[list(edge.nodes)].T
        width_, alpha = 0.8 + 4.5 * edge.strength**0.7, 0.45 + 0.5 * edge.strength**0.5
        style, colour = "--" if edge.direction < 0 else "-", LIGHT[ROLES[edge.direction]]
        ax.plot(x, 1 - y, style, color=colour, linewidth=width_, alpha=alpha, zorder=2)
    box = {"boxstyle": "round,pad=0.35,rounding_size=0.8", "facecolor": "white", "edgecolor": LIGHT["muted"]}
    for (x, y), label in zip(picture.at, picture.labels, strict=True):
        words = "\n".join(label)
        ax.text(x, 1 - y, words, ha="center", va="center", fontsize=9 * small, bbox=box, zorder=3, parse_math=False)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.05 - 1.1 * strip / (1 - strip), 1.05))
    ax.axis("off")
    return _legend(ax, picture.keys, "lower center", columns, 9 * small)


def chart(picture: Chart, ax: Any = None) -> Any:
    """Series on two axes."""
    ax = new_axes(ax, (4.6, 4.4) if picture.square else (6.4, 4.0))
    for s in picture.series:
        colour = LIGHT[s.role]
        if s.mark == "line":
            ax.plot(s.x, s.y, "--" if s.dashed else "-", color=colour)
        else:
            areas = [math.pi * r**2 for r in s.sizes] if s.sizes else 25
            ax.scatter(s.x, s.y, areas, color=colour, zorder=3)
            if s.errors:
                ax.errorbar(s.x, s.y, s.errors, fmt="none", ecolor=colour)
    (x0, x1), (y0, y1) = picture.ranges()
    ax.set(xlabel=picture.x_label, ylabel=picture.y_label, xlim=(x0, x1), ylim=(y0, y1))
    ax.locator_params(axis="x", integer=picture.whole_x)
    return _legend(_plain(ax), picture.keys, "best", 1)


def bars(picture: Bars, ax: Any = None) -> Any:
    """Horizontal bars, the first on top, with words at the right and the legend above."""
    labels = [lines(label, LABEL, LABEL_LINES) for label in picture.labels]
    heights = np.array([1 + 0.6 * (len(label) - 1) for label in labels])
    at = np.cumsum(heights) - heights / 2
    n, wide = len(labels), max((extent(line) for label in labels for line in label), default=0)
    wide += max(map(extent, picture.texts), default=0)
    ax = new_axes(ax, (4.8 + _LETTER_INCHES * wide, 1.3 + 0.28 * max(float(heights.sum()), 3.0)))
    low, high = picture.range()
    values = np.clip(np.nan_to_num(picture.values, nan=0.0, posinf=math.inf, neginf=-math.inf), low, high)
    ax.barh(at, values, color=[LIGHT[picture.role(k)] for k in range(n)], height=0.6)
    for k, value in enumerate(picture.values):
        if (ends := picture.whiskers(k)) is not None:
            caps = [end for end in ends if abs(end) < picture.limit]
            ax.plot(ends, [at[k]] * 2, color=LIGHT["ink"], linewidth=1.2, gid="whisker")
            ax.plot(caps, [at[k]] * len(caps), "|", color=LIGHT["ink"], markersize=5, gid="cap")
        if math.isinf(value):
            mark = ">" if value > 0 else "<"
            ax.plot([values[k]], [at[k]], mark, color=LIGHT[picture.role(k)], markersize=9, clip_on=False, gid="arrow")
    for y, words in zip(at, picture.texts, strict=False):
        ax.text(1.03, y, words, va="center", color=LIGHT["muted"], transform=ax.get_yaxis_transform(), fontsize=9)
    ax.set_yticks(at, ["\n".join(label) for label in labels], fontsize=9, parse_math=False)
    ax.axvline(0, color=LIGHT["muted"], linewidth=0.8)
    ax.set(xlabel=picture.x_label, xlim=(low, high), ylim=(max(float(heights.sum()), 1.0) + 0.2, -0.2))
    return _legend(_plain(ax), picture.keys, "above", 2)


def _inches(ax: Any) -> tuple[float, float]:
    """Width and height of axes; those that a layout engine places alone fill their figure."""
    width, height = ax.figure.get_size_inches()
    if ax.figure.get_layout_engine() is not None and len(ax.figure.axes) == 1:
        return float(width), float(height)
    box = ax.get_position()
    return float(box.width * width), float(box.height * height)


def _columns(keys: tuple[Key, ...], width: float) -> int:
    """Most columns of a legend that fit into ``width`` inches; Matplotlib fills one after the other."""
    each = [0.62 + _LETTER_INCHES * extent(key.text) for key in keys]
    for n in range(len(keys), 1, -1):
        rows = math.ceil(len(keys) / n)
        if sum(max(each[k : k + rows]) for k in range(0, len(keys), rows)) <= width:
            return n
    return 1


def _legend(ax: Any, keys: tuple[Key, ...], where: str, columns: int, size: float = 9) -> Any:
    """The axes with a legend at a place, if there is one."""
    from matplotlib.legend_handler import HandlerTuple

    if keys:
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1)} if where == "above" else {"loc": where}
        look = {"frameon": where == "best", "fontsize": size, "ncols": min(columns, len(keys)), "handlelength": 2.6}
        tuples = {tuple: HandlerTuple(ndivide=None, pad=0)}
        ax.legend([_handle(key) for key in keys], [key.text for key in keys], handler_map=tuples, **place, **look)
    return ax


def _handle(key: Key) -> Any:
    """The mark of an entry as an artist, or several."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    colours = [LIGHT[role] for role in key.roles]
    if key.mark in ("areas", "bar"):
        patches = [Patch(color=c, alpha=0.22 if key.mark == "areas" else None, linewidth=0) for c in colours]
        return tuple(patches) if key.mark == "areas" else patches[0]
    if key.mark == "widths":
        return tuple(Line2D([], [], color=colours[0], linewidth=w) for w in (0.8, 2.6, 5.3))
    marks = {"dot": "o", "arrow": ">", "whisker": "|"}
    style: Any = "none" if key.mark in ("dot", "arrow") else "--" if key.mark == "dashed" else "-"
    mark = marks.get(key.mark, "none")
    return Line2D([], [], color=colours[0], linestyle=style, marker=mark, markersize=6, linewidth=1.5)


def _plain(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    return ax
