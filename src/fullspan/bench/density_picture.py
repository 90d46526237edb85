"""The picture of a comparison of densities: every set a row, every method a mark of its own.

    share = (L - L_independent) / (L_best - L_independent)

puts all sets on one scale: 0 is independent columns, 1 the best method of the set, and next to each row stands what the
best one gains in nats. Whiskers are one standard error of the mean log-likelihood. Shape and colour name the method.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fullspan.papers.plots import as_svg

if TYPE_CHECKING:
    from fullspan.bench.density import Score

BASE = "independent"
MARKS = {
    "chow-liu": ("P", "tab:gray"),
    "pairwise": ("X", "tab:purple"),
    "hidden-trees": ("s", "tab:green"),
    "pyagrum": ("v", "tab:olive"),
    "rbm": ("|", "tab:gray"),
    "fullspan": ("o", "tab:blue"),
    "average": ("D", "tab:cyan"),
    "mixture": ("^", "tab:orange"),
}
"""Marker and colour of each method but the base."""
_LOW, _NARROWEST, _HIGH = -0.1, 0.8, 1.1
"""The axis begins between the first two, and ends at the third."""
_LEFT_OUT = 0.04
"""Share of the marks that may lie to the left of the axis, as arrows."""


@dataclass(frozen=True)
class Row:
    """A set: its label, what its best method gains, and (share, error) by method."""

    label: str
    note: str
    marks: dict[str, tuple[float, float]]


def rows_of(scores: Sequence[Score]) -> list[Row]:
    """A row for each set; those without a score of the independent columns, or where nothing beats it, are left out."""
    found = {(s.set, s.method): s for s in scores if s.mean is not None and not math.isnan(s.mean)}
    rows = (_row(name, found) for name in dict.fromkeys(s.set for s in scores))
    return [row for row in rows if row is not None]


def picture(scores: Sequence[Score]) -> str:
    """An SVG text, drawn by Matplotlib."""
    from matplotlib.figure import Figure

    rows = rows_of(scores)
    drawn = [name for name in MARKS if any(name in row.marks for row in rows)]
    values = sorted(value for row in rows for value, _ in row.marks.values() if math.isfinite(value))
    left = values[round(_LEFT_OUT * (len(values) - 1))] if values else 0.0
    low = max(_LOW, math.floor(10 * min(left, _NARROWEST)) / 10)
    figure = Figure(figsize=(9.0, 1.6 + 0.12 * max(len(drawn), 2) * len(rows)), layout="constrained")
    ax = figure.subplots()
    for lane, name in enumerate(drawn):
        points = [(k + (lane + 0.5) / len(drawn), *row.marks[name]) for k, row in enumerate(rows) if name in row.marks]
        _draw(ax, name, points, low)
    for axis, texts in ((ax, [row.label for row in rows]), (ax.secondary_yaxis("right"), [row.note for row in rows])):
        axis.set_yticks([k + 0.5 for k in range(len(rows))], texts)
    ax.hlines(range(1, len(rows)), low, _HIGH, color="#dddddd", linewidth=0.6)
    ax.vlines((0.0, 1.0), 0, len(rows), color="#999999", linewidth=0.8)
    ax.set(xlim=(low, _HIGH), ylim=(max(len(rows), 1), 0), title="Log-likelihood of unseen rows")
    ax.set_xlabel("share of the best method's gain over independent columns (whiskers: one standard error)")
    figure.legend(loc="outside lower left", ncols=4, fontsize="small")
    return as_svg(figure)


def _draw(ax: Any, name: str, points: Sequence[tuple[float, float, float]], low: float) -> None:
    """The marks of a method; what lies outside the axis is an arrow at its edge."""
    marker, colour = MARKS[name]
    inside = [point for point in points if low <= point[1] <= _HIGH]
    y, x, errors = zip(*inside, strict=True) if inside else ((), (), ())
    shown = [error if math.isfinite(error) else 0.0 for error in errors]
    ax.errorbar(x, y, xerr=shown, fmt=marker, color=colour, markersize=5, linewidth=1.2, label=name)
    for height, value, _ in points:
        if not low <= value <= _HIGH:
            ax.plot(*((low, height, "<") if value < low else (_HIGH, height, ">")), color=colour, clip_on=False)


def _row(name: str, found: dict[tuple[str, str], Score]) -> Row | None:
    base = found.get((name, BASE))
    own = {method: found[name, method] for method in MARKS if (name, method) in found}
    if base is None or base.mean is None or not own:
        return None
    best = max(own, key=lambda method: own[method].mean or -float("inf"))
    gain = (own[best].mean or 0.0) - base.mean
    if not gain > 0:
        return None
    marks = {m: (((s.mean or 0.0) - base.mean) / gain, (s.error or 0.0) / gain) for m, s in own.items()}
    return Row(f"{name}, {base.variables:,}", f"{best}, {gain:+.2f}", marks)
