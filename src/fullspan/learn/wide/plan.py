"""How wide a search without a table may get: a budget of cells from predicted time and memory.

Sums over the model cost one visit of every cell of its elimination; the information of k terms costs k visits, and the
terms grow with the variables. So the default budget falls with the number of variables: 2^20 cells for up to 100
of them, about a minute on one core, and in proportion fewer for more. Where few variables all depend on each
other, most terms lie in most cliques, and the information takes gigabytes; a table of few rows, which do not support
what such cliques would hold, gets as little as a quarter.
"""

from __future__ import annotations

from collections.abc import Sequence

from fullspan.engine.memory import budget, require

CELLS, VARIABLES = 1 << 20, 100
"""Most cells of all tables by default, and the number of variables up to which that is so."""
FEW_ROWS, FEWEST = 10_000, 0.25
"""Rows below which fewer variables get fewer cells, and the smallest share of the cells that they get."""
LEAST = 1 << 12
_TERMS_PER_VARIABLE = 8
"""Terms per variable that memory is planned for."""


def cells_for(cards: Sequence[int], n_rows: float, max_memory: int | None = None) -> int:
    """Cells that elimination may take for variables of these levels and a number of rows.

    Raises
    ------
    TooLargeError : not even a tree of pairs would fit; with what is needed, what there is, and the remedy.
    """
    n, levels = len(cards), sum(cards)
    pairs = 8 * 8 * levels * levels
    limit = budget(max_memory)
    what = f"the marginals of all pairs of {n} variables with {levels} levels"
    require(pairs, limit, what, "leave variables out with columns=, or merge levels")
    share = min(1.0, VARIABLES / max(n, 1))
    if n_rows < FEW_ROWS:
        share = min(share, max(FEWEST, (n / VARIABLES) ** 3))
    wanted = max(LEAST, int(CELLS * share))
    most = max(cards, default=1) ** 2 * n
    by_memory = (limit - pairs) // (8 * (_TERMS_PER_VARIABLE * n // 4 + 16))
    return max(min(wanted, by_memory), most)
