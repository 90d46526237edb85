"""What a search without a table will need, known before it starts: memory, and no seconds.

Subsets of a clique are summed from its table with every other variable, ``(levels + 1)^(width + 1)`` cells for each
feature. The time is not predicted: it hangs on the terms that are found, which nobody knows before (predictions from
rows, levels and width were wrong by factors of 200 and 2,000 on real tables).
"""

from __future__ import annotations

from fullspan.engine.memory import budget, require
from fullspan.learn.decomposable.grow import GrowOptions
from fullspan.learn.decomposable.rows import WideRows


def require_wide(rows: WideRows, options: GrowOptions, max_memory: int | None = None) -> None:
    """Refuse a search that would not fit.

    Raises
    ------
    TooLargeError : with what is needed, what there is, and the remedy.
    """
    n, most = len(rows.cards), int(rows.cards.max(initial=1))
    largest = min(most ** (options.width + 1), options.max_cells * most)
    subsets = min((most + 1) ** (options.width + 1), 4 * options.max_cells * most)
    n_bytes = 8 * (largest + subsets) * (rows.n_features + 1) + 8 * len(rows.cells) + rows.columns.nbytes
    what = f"a search of width {options.width} over {n} variables of up to {most} levels"
    require(n_bytes, budget(max_memory), what, "use a smaller max_width, or merge levels")
