"""How long a search on the dual table will take, roughly, from the number of states and rows alone.

    seconds = states x moves x seconds per state and move,      moves = 10 + 10 log10(rows / 1000), at least 10

Every move of the search passes over both tables a few times. The constants were measured on two cores, idle and loaded
(``benchmarks/bench_memory.py``, and subsets of plants, accidents, alarm and mushroom with 17 to 30 columns and 100 to
100,000 rows), and are right to a factor of about four: enough to choose an engine, not to
be shown as a prediction. Refits take time too, which depends on the terms that are found and not on the states; they
are left out, since elimination has them as well.
"""

from __future__ import annotations

import math

from fullspan.engine.planner.plan import Plan
from fullspan.model.algebra.basis import is_power_of_two

MAX_SECONDS = 60.0
"""Predicted seconds up to which a search takes the table by itself."""
_SECONDS, _SECONDS_MIXED, _SECONDS_GPU = 1e-8, 3e-8, 5e-11
"""Per state and move: with levels in powers of two, with others, and on a GPU."""
_MOVES, _MOVES_PER_DECADE, _FEW = 10.0, 10.0, 1000.0
"""Moves of a search of up to ``_FEW`` rows, and more for every ten times as many."""


def table_seconds(plan: Plan, cards: tuple[int, ...], n_rows: float) -> float:
    """Rough seconds of a full search on the planned table.

    Examples
    --------
    >>> from fullspan.model.algebra.basis import Basis
    >>> from fullspan.engine.planner import plan
    >>> binary = (2,) * 20
    >>> table_seconds(plan(Basis("walsh", binary), 10_000), binary, 10_000) < 1
    True
    """
    each = _SECONDS if all(is_power_of_two(card) for card in cards) else _SECONDS_MIXED
    moves = _MOVES + _MOVES_PER_DECADE * math.log10(max(n_rows, _FEW) / _FEW)
    return plan.n_states * moves * (_SECONDS_GPU if plan.device == "cuda" else each)
