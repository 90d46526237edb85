"""Which engine a full-span search runs on, and why: the dual table, or elimination where the table costs too much.

``engine="auto"`` takes the table if all of this holds, else elimination:

* its bytes are within ``max_memory=``, or, where that is not given, within the free memory and within 1 GiB or 100 KiB
  per row, whichever is more (:func:`fullspan.engine.memory.budget_for`);
* the search on it is predicted to take at most 60 s (:mod:`fullspan.engine.planner.plan`).

What only the table supports (the published search, L1, shrinkage) is refused beyond the same memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fullspan.display import power_of_ten
from fullspan.engine.memory import budget, budget_for, completed_bytes, gib
from fullspan.engine.planner import plan
from fullspan.engine.planner.plan import MAX_SECONDS, table_seconds
from fullspan.errors import FullspanError, TooLargeError, require_one_of
from fullspan.model.algebra.basis import Basis

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.data.space import Variable
    from fullspan.learn.search.options import Options
    from fullspan.learn.wide.fit import WideOptions
    from fullspan.model.fitted import Fitted

ENGINES = ("auto", "table", "elimination")


@dataclass(frozen=True)
class Choice:
    """The engine of a search, and the sentence that says why."""

    is_wide: bool
    reason: str

    def noted(self, fitted: Fitted) -> Fitted:
        """The fitted model with the reason among its settings."""
        return replace(fitted, settings={**fitted.settings, "engine_reason": self.reason})


def choose_engine(
    engine: str, empirical: Empirical, options: Options, hidden: Sequence[Variable] = (), *, shrinks: bool = False
) -> Choice:
    """The engine of a search: the one that is asked for, or the table unless it costs too much.

    Raises
    ------
    FullspanError : the engine is unknown, or an option is given that only the table has.
    TooLargeError : such an option is given, and the table takes more than a default fit of these rows may.
    """
    require_one_of(ENGINES, engine=engine)
    of_table = "search='paper'" if options.search == "paper" else "l1 above 0" if options.l1 else ""
    of_table = "shrinkage" if shrinks else of_table
    if engine == "elimination" and of_table:
        raise FullspanError(f"engine='elimination' does not support {of_table}; leave that out, or use engine='table'")
    n_states = empirical.with_hidden(hidden).space.n_states
    table = f"the table of {power_of_ten(n_states)} states"
    if engine != "auto" or options.device == "sharded":
        is_wide = engine == "elimination"
        return Choice(is_wide, "by elimination, as asked" if is_wide else f"on {table}, as asked")
    against = _against(table, empirical.with_hidden(hidden), options)
    if of_table:
        if against and not shrinks:  # shrinkage has a lower limit of its own, which no engine lifts
            raise TooLargeError(
                f"{against}; elimination does not support {of_table}: leave that out, keep fewer "
                "variables with columns=, or merge levels"
            )
        return Choice(False, f"on {table}")
    return Choice(bool(against), f"by elimination: {against}" if against else f"on {table}")


def _against(table: str, data: Empirical, options: Options) -> str:
    """Why the table is not taken by itself; empty if it is."""
    basis, limit = Basis("walsh", data.space.cards), budget_for(data.n_rows, options.max_memory)
    try:
        planned = plan(basis, data.total, options.dtype, options.max_memory, options.by_terms, options.device)
    except TooLargeError:
        width = 8 if options.dtype == "float64" else 4
        size, free = gib(2 * width * basis.n_states), gib(budget(options.max_memory))
        return f"{table} would take about {size}, and {free} may be used"
    n_bytes = planned.n_bytes if data.is_complete else max(planned.n_bytes, completed_bytes(basis.n_states))
    if n_bytes > limit and (planned.device == "cpu" or not data.is_complete):
        return (
            f"{table} would take about {gib(n_bytes)}, and for {data.n_rows:,} rows at most {gib(limit)} is taken "
            "unless engine='table' or max_memory= is given"
        )
    if table_seconds(planned, basis.cards, data.total) > MAX_SECONDS and not options.by_terms:
        return f"{table} would take minutes; engine='table' takes it all the same"
    return ""


def wide_options(options: Options, max_width: int | None) -> WideOptions:
    """The options of the table's search that a search by elimination has too."""
    from fullspan.learn.wide.fit import WideOptions

    return WideOptions(max_width, options.penalty, options.basis, options.max_order, options.max_memory)
