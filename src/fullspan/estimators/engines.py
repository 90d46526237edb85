"""Which engine a full-span search runs on: the dual table, or elimination where the table would not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullspan.algebra.basis import Basis
from fullspan.engine.planner import plan
from fullspan.errors import FullspanError, TooLargeError

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.learn.search.fit import Options
    from fullspan.learn.wide.fit import WideOptions

ENGINES = ("auto", "table", "elimination")
DEFAULT_WIDTH = 4


def searches_wide(
    engine: str, empirical: Empirical, options: Options, n_hidden: int = 0, *, shrinks: bool = False
) -> bool:
    """Whether a search runs by elimination: because it is asked for, or because the table would not fit.

    Raises
    ------
    FullspanError : the engine is unknown, or an option is given that only the table has.
    """
    if engine not in ENGINES:
        raise FullspanError(f"engine is {engine!r}; choose one of {', '.join(map(repr, ENGINES))}")
    of_table = "search='paper'" if options.search == "paper" else "l1 above 0" if options.l1 else ""
    of_table = "hidden variables" if n_hidden else "shrinkage" if shrinks else of_table
    if engine == "elimination" and of_table:
        raise FullspanError(
            f"engine='elimination' has no {of_table}; leave that out, use engine='table', or FullSpanMixture for a "
            "hidden variable"
        )
    if engine != "auto" or of_table or options.device == "sharded":
        return engine == "elimination"
    basis = Basis("walsh", empirical.space.cards)
    try:
        plan(basis, empirical.total, options.dtype, options.max_memory, options.by_terms, options.device)
    except TooLargeError:
        return True
    return False


def wide_options(options: Options, max_width: int | None) -> WideOptions:
    """The options of the table's search that a search by elimination has too."""
    from fullspan.learn.wide.fit import WideOptions

    width = DEFAULT_WIDTH if max_width is None else max_width
    return WideOptions(width, options.penalty, options.basis, options.max_order, options.max_memory)
