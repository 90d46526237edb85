"""What a search without a table will need, known before it starts.

Growing counts, for every variable, its clique with all other variables: one addition for each unusual cell of the rows.
Subsets of the clique are summed from that table and looked at: ``3^width`` cells for each feature, a logarithm each.
Pruning takes some hundred Newton steps, each with one factorisation along the graph: the cube of the terms of a family,
for every variable. Rows with gaps are completed and searched a few times, and swept in every em step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fullspan.engine.memory import budget, require
from fullspan.learn.wide.grow import GrowOptions
from fullspan.learn.wide.rows import WideRows

_SECONDS_PER_CELL, _SECONDS_PER_ROW, _SECONDS_PER_LOG = 1.5e-9, 4e-9, 1.5e-8
"""Of one addition, of one look at a row, and of one cell of a subset."""
_NEWTON_STEPS, _SECONDS_PER_FAMILY, _SECONDS_PER_CUBE = 150, 3e-5, 4e-10
"""Steps of pruning and refitting, and of one family in one of them: in itself, and by the cube of its terms."""
_SECONDS_PER_SCORE = 2e-9
"""Of one term of one row when the rows are scored at the end."""
_SEARCHES, _SWEEPS, _SECONDS_PER_GAP = 4, 16, 4e-7
"""Of rows with gaps: searches in completed rows, sweeps over all rows, and the seconds of a sweep for every cell."""


@dataclass(frozen=True)
class WidePlan:
    """Predicted seconds on two idle cores (a guide, mostly right to a factor of two), and peak bytes."""

    seconds: float
    n_bytes: int

    def with_gaps(self, n_cells: int) -> WidePlan:
        """The same where rows of so many cells in all have gaps."""
        return replace(self, seconds=_SEARCHES * self.seconds + _SWEEPS * n_cells * _SECONDS_PER_GAP)


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
    growing = n * (additions + 0.5 * subsets * rows.n_features * _SECONDS_PER_LOG)
    n_bytes = 8 * (largest + subsets) * (rows.n_features + 1) + 8 * len(rows.cells) + rows.columns.nbytes
    what = f"a search of width {options.width} over {n} variables of up to {most} levels"
    require(n_bytes, budget(max_memory), what, "use a smaller max_width, or merge levels")
    return WidePlan(growing + _refitting(rows, options), n_bytes)


def _refitting(rows: WideRows, options: GrowOptions) -> float:
    """Seconds of pruning, if families are as large as the width and the rows allow; usually they are."""
    n, usual = len(rows.cards), float(np.exp(np.log(rows.cards).mean()))
    terms = min(usual ** (options.width + 1), options.max_cells, max(float(rows.weights.sum()), usual))
    steps = _NEWTON_STEPS * n * (_SECONDS_PER_FAMILY + _SECONDS_PER_CUBE * terms**3)
    return steps + len(rows) * n * terms / 2 * _SECONDS_PER_SCORE
