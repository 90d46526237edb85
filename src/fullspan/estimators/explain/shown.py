"""What ``fullspan show`` and ``fullspan fit`` say of a model: facts for JSON, and text and tables for people.

Each estimator has its own :class:`Shown`; the command line prints it, whatever the kind of the model.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fullspan.display import power_of_two
from fullspan.estimators.explain import limits
from fullspan.estimators.explain.endings import GIVEN, PRIVATE, ended_early, ending, ending_words
from fullspan.estimators.explain.limits import likelihood_line, limit_line, row_words

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.data.space import Space, Variable
    from fullspan.estimators.explain.interactions import InteractionTable
    from fullspan.model.fitted import Fitted

COEFFICIENTS = 20
"""Coefficients of a machine that are shown after its fit."""
_NAMED_PER_LINE = 30
"""Names, or levels, on one line."""


@dataclass(frozen=True)
class Rows:
    """A table whose first column is text and whose others are numbers; ``n_more`` rows were left out."""

    headings: tuple[str, ...]
    cells: Sequence[tuple[str, ...]]
    n_more: int = 0


@dataclass(frozen=True)
class Shown:
    """What is said of a model.

    Attributes
    ----------
    facts : in JSON's types, after a fit and when shown.
    blocks : lines of text and tables, in their order.
    details : further facts, when shown only.
    """

    facts: dict[str, Any]
    blocks: Sequence[str | Rows]
    details: dict[str, Any] = field(default_factory=dict)


def variable_facts(space: Space) -> list[dict[str, Any]]:
    """Names, levels, edges of bins and whether they are ordered, in JSON's types."""
    return [{"name": v.name, "levels": list(v.levels), "edges": v.edges, "ordered": v.ordered} for v in space.variables]


def variable_lines(variables: Iterable[Variable]) -> Iterator[str]:
    """Names and levels, neighbours with the same levels on one line."""
    for levels, group in itertools.groupby(variables, key=lambda v: v.levels):
        yield f"  {_some([v.name for v in group])}: {_some(list(map(str, levels)))}"


def _some(names: list[str]) -> str:
    """The first names of a list, and how many there are besides."""
    more = len(names) - _NAMED_PER_LINE
    return ", ".join(names[:_NAMED_PER_LINE]) + (f" and {more:,} more" if more > 0 else "")


def closing_lines(fitted: Any) -> list[str]:
    """How the model does without the full table, if it does; and why the fit ended early, if it did."""
    line = limit_line(fitted)
    return [*([] if line is None else [line]), *([ending_words(fitted)] if ended_early(fitted.status) else [])]


def copies_words(data: Empirical) -> list[str]:
    """That columns say the same thing: their effects cannot be separated, and each hides the others."""
    return [
        f"copies: each of {_some(names)} determines the others in every row; odds and nats are split among them, so "
        "leave out all but one"
        for names in data.copies()
    ]


def size_facts(fitted: Any) -> dict[str, Any]:
    """Rows and variables, parameters and likelihood of a model without terms, in JSON's types."""
    return {
        "n_rows": fitted.n_rows,
        "n_dropped": fitted.n_dropped,
        "total": fitted.total,
        "n_variables": len(fitted.model.space),
        "n_parameters": fitted.model.n_parameters,
        "log_likelihood": fitted.total * fitted.log_likelihood,
        "status": fitted.status,
        "ending": ending(fitted)._asdict(),
        **limits.facts(fitted),
    }


def shown_by_size(estimator: Any, words: str = "", own: dict[str, Any] | None = None) -> Shown:
    """Size, likelihood and ending of a model without terms; ``words`` and ``own`` add what only its kind has."""
    fitted, space = estimator.fitted_, estimator.space_
    name = type(estimator).__name__
    more = f" (more than the {space.n_states:,} states)" if fitted.model.n_parameters > space.n_states else ""
    size = f"{len(space):,} variables{words}, {fitted.model.n_parameters:,} parameters{more}"
    if fitted.status == "given":
        lines = [f"{name}: {size}", ending(fitted).sentence]
    else:
        learned = f"{likelihood_line(fitted)} ({fitted.status})"
        lines = [f"{name}: {row_words(fitted)}, {size}", learned, *closing_lines(fitted)]
    facts = {"estimator": name, **size_facts(fitted), **(own or {}), "variables": variable_facts(space)}
    return Shown(facts, ["\n".join(lines)])


# -- models with terms ----------------------------------------------------------------------------------------


