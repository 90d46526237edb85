"""Charts as data: what is plotted, and in which role; colours and pixels come later."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Mark = Literal["line", "points"]


@dataclass(frozen=True)
class Series:
    """Points (x, y), drawn as a line or as dots with error bars; the role names a colour of the palette."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    mark: Mark = "line"
    role: str = "with"
    errors: tuple[float, ...] = ()
    dashed: bool = False
    sizes: tuple[float, ...] = ()


@dataclass(frozen=True)
class Chart:
    """Series on two axes."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    square: bool = False
    whole_x: bool = False

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The ranges of both axes: as given, or those of the points with a little room."""
        xs = [x for s in self.series for x in s.x]
        ys = [y for s in self.series for y in s.y if math.isfinite(y)]
        return self.x_range or _padded(xs, 0.0), self.y_range or _padded(ys, 0.05)


@dataclass(frozen=True)
class Bars:
    """Horizontal bars from 0, each with a label; errors are whiskers, roles colour them."""

    title: str
    x_label: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...] = ()
    roles: tuple[str, ...] = ()
    texts: tuple[str, ...] = field(default=())

    def range(self) -> tuple[float, float]:
        """Of the axis of values."""
        errors = self.errors or (0.0,) * len(self.values)
        ends = [v + s * e for v, e in zip(self.values, errors, strict=True) for s in (-1, 1) if math.isfinite(v + e)]
        return _padded([0.0, *ends], 0.03)


def _padded(values: Sequence[float], share: float) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    room = share * (high - low)
    return low - room, high + room


def ticks(low: float, high: float, about: int = 5, *, whole: bool = False) -> list[float]:
    """Round numbers between two, about so many, or whole ones.

    >>> ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((m * power for m in (1, 2, 5, 10)), key=lambda s: abs(math.log(s / raw)))
    step = max(step, 1.0) if whole else step
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first + 1
    return [round((first + i) * step, 12) for i in range(count)]
