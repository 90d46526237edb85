"""Tables of any kind to counts of distinct states, and back.

>>> from fullspan.data import count
>>> counts = count([[0, 1], [0, 1], [1, 1]])
>>> counts.states.tolist(), counts.counts.tolist()
([[0, 0], [1, 0]], [2.0, 1.0])

At the bottom are variables (``space``) and counts (``empirical``); ``relations`` asks files, frames and databases, and
``tables`` makes counts of what they answer. What is named here is loaded on first use: models need no reader of tables.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_HOMES = {
    "MISSING_MARKS": "relations.marks",
    "Empirical": "empirical",
    "Grouped": "tables.grouped",
    "Pattern": "patterns",
    "Space": "space",
    "Variable": "space",
    "count": "tables.counting",
    "count_groups": "tables.grouped",
    "decode": "decoding",
    "decode_columns": "decoding",
    "encode": "tables.encoding",
    "fill": "tables.filling",
    "held": "tables.filling",
}

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


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"fullspan.data.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'fullspan.data' has no attribute {name!r}")