def shown_by_terms(fitted: Fitted, top: int | None, *, terms: bool, whole: bool) -> Shown:
    """The interactions of a log-linear model, or its terms; of a machine whose terms were given, its summary.

    ``whole`` lists the variables too, as ``fullspan show`` does.
    """
    from fullspan.estimators.explain.interactions import InteractionTable
    from fullspan.estimators.explain.terms import TermTable

    space = fitted.model.space
    blocks: list[str | Rows]
    details = {
        "variables": variable_facts(space),
        "interactions": InteractionTable.of(fitted)[:top].to_dicts(),
        "terms": TermTable.of(fitted)[:top].to_dicts(),
    }
    if is_machine(fitted) and not terms:
        from fullspan.estimators.explain.summary import INTERACTIONS

        blocks = _machine_blocks(fitted, top, top) if whole else _machine_blocks(fitted, INTERACTIONS, COEFFICIENTS)
        return Shown(summary(fitted), blocks, details)
    blocks = ["\n".join(summary_lines(fitted))]
    if whole:
        blocks.append("\n".join(variable_lines(space.variables)))
    if terms or fitted.interactions is None:
        weights = TermTable.of(fitted)
        blocks.append(Rows(weights.headings, weights[:top].cells(), _left_out(weights, top)))
    else:
        found = InteractionTable.of(fitted)
        blocks += interaction_blocks(found, top)
    return Shown(summary(fitted), blocks, details)


def interaction_blocks(found: InteractionTable, top: int | None) -> list[str | Rows]:
    """The first interactions, and what their remarks mean."""
    rows = found[:top]
    table = Rows(rows.headings, rows.cells(), _left_out(found, top))
    return [table, *(["\n".join(rows.notes)] if rows.notes else [])]


def _left_out(rows: Sequence[Any], top: int | None) -> int:
    return 0 if top is None else max(len(rows) - top, 0)


def _machine_blocks(fitted: Fitted, interactions: int | None, coefficients: int | None) -> list[str | Rows]:
    """The summary of a machine, with its first interactions and coefficients, and its limits."""
    from fullspan.estimators.explain.summary import Summary

    shown = Summary.of(fitted)
    blocks: list[str | Rows] = [shown.opening()]
    if len(found := shown.interactions()):
        blocks += ["", *interaction_blocks(found, interactions)]
    if shown.coefficients:
        heading, *rows = shown.coefficient_rows(coefficients)
        blocks += ["", Rows(heading, rows), "\n".join(shown.notes(coefficients))]
    if (line := limit_line(fitted)) is not None:
        blocks.append(f"\n{line}")
    return blocks


def is_machine(fitted: Fitted) -> bool:
    """Whether the terms were given and not searched for, and fitted once."""
    return fitted.out_of_bag is None and fitted.settings.get("estimator") in (
        "BoltzmannMachine",
        "TruncatedBoltzmannMachine",
    )


def summary(fitted: Fitted) -> dict[str, Any]:
    """The facts about a fit, in JSON's types."""
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
    share = fitted.model.share
    if fitted.model.is_stacked:
        return {**facts, "shares": fitted.settings.get("shares")}
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


def summary_lines(fitted: Fitted) -> list[str]:
    """The same in words."""
    space, orders = fitted.model.space, _orders(fitted)
    hidden = f" ({fitted.n_hidden} of them hidden)" if fitted.n_hidden else ""
    split = ", ".join(f"{n} of order {order}" for order, n in orders)
    starts = {GIVEN: "", PRIVATE: f"about {row_words(fitted)}, "}
    rows = starts.get(fitted.status, f"{row_words(fitted)}, ")
    n = len(fitted.model.terms)
    lines = [
        f"{rows}{len(space)} variables{hidden}, {power_of_two(space.n_states)} states",
        f"{n} term{'' if n == 1 else 's'} in the {fitted.model.basis.name} basis" + (f": {split}" if split else ""),
    ]
    if fitted.status in starts:
        return [*lines, ending(fitted).sentence]
    if share := fitted.model.share:
        named = fitted.settings.get("shares", {"search": 1 - share, "shrunken": share})
        lines.append("shares: " + ", ".join(f"{name} {own:.2f}" for name, own in named.items()))
    if (found := fitted.out_of_bag) is not None:
        members, asked = (fitted.settings.get(name) for name in ("members", "average"))
        stacked = fitted.model.is_stacked
        what = "a stack of models" if stacked else f"the average of {members} of {asked} fits"
        of = "held-out" if stacked else "out-of-bag"
        return [
            *lines,
            f"{what}, {likelihood_line(fitted)} ({fitted.status})",
            f"{of} log-likelihood {found.score:.4f} ± {found.error:.4f} nats per row",
            *closing_lines(fitted),
        ]
    return [
        *lines,
        likelihood_line(fitted)
        + (f", description length {fitted.description_length:.1f} nats" if not share else "")
        + f" ({fitted.status})",
        *closing_lines(fitted),
    ]
