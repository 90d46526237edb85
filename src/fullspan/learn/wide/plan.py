"""What a search without a table will need, known before it starts.

Growing counts, for every variable, its clique with all other variables: one addition for each unusual cell of the rows.
Subsets of the clique are summed from that table and looked at: ``3^width`` cells for each feature, a logarithm each.
"""

from __future__ import annotations

from dataclasses import dataclass

from fullspan.engine.memory import budget, require
from fullspan.learn.wide.grow import GrowOptions
from fullspan.learn.wide.rows import WideRows

_SECONDS_PER_CELL, _SECONDS_PER_ROW, _SECONDS_PER_LOG = 1.5e-9, 4e-9, 1.5e-8
"""Of one addition, of one look at a row, and of one cell of a subset."""


@dataclass(frozen=True)
class WidePlan:
    """Predicted seconds of growing on an idle core (a guide, mostly right to a factor of three), and peak bytes."""

    seconds: float
    n_bytes: int


def plan_wide(rows: WideRows, options: GrowOptions, max_memory: int | None = None) -> WidePlan:
    """Predict a search, and refuse one that would not fit.

    Raises
    ------
    TooLargeError : with what is needed, what there is, and the way out.
    """
    n, most = len(rows.cards), int(rows.cards.max(initial=1))
    largest = min(most ** (options.width + 1), options.max_cells * most)
    subsets = min((most + 1) ** (options.width + 1), 4 * options.max_cells * most)
    additions = len(rows.cells) * _SECONDS_PER_CELL + len(rows) * (options.width + 1) * _SECONDS_PER_ROW
    seconds = n * (additions + 0.5 * subsets * rows.n_features * _SECONDS_PER_LOG)
    n_bytes = 8 * (largest + subsets) * (rows.n_features + 1) + 8 * len(rows.cells) + rows.columns.nbytes
    what = f"a search of width {options.width} over {n} variables of up to {most} levels"
    require(n_bytes, budget(max_memory), what, "use a smaller max_width, or merge levels")
    return WidePlan(seconds, n_bytes)
