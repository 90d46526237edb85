"""Charts as data: what is plotted, and in which role; colours and pixels come later."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from fullspan.pictures.legend import WORDS, Key, bar_keys

Mark = Literal["line", "points"]


@dataclass(frozen=True)
class Series:
    """Points (x, y), drawn as a line or as dots with error bars; ``role`` names a colour, ``name`` is in the legend."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    mark: Mark = "line"
    role: str = "ink"
    errors: tuple[float, ...] = ()
    dashed: bool = False
    sizes: tuple[float, ...] = ()
    name: str = ""


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

    @property
    def keys(self) -> tuple[Key, ...]:
        """The legend: the series that have names."""
        marks = [(s, "dot" if s.mark == "points" else "dashed" if s.dashed else "line") for s in self.series if s.name]
        return tuple(Key(mark, (s.role,), s.name) for s, mark in marks)  # type: ignore[arg-type]

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The ranges of both axes: as given, or those of the points with a little room."""
        xs = [x for s in self.series for x in s.x]
        ys = [y for s in self.series for y in s.y if math.isfinite(y)]
        return self.x_range or _padded(xs, 0.0), self.y_range or _padded(ys, 0.05)


@dataclass(frozen=True)
class Bars:
    """Horizontal bars from 0, each with a label; what is beyond all bounds is an arrow.

    Attributes
    ----------
    values : infinite ones are drawn as arrows to the edge; NaN as nothing.
    errors : half the length of each whisker.
    roles : colours; ``neutral`` for all if there are none.
    texts : words at the right.
    whisker, boundary, neutral : what whiskers, arrows and grey bars mean, for the legend.
    limit : up to here at most whiskers are drawn.
    """

    title: str
    x_label: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...] = ()
    roles: tuple[str, ...] = ()
    texts: tuple[str, ...] = field(default=())
    whisker: str = ""
    boundary: str = ""
    neutral: str = WORDS[0]
    limit: float = math.inf

    @property
    def keys(self) -> tuple[Key, ...]:
        """The legend: the colours, whiskers and arrows that occur."""
        found = list(bar_keys(self.roles, self.neutral))
        if any(self.whiskers(k) for k in range(len(self.values))):
            found.append(Key("whisker", ("ink",), self.whisker))
        if any(math.isinf(v) for v in self.values):
            found.append(Key("arrow", ("muted",), self.boundary))
        return tuple(found)

    def role(self, k: int) -> str:
        """The colour of a bar."""
        return self.roles[k] if self.roles else "neutral"

    def whiskers(self, k: int) -> tuple[float, float] | None:
        """The ends of a whisker; None where there is no error, or no bar."""
        if not self.errors or not math.isfinite(self.errors[k]) or not math.isfinite(self.values[k]):
            return None
        low, high = self.values[k] - self.errors[k], self.values[k] + self.errors[k]
        most = max(self.limit, abs(self.values[k]))
        return max(low, -most), min(high, most)

    def range(self) -> tuple[float, float]:
        """Of the axis of values; on a side with an arrow there is room for it."""
        ends = [0.0, *(v for v in self.values if math.isfinite(v))]
        ends += [end for k in range(len(self.values)) for end in self.whiskers(k) or ()]
        room = 0.2 * (max(ends) - min(ends)) or 1.0
        beyond = {math.inf: max(ends) + room, -math.inf: min(ends) - room}  # an arrow is longer than every bar
        ends += [beyond[v] for v in self.values if math.isinf(v)]
        return _padded(ends, 0.03)


def _padded(values: Sequence[float], share: float) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    room = share * (high - low)
    return low - room, high + room


def ticks(low: float, high: float, about: int = 5, *, whole: bool = False) -> list[float]:
    """Round numbers from ``low`` to ``high``, ``about`` as many as given; whole ones if ``whole``.

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
