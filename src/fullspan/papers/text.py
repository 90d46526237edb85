"""Rows of text under a head, in columns, as the experiments print them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Lines of a table: the head, a rule, the rows. Columns ``left`` are words, the others end at the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for row in (head, *rows):
        cells = [c.ljust(w) if j in left else c.rjust(w) for j, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]


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
        share = column / (width - 1)
        t = round(last * share) if panel.evenly else 0 if column == 0 else round(max(last, 1) ** share)
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
