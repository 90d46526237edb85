"""The same pictures on Matplotlib axes, for papers and notebooks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullspan.errors import FullspanError
from fullspan.picture.chart import Bars, Chart
from fullspan.picture.interactions import ASPECT, InteractionGraph
from fullspan.picture.palette import LIGHT, N_GROUPS
from fullspan.picture.svg import hull

_ANGLES = np.linspace(0, 2 * np.pi, 48, endpoint=False)
_CIRCLE = np.stack([np.cos(_ANGLES) / ASPECT, np.sin(_ANGLES)], axis=1) * 0.046
"""How far the shade of a group reaches around its nodes."""


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
    """The interaction graph; see :func:`fullspan.picture.svg.graph`."""
    ax = new_axes(ax, (9.6, 6.0))
    for k, group in reversed(list(enumerate(picture.groups))):
        around = (picture.at[list(group.nodes)][:, None] + _CIRCLE).reshape(-1, 2)
        x, y = np.array(hull(around)).T
        alpha = 0.14 + 0.14 * group.strength
        ax.fill(x, 1 - y, color=LIGHT[f"group{k % N_GROUPS}"], linewidth=0, alpha=alpha, zorder=1)
    styles = {1: ("with", "-"), -1: ("against", "--"), 0: ("neutral", "-")}
    for edge in reversed(picture.edges):
        role, style = styles[edge.direction]
        x, y = picture.at[list(edge.nodes)].T
        width, alpha = 0.8 + 4.5 * edge.strength**0.7, 0.45 + 0.5 * edge.strength**0.5
        ax.plot(x, 1 - y, style, color=LIGHT[role], linewidth=width, alpha=alpha, zorder=2)
    box = {"boxstyle": "round,pad=0.35,rounding_size=0.8", "facecolor": "white", "edgecolor": LIGHT["muted"]}
    for (x, y), name in zip(picture.at, picture.names, strict=True):
        ax.text(x, 1 - y, name, ha="center", va="center", fontsize=9, bbox=box, zorder=3)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.05, 1.05))
    ax.axis("off")
    return ax


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
    return _plain(ax)


def bars(picture: Bars, ax: Any = None) -> Any:
    """Horizontal bars, the first on top."""
    n = len(picture.labels)
    ax = new_axes(ax, (8.0, 0.8 + 0.28 * max(n, 3)))
    colours = [LIGHT[role] for role in picture.roles] if picture.roles else LIGHT["with"]
    values = [v if math.isfinite(v) else 0.0 for v in picture.values]
    errors = [e if math.isfinite(e) else 0.0 for e in picture.errors] or None
    ax.barh(range(n), values, xerr=errors, color=colours, height=0.6, ecolor=LIGHT["ink"], capsize=2)
    ax.set_yticks(range(n), picture.labels)
    ax.invert_yaxis()
    ax.axvline(0, color=LIGHT["muted"], linewidth=0.8)
    ax.set(xlabel=picture.x_label)
    return _plain(ax)


def _plain(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    return ax
