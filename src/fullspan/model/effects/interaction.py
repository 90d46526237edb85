"""What a set of variables does together, as people read it: nats saved, an effect that is a fact of the distribution.

Write ``log p(x) = sum_A u_A(x_A)`` with every ``u_A`` summing to 0 over each of its variables (sum-to-zero coding), u_A
averaged over the other variables under the model where larger sets make it depend on them. Then

    two variables with two levels   the conditional odds ratio of the two named levels is     exp(4 u_A)
    any other set                   a cell is as often as the lower orders expect, times      exp(u_A)

Neither depends on the basis or the estimator that found the distribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

Kind = Literal["odds ratio", "cell ratio"]
NEAR_BOUNDARY = math.log(1e6)
"""Log ratio from which on a number would only say how far a solver went towards infinity."""
_WEAK_NATS = 0.5
"""Nats that a weight about nothing saves on average: half the mean of a chi-squared variable with one degree."""


@dataclass(frozen=True)
class Effect:
    """The log of an odds ratio, or of a cell's ratio to what lower orders expect.

    Attributes
    ----------
    events : the levels meant, such as ``("party=republican", "physician=y")``.
    log_ratio : infinite where the likelihood has no finite maximum; NaN where it is not determined there.
    standard_error : of the log ratio; NaN where it is not known.
    """

    events: tuple[str, ...]
    log_ratio: float
    standard_error: float = math.nan

    @property
    def ratio(self) -> float:
        """The ratio itself, 0 or infinite at the boundary."""
        if math.isinf(self.log_ratio):
            return math.inf if self.log_ratio > 0 else 0.0
        return math.exp(min(max(self.log_ratio, -700.0), 700.0))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Wald interval of the ratio at a level of confidence; NaN where there is no standard error."""
        low, high = self.log_interval(level)
        return _exp(low), _exp(high)

    def log_interval(self, level: float = 0.95) -> tuple[float, float]:
        """The same of the log ratio."""
        if not math.isfinite(self.standard_error) or not math.isfinite(self.log_ratio):
            return math.nan, math.nan
        from statistics import NormalDist

        half = NormalDist().inv_cdf(0.5 + level / 2) * self.standard_error
        return self.log_ratio - half, self.log_ratio + half


def _exp(value: float) -> float:
    return math.exp(min(max(value, -700.0), 700.0)) if value == value else value


