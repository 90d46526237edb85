"""What a model looks like in a terminal, and as JSON. No mathematics: the numbers come with the model."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from fullspan.model.fitted import Fitted

FILE_WIDTH = 200
"""Columns assumed where the output is no terminal, so that nothing wraps."""


def console() -> Console:
    """A console on standard output, that leaves marks such as ``[0, 1)`` alone."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else FILE_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)


def print_json(value: Any) -> None:
    """One JSON document on standard output; infinite numbers are null."""
    print(json.dumps(_finite(value), ensure_ascii=False, indent=2, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value


def summary(fitted: Fitted) -> dict[str, Any]:
    """The facts about a fit, in JSON's types."""
    from fullspan.estimators.explain import limits
    from fullspan.estimators.explain.endings import ending

    space = fitted.model.space
    return {
        "n_rows": fitted.n_rows,
        "n_dropped": fitted.n_dropped,
        "total": fitted.total,
        "n_variables": len(space),
        "n_states": space.n_states,
        "basis": fitted.model.basis.name,
        "n_terms": len(fitted.model.terms),
        "terms_by_order": {str(order): n for order, n in _orders(fitted)},
        "divergence": fitted.divergence,
        "entropy": fitted.entropy,
        "description_length": fitted.description_length,
        "status": fitted.status,
        "ending": ending(fitted)._asdict(),
        **limits.facts(fitted),
        **_average_facts(fitted),
        **(_machine_facts(fitted) if is_machine(fitted) else {}),
    }


def _average_facts(fitted: Fitted) -> dict[str, Any]:
    """What there is to say about an average."""
    found, facts = fitted.out_of_bag, {}
    if found is not None:
        facts = {"members": fitted.settings.get("members"), "oob_score": found.score, "oob_error": found.error}
    share = getattr(fitted.model, "share", 0.0)
    return {**facts, "shrunken_share": share} if share else facts


def _machine_facts(fitted: Fitted) -> dict[str, Any]:
    from fullspan.estimators.explain.summary import Summary

    facts = Summary.of(fitted).to_dict()
    return {
        key: facts[key]
        for key in ("hidden", "solver", "iterations", "goodness", "coding", "interactions", "coefficients")
    }


def _orders(fitted: Fitted) -> list[tuple[int, int]]:
    return sorted(Counter(len(term) for term in fitted.model.terms).items())


def _rows(fitted: Fitted) -> str:
    """Rows as they count: lines of a table with counts or weights stand for more or fewer."""
    kept = fitted.n_rows - fitted.n_dropped
    if abs(fitted.total - kept) <= 1e-9 * max(kept, 1):
        return f"{fitted.n_rows:,} rows"
    return f"{fitted.total:,.10g} rows in {fitted.n_rows:,} lines"


def summary_lines(fitted: Fitted) -> list[str]:
    """The same in words."""
    from fullspan.estimators.explain.limits import likelihood_line

    space, orders = fitted.model.space, _orders(fitted)
    dropped = f" ({fitted.n_dropped:,} dropped: missing cells)" if fitted.n_dropped else ""
    hidden = f" ({fitted.n_hidden} of them hidden)" if fitted.n_hidden else ""
    split = ", ".join(f"{n} of order {order}" for order, n in orders)
    rows = f"{_rows(fitted)}{dropped}, " if fitted.status != "given" else ""
    n = len(fitted.model.terms)
    lines = [
        f"{rows}{len(space)} variables{hidden}, {_power(space.n_states)} states",
        f"{n} term{'' if n == 1 else 's'} in the {fitted.model.basis.name} basis" + (f": {split}" if split else ""),
    ]
    if fitted.status == "given":
        return [*lines, "given, not learned from rows"]
    if share := getattr(fitted.model, "share", 0.0):
        named = fitted.settings.get("shares", {"search": 1 - share, "shrunken": share})
        lines.append("shares: " + ", ".join(f"{name} {own:.2f}" for name, own in named.items()))
    if (found := fitted.out_of_bag) is not None:
        members, asked = (fitted.settings.get(name) for name in ("members", "average"))
        return [
            *lines,
            f"the average of {members} of {asked} fits, {likelihood_line(fitted)} ({fitted.status})",
            f"out-of-bag log-likelihood {found.score:.4f} ± {found.error:.4f} nats per row",
            *closing_lines(fitted),
        ]
    return [
        *lines,
        likelihood_line(fitted)
        + (f", description length {fitted.description_length:.1f} nats" if not share else "")
        + f" ({fitted.status})",
        *closing_lines(fitted),
    ]


def closing_lines(fitted: Any) -> list[str]:
    """How the model does without the full table, if it does; and why the fit ended early, if it did."""
    from fullspan.estimators.explain.endings import ended_early, ending_words
    from fullspan.estimators.explain.limits import limit_line

    line = limit_line(fitted)
    return [*([] if line is None else [line]), *([ending_words(fitted)] if ended_early(fitted.status) else [])]


def _power(n_states: int) -> str:
    return f"{n_states:,}" if n_states < 10**15 else f"about 2^{n_states.bit_length() - 1}"


def is_machine(fitted: Fitted) -> bool:
    """Whether the terms were given and not searched for, and fitted once."""
    return fitted.out_of_bag is None and fitted.settings.get("estimator") in (
        "BoltzmannMachine",
        "TruncatedBoltzmannMachine",
    )


def print_machine(fitted: Fitted, top: int | None) -> None:
    """The summary of a machine, with its first ``top`` coefficients, and its limits."""
    from fullspan.estimators.explain.limits import limit_line
    from fullspan.estimators.explain.summary import INTERACTIONS, Summary

    shown = Summary.of(fitted)
    console().print(shown.opening())
    if len(found := shown.interactions()):
        console().print()
        print_rows(found.headings, found[:INTERACTIONS].cells())
        if len(found) > INTERACTIONS:
            console().print(f"... and {len(found) - INTERACTIONS} more")
    if shown.coefficients:
        heading, *rows = shown.coefficient_rows(top)
        console().print()
        print_rows(heading, rows)
        console().print("\n".join(shown.notes(top)))
    if (line := limit_line(fitted)) is not None:
        console().print(f"\n{line}")


def strongest(fitted: Fitted, top: int | None, *, terms: bool = False) -> None:
    """Print the table of interactions, or of the terms of the basis, most nats saved first."""
    from fullspan.estimators.explain.interactions import InteractionTable
    from fullspan.estimators.explain.terms import TermTable

    rows = TermTable.of(fitted) if terms or fitted.interactions is None else InteractionTable(fitted.interactions)
    if len(rows):
        print_rows(rows.headings, rows[:top].cells())
    if top is not None and len(rows) > top:
        console().print(f"... and {len(rows) - top} more")


def print_rows(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """A table whose first column is text and whose others are numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for j, heading in enumerate(headings):
        table.add_column(heading, justify="left" if j == 0 else "right", no_wrap=j > 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console().print(table)
