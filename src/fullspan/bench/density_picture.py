"""The picture of a comparison of densities: every set a row, every method a mark of its own.

    share = (L - L_independent) / (L_best - L_independent)

puts all sets on one scale: 0 is independent columns, 1 the best method of the set, and next to each row stands what the
best one gains in nats. Whiskers are one standard error of the mean log-likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fullspan.pictures.dots import Dots, Method, Row, dots

if TYPE_CHECKING:
    from fullspan.bench.density import Score

BASE = "independent"
MARKS = (
    Method("chow-liu", "plus", "muted"),
    Method("pairwise", "cross", "group2"),
    Method("hidden-trees", "square", "group1"),
    Method("pyagrum", "down", "group0"),
    Method("rbm", "bar", "muted"),
    Method("fullspan", "circle", "with", filled=True, strong=True),
    Method("average", "diamond", "with", filled=True, strong=True),
    Method("mixture", "up", "against", filled=True, strong=True),
)
"""The methods but the base; those of this package are filled."""
_LOW, _NARROWEST, _HIGH = -0.1, 0.8, 1.1
"""The axis begins between the first two, and ends at the third."""
_LEFT_OUT = 0.04
"""Share of the marks that may lie to the left of the axis, as arrows."""


def picture(scores: Sequence[Score]) -> str:
    """An SVG text; sets without a score of the independent columns, or where nothing beats it, are left out."""
    found = {(s.set, s.method): s for s in scores if s.mean is not None and not math.isnan(s.mean)}
    drawn = tuple(method for method in MARKS if any(m == method.name for _, m in found))
    rows = [_row(name, [m.name for m in drawn], found) for name in dict.fromkeys(s.set for s in scores)]
    kept = tuple(row for row in rows if row is not None)
    values = sorted(value for row in kept for value, _ in row.marks.values() if math.isfinite(value))
    low = values[round(_LEFT_OUT * (len(values) - 1))] if values else 0.0
    return dots(
        Dots(
            "Log-likelihood of unseen rows",
            "share of the best method's gain over independent columns (whiskers: one standard error)",
            ("set, variables", "best, nats gained"),
            drawn,
            kept,
            max(_LOW, math.floor(10 * min(low, _NARROWEST)) / 10),
            _HIGH,
        )
    )


def _row(name: str, methods: Sequence[str], found: dict[tuple[str, str], Score]) -> Row | None:
    base = found.get((name, BASE))
    own = {method: found[name, method] for method in methods if (name, method) in found}
    if base is None or base.mean is None or not own:
        return None
    best = max(own, key=lambda method: own[method].mean or -float("inf"))
    gain = (own[best].mean or 0.0) - base.mean
    if not gain > 0:
        return None
    marks = {m: (((s.mean or 0.0) - base.mean) / gain, (s.error or 0.0) / gain) for m, s in own.items()}
    return Row(f"{name}, {base.variables:,}", f"{best}, {gain:+.2f}", marks)