@dataclass(frozen=True)
class Interaction:
    """One set of variables that a model joins.

    Attributes
    ----------
    variables : their names.
    nats_saved : log-likelihood that the data lose if it is dropped and everything else refitted under the same prior.
    approximate : whether that number is an approximation.
    kind : what the effects are.
    effects : the odds ratio, or the strongest cells; the first is the one to quote.
    smallest, largest : of an odds ratio that depends on other variables; NaN where it does not, or is not known.
    chosen : share of the fits of an average that have it.
    has_part : whether there is something to drop; a pair without goes together only by larger interactions.
    within : the interactions of the same model that contain it. Its odds and cells are means over all of them; its nats
        are those of its own part, with the larger ones still in place.
    lacking : the pairs inside a larger interaction that have no part of their own.
    """

    variables: tuple[str, ...]
    nats_saved: float
    approximate: bool
    kind: Kind
    effects: tuple[Effect, ...]
    smallest: float = math.nan
    largest: float = math.nan
    chosen: float = 1.0
    has_part: bool = True
    within: tuple[tuple[str, ...], ...] = ()
    lacking: tuple[tuple[str, ...], ...] = ()

    @property
    def order(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @property
    def direction(self) -> int:
        """+1 where two named levels go with each other, -1 where against; 0 where there is no one direction."""
        return sense(self.effects[0].log_ratio) if self.kind == "odds ratio" and self.effects else 0

    @property
    def size(self) -> float:
        """The largest logarithm of a ratio, without its sign; 700 at the boundary, where it is infinite."""
        return min(max((abs(e.log_ratio) for e in self.effects), default=0.0), 700.0)

    @property
    def is_weak(self) -> bool:
        """Whether the data do not tell it from none: dropping it loses less than half a nat.

        Of an interaction within a larger one the nats are only a part; there, and where they are approximate, the 95 %
        interval of the effect must hold 1 as well.
        """
        if not self.nats_saved < _WEAK_NATS or not self.effects:
            return False
        return _holds_one(self) or not (self.approximate or self.within)

    @property
    def remark(self) -> str:
        """What to know before quoting the numbers: that it is weak, or contained in larger interactions; or empty."""
        parts = ["weak"] if self.is_weak else []
        within = [f"within {len(self.within)} larger"] if self.within else []
        lacking = [f"without {len(self.lacking)} of its pairs"] if self.lacking else []
        return "; ".join([*parts, *within, *lacking])

    @property
    def remarked(self) -> str:
        """The effect in words, with the remark in brackets, as tables print it."""
        return f"{self.words} [{self.remark}]" if self.remark else self.words

    @property
    def words(self) -> str:
        """The effect in words, such as ``a=y goes with b=y (odds ×2.7)``."""
        if not self.effects:
            return ", ".join(self.variables)
        if self.kind == "odds ratio":
            return f"{self._pair()} {self._odds()}"
        joint = " with " if self.order == 2 else ", "
        return "; ".join(f"{joint.join(e.events)} {factor(e.log_ratio)}" for e in self.effects)

    def _pair(self) -> str:
        first, second = self.effects[0].events
        return f"{first} {('goes against', 'and', 'goes with')[self.direction + 1]} {second}"

    def _odds(self) -> str:
        own = f"odds {factor(self.effects[0].log_ratio)}"
        if math.isnan(self.smallest):
            return f"({own})"
        low, high = (bound(math.log(end)) for end in (self.smallest, self.largest))
        if low == high:  # it depends on other columns by less than is printed
            return f"({own})"
        return f"({own} on average; {low} to {high} over other columns)"

    def with_nats(self, nats_saved: float, approximate: bool) -> Interaction:
        """The same with another number of nats."""
        return replace(self, nats_saved=nats_saved, approximate=approximate)


def with_larger(rows: Sequence[Interaction]) -> tuple[Interaction, ...]:
    """The interactions of one model, each with those that contain it, and with the pairs that it stands for."""
    of_variable: dict[str, list[tuple[str, ...]]] = {}
    for row in rows:
        if row.order > 2:  # nothing smaller contains a pair
            for name in row.variables:
                of_variable.setdefault(name, []).append(row.variables)
    found, empty = [], [frozenset(row.variables) for row in rows if row.order == 2 and not row.has_part]
    for row in rows:
        own, near = set(row.variables), of_variable.get(row.variables[0], []) if row.variables else []
        within = tuple(larger for larger in near if own < set(larger))
        lacking = tuple(tuple(n for n in row.variables if n in pair) for pair in empty if pair < own)
        found.append(replace(row, within=within, lacking=lacking))
    return tuple(found)


def strongest_first(rows: Sequence[Interaction]) -> list[Interaction]:
    """Most nats saved first, where these are not known the largest effects; pairs without a part where they belong.

    A pair without a part stands below the interaction that it is from. Where nearly all cells are of one level, an
    interaction of three columns says how each two of them go together, and so these pairs are read with it; those of
    larger sets come last. Pairs without a part whose direction is not clear, or not the same everywhere, are left out.
    """
    ranked = sorted((row for row in rows if row.has_part or _goes_one_way(row)), key=by_nats)
    small = [row for row in ranked if row.order in (3, 4)]
    below: dict[tuple[str, ...], list[Interaction]] = {}
    found = []
    for row in ranked:
        above = next((own for own in small if set(row.variables) < set(own.variables)), None)
        if row.has_part or above is None:
            found.append(row)
        else:
            below.setdefault(above.variables, []).append(row)
    for own in below.values():
        own.sort(key=lambda row: (-abs(row.effects[0].log_ratio), row.variables))
    return [one for row in found for one in (row, *below.get(row.variables, ()))]


def _goes_one_way(row: Interaction) -> bool:
    """Whether the mean effect of a pair is one that most states have, and is clearly not nothing."""
    if _holds_one(row) or not row.effects:
        return False
    ends = [abs(math.log(end)) for end in (row.smallest, row.largest) if not math.isnan(end)]
    return abs(row.effects[0].log_ratio) >= 0.5 * max(ends, default=0.0)


def _holds_one(row: Interaction) -> bool:
    """Whether the interval of the effect holds no effect at all; False where there is none."""
    low, high = row.effects[0].log_interval() if row.effects else (0.0, 0.0)
    return low <= 0 <= high


def remark_notes(rows: Sequence[Interaction]) -> list[str]:
    """What the remarks of some rows mean, a sentence for each kind."""
    weak = "weak: without it the rows lose less than half a nat; the data do not tell it from no interaction."
    within = (
        "within: larger interactions contain it; odds and interval are of all together, nats of its own part alone."
    )
    lacking = "without pairs: the model has nothing of these pairs alone; their odds are due to the larger interaction."
    shown = (
        (weak, any(r.is_weak for r in rows)),
        (within, any(r.within for r in rows)),
        (lacking, any(r.lacking for r in rows)),
    )
    return [note for note, needed in shown if needed]


def sense(log_ratio: float) -> int:
    """+1 for a ratio above 1, -1 below, 0 where it is printed as ×1, or not determined."""
    if math.isnan(log_ratio) or factor(log_ratio) == "×1":
        return 0
    return 1 if log_ratio > 0 else -1


def bound(log_ratio: float) -> str:
    """An end of a range or interval: ``×2.7``, or from which order of magnitude on it lies."""
    return factor(log_ratio) if abs(log_ratio) <= NEAR_BOUNDARY else f"{'÷' if log_ratio < 0 else '×'}10^6 or beyond"


def factor(log_ratio: float) -> str:
    """``×2.7`` or ``÷2.7``; near and at the boundary of the likelihood in words instead of a number."""
    sign = "÷" if log_ratio < 0 else "×"
    if math.isnan(log_ratio):
        return "not determined, at the boundary"
    if math.isinf(log_ratio):
        return f"{sign}∞, at the boundary: no finite maximum"
    if abs(log_ratio) > NEAR_BOUNDARY:
        return f"beyond {sign}10^6, near the boundary"
    ratio = float(f"{math.exp(abs(log_ratio)):.3g}")
    if ratio == 1:  # neither above nor below, as printed
        return "×1"
    return f"{sign}{ratio:,.0f}" if ratio >= 1000 else f"{sign}{ratio:.3g}"


def by_nats(row: Any) -> tuple[float, float, int, tuple[str, ...]]:
    """Sorting key of interactions and terms: most nats saved first; where these are not known, the largest ``size``."""
    if math.isnan(row.nats_saved):
        return math.inf, -row.size, row.order, row.variables
    return -row.nats_saved, 0.0, row.order, row.variables
