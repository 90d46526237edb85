"""Machines of spins whose nodes have few neighbours, summed out by closed rules (Rüger 1997)."""

from fullspan.engine.elimination.decimation.decimation import Decimation, Expectations
from fullspan.engine.elimination.decimation.rules import head, leaf, reversed_series, reversed_star, series, star
from fullspan.engine.elimination.decimation.verdict import is_decimatable, verdict

__all__ = [
    "Decimation",
    "Expectations",
    "head",
    "is_decimatable",
    "leaf",
    "reversed_series",
    "reversed_star",
    "series",
    "star",
    "verdict",
]
