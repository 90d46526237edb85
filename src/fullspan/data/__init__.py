"""Tables of any kind to counts of distinct states, and back.

>>> from fullspan.data import count
>>> counts = count([[0, 1], [0, 1], [1, 1]])
>>> counts.states.tolist(), counts.counts.tolist()
([[0, 0], [1, 0]], [2.0, 1.0])

At the bottom are variables (``space``) and counts (``empirical``); ``relations`` asks files, frames and databases, and
``tables`` makes counts of what they answer. What is named here is loaded on first use: models need no reader of tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullspan.lazy import Seam

if TYPE_CHECKING:
    from fullspan.data.decoding import decode, decode_columns
    from fullspan.data.empirical import Empirical
    from fullspan.data.patterns import Pattern
    from fullspan.data.relations.marks import MISSING_MARKS
    from fullspan.data.space import Space, Variable
    from fullspan.data.tables.counting import count
    from fullspan.data.tables.encoding import encode
    from fullspan.data.tables.filling import fill, held
    from fullspan.data.tables.grouped import Grouped, count_groups

__all__ = [
    "MISSING_MARKS",
    "Empirical",
    "Grouped",
    "Pattern",
    "Space",
    "Variable",
    "count",
    "count_groups",
    "decode",
    "decode_columns",
    "encode",
    "fill",
    "held",
]

__getattr__ = Seam(
    __name__,
    {
        "decoding": "decode decode_columns",
        "empirical": "Empirical",
        "patterns": "Pattern",
        "relations.marks": "MISSING_MARKS",
        "space": "Space Variable",
        "tables.counting": "count",
        "tables.encoding": "encode",
        "tables.filling": "fill held",
        "tables.grouped": "Grouped count_groups",
    },
)
