"""The figures of the experiments, drawn by Matplotlib, which is an optional dependency: ``fullspan[plots]``.

Experiments describe what is to be seen (:class:`~fullspan.papers.text.Panel`, :class:`LogPanel`, :class:`Cloud`,
sheets of pictures); Matplotlib is imported only when something is drawn.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.papers.text import Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXTRA = "figures are drawn by Matplotlib, which is not installed: pip install 'fullspan[plots]'"
_SPACE = 1
"""Pixels between two pictures of a sheet."""


@dataclass(frozen=True)
class Line:
    """Points with a name in the legend; ``errors`` are drawn to both sides. NaN is left out."""

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


@dataclass(frozen=True)
class Cloud:
    """Points (m, 2) with a class each, under a title."""

    title: str
    points: NDArray[np.float64]
    labels: NDArray[np.int64]


def can_draw() -> bool:
    """Whether Matplotlib is installed."""
    return find_spec("matplotlib") is not None


def as_svg(figure: Figure) -> str:
    """A figure as SVG, the same text for the same numbers: no date, no random names."""
    import matplotlib as mpl

    held = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "fullspan", "svg.fonttype": "none"}):
        figure.savefig(held, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return held.getvalue()


def curves(panels: Sequence[Panel], across: int = 2) -> Figure:
    """All panels in rows of ``across``: the runs as thin lines, their median as a thick one."""
    figure, axes = _grid(len(panels), across, (4.2, 2.6))
    for ax, panel in zip(axes, panels, strict=True):
        ax.plot(panel.values.T, linewidth=0.8)
        ax.plot(np.median(panel.values, axis=0), color="black", linewidth=1.8)
        if panel.logarithmic and (panel.values > 0).any():
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
        _name(ax, panel.title, panel.across)
    return figure


def log_panels(panels: Sequence[LogPanel]) -> Figure:
    """All panels in a row over logarithmic axes, with one legend: a method has the same colour everywhere."""
    figure, axes = _grid(len(panels), len(panels), (4.0, 4.0))
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    handles: dict[str, Any] = {}
    for ax, panel in zip(axes, panels, strict=True):
        for line in panel.lines:
            handles.setdefault(line.name, _draw(ax, line, f"C{names.index(line.name) % 10}"))
        ax.set_xscale("log")
        if panel.logarithmic:
            ax.set_yscale("log")
        else:
            ax.set_ylim(0, 1)
        _name(ax, panel.title, panel.x_label, panel.y_label)
    figure.legend(handles.values(), handles.keys(), loc="outside lower left", ncols=2, fontsize="small")
    return figure


def clouds(found: Sequence[Cloud]) -> Figure:
    """All clouds in a row, coloured by class, each with its legend."""
    figure, axes = _grid(len(found), len(found), (3.6, 3.6))
    for ax, cloud in zip(axes, found, strict=True):
        for label in np.unique(cloud.labels).tolist():
            x, y = cloud.points[cloud.labels == label].T
            ax.plot(x, y, ".", color=f"C{label % 10}", label=str(label))
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_title(cloud.title)
        ax.legend(ncols=5, fontsize="x-small", loc="upper center", bbox_to_anchor=(0.5, 0.0))
    return figure


def sheets(title: str, labelled: Sequence[tuple[str, Array]]) -> Figure:
    """One sheet of grey pictures under another, each under its label; 0 is white, 1 black."""
    height, width = labelled[0][1].shape
    figure, axes = _grid(len(labelled), 1, (width / 30, height / 30 + 0.4))
    figure.suptitle(title)
    for ax, (label, sheet) in zip(axes, labelled, strict=True):
        ax.imshow(sheet, cmap="gray_r", vmin=0.0, vmax=1.0, interpolation="nearest")
        ax.set_title(label, loc="left", fontsize="small")
        ax.set_axis_off()
    return figure


def tiled(pictures: Array, across: int) -> Array:
    """Pictures (k, rows, columns) of 0 (white) to 1 (black) in rows of ``across``, with light grey between them."""
    k, height, width = pictures.shape
    step_y, step_x = height + _SPACE, width + _SPACE
    sheet = np.full((-(-k // across) * step_y - _SPACE, across * step_x - _SPACE), 0.15)
    for i, picture in enumerate(pictures):
        y, x = i // across * step_y, i % across * step_x
        sheet[y : y + height, x : x + width] = picture
    return sheet


def contrasted(pictures: Array) -> Array:
    """Pictures of any numbers as grey: 0 is middle grey, the largest size of each picture black or white."""
    most = np.abs(pictures).max(axis=(1, 2), keepdims=True)
    return 0.5 + 0.5 * pictures / np.where(most == 0, 1.0, most)


def _grid(n: int, across: int, size: tuple[float, float]) -> tuple[Figure, list[Any]]:
    """A figure with n axes of ``size`` inches each, in rows of ``across``."""
    from matplotlib.figure import Figure

    down = math.ceil(n / across)
    figure = Figure(figsize=(across * size[0], down * size[1]), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for unused in axes[n:]:
        unused.remove()
    return figure, axes[:n]


def _draw(ax: Any, line: Line, colour: str) -> Any:
    style = "--" if line.dashed else "-"
    y = np.asarray(line.y, dtype=np.float64)
    errors = np.asarray(line.errors, dtype=np.float64) if line.errors else None
    return ax.errorbar(line.x, y, errors, color=colour, linestyle=style, marker="o", markersize=4, linewidth=1.4)


def _name(ax: Any, title: str, x_label: str, y_label: str = "") -> None:
    ax.set_title(title)
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.grid(visible=True, color="#dddddd", linewidth=0.6)
