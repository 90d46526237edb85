"""Comparisons on ordered variables: which levels satisfy ``age >= 44`` or ``age in 20..40``.

Bins are half-open, ``[a, b)``, the last one closed. A bound inside a bin cuts it, by what the data hold in the bin; see
:mod:`fullspan.query.language.cuts`. Numeric levels take any bound. The level of missing cells satisfies no comparison.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from fullspan.data.space import LABEL_DIGITS, Variable, edge_texts
from fullspan.errors import QueryError
from fullspan.query.language.boxes import Codes
from fullspan.query.language.cuts import CutNeeded, Cuts, may_be_cut

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compared(cuts: Cuts, i: int, sign: str, bound: str) -> Codes:
    """Pieces of the levels that compare with the bound as ``sign`` says.

    Raises
    ------
    QueryError : the levels have no order, the bound is no number or lies outside all bins, or no level is left.
    CutNeeded : the bound lies inside a bin that is not cut there yet.
    """
    variable = cuts.space.variables[i]
    if variable.edges is not None:
        return _of_bins(cuts, i, sign, _edge(variable, _number(variable, bound)))
    places, place = _places(variable, bound)
    chosen = tuple(code for code, own in places.items() if COMPARISONS[sign](own, place))
    return _some(variable, chosen, places, f"is {sign} {bound}")


def within(cuts: Cuts, i: int, low: str, high: str) -> Codes:
    """Pieces of the levels from ``low`` to ``high``, both included; of bins those from edge to edge, ``[low, high)``.

    Raises
    ------
    QueryError, CutNeeded : as for :func:`compared`, or the range runs backwards.
    """
    variable = cuts.space.variables[i]
    if variable.edges is None:
        (places, first), (_, last) = _places(variable, low), _places(variable, high)
        chosen = tuple(code for code, own in places.items() if first <= own <= last)
        if first <= last:
            return _some(variable, chosen, places, f"lies in {low}..{high}")
    else:
        first, last = (_edge(variable, _number(variable, bound)) for bound in (low, high))
        below = "<=" if last == variable.edges[-1] else "<"
        chosen = ()
        if first < last:
            chosen = tuple(x for x in _of_bins(cuts, i, ">=", first) if x in _of_bins(cuts, i, below, last))
    if not chosen:
        raise QueryError(f"the range {low}..{high} of {variable.name!r} is empty; write the smaller bound first")
    return chosen


def _edge(variable: Variable, number: float) -> float:
    """The edge that a number means, or the number itself.

    Edges are printed with 6 digits, in the labels of bins with 4. A number that equals an edge as printed is that edge:
    nobody can know its further digits.
    """
    edges = variable.edges or ()
    if number in edges:
        return number
    for texts in (edge_texts(edges), edge_texts(edges, LABEL_DIGITS)):
        for edge, text in zip(edges, texts, strict=True):
            if float(text) == number:
                return edge
    return number


def _of_bins(cuts: Cuts, i: int, sign: str, bound: float) -> Codes:
    """Pieces on one side of a bound: ``<`` and ``>=`` cut just below it, ``<=`` and ``>`` just above it."""
    variable = cuts.space.variables[i]
    edges, steps = variable.edges or (), cuts.steps(i)
    if not edges[0] <= bound <= edges[-1]:
        raise QueryError(outside(variable, f"{bound:.12g}"))
    step = bound if sign in ("<", ">=") else math.nextafter(bound, math.inf)
    n_pieces = len(steps) + 1
    if step == edges[0]:
        first = 0
    elif step > edges[-1]:
        first = n_pieces
    elif step in steps:
        first = steps.index(step) + 1
    elif not may_be_cut(variable, bound):
        raise QueryError(_inside(variable, sign, bound))
    else:
        raise CutNeeded(step, _inside(variable, sign, bound))
    chosen = range(first) if sign in ("<", "<=") else range(first, n_pieces)
    if not chosen:
        raise QueryError(outside(variable, f"all that is {sign} {edge_texts(edges)[edges.index(bound)]}"))
    return tuple(chosen)


def _inside(variable: Variable, sign: str, bound: float) -> str:
    """The message that a bound cuts a bin which must stay whole: how its rows are spread is not known, or of no use."""
    edges = variable.edges or ()
    if bound in edges[:-1]:
        cut = edges.index(bound)
        other = "<" if sign == "<=" else ">="
        return (
            f"{edge_texts(edges)[cut]} itself belongs to the bin {variable.levels[cut]} of {variable.name!r}, whose "
            f"mass is not split: use {other} {edge_texts(edges)[cut]}"
        )
    code = variable.code(bound)
    usable = "<" if sign in ("<", "<=") else ">="
    sides = [f"{usable} {edge_texts(edges)[k]}" for k in (code, code + 1) if 0 < k < len(edges) - 1]
    advice = f"use {' or '.join(sides)}; its edges are" if sides else "its edges are"
    return (
        f"{bound:.12g} lies inside the bin {variable.levels[code]} of {variable.name!r}, whose mass is not split: "
        f"{advice} {_listed(variable)}"
    )


def outside(variable: Variable, what: str) -> str:
    """The message that a number lies outside all bins."""
    texts = edge_texts(variable.edges or ())
    return (
        f"{what} is outside the bins of {variable.name!r}, which run from {texts[0]} to {texts[-1]}; its edges are "
        f"{_listed(variable)}"
    )


def _listed(variable: Variable) -> str:
    return ", ".join(edge_texts(variable.edges or ()))


def _places(variable: Variable, bound: str) -> tuple[dict[int, Any], Any]:
    """What is compared: the levels' own numbers, or their places in the order that was given for them.

    Raises
    ------
    QueryError : there is no order, or the bound has no place in it.
    """
    own = dict(enumerate(variable.levels[: variable.n_bins]))
    if all(isinstance(level, int | float) and not isinstance(level, bool) for level in own.values()):
        return own, _number(variable, bound)
    if variable.ordered:
        return {code: code for code in own}, variable.code(bound)
    shown = ", ".join(map(str, list(own.values())[:4])) + (", ..." if len(own) > 4 else "")
    raise QueryError(
        f"the levels of {variable.name!r} ({shown}) have no order, so that none is larger or smaller; "
        "use = or in {...}, or fit with levels= that list them in order"
    )


def _number(variable: Variable, bound: str) -> float:
    try:
        number = float(bound)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise QueryError(f"{variable.name!r} is compared with a number; got {bound!r}, which is not a number")
    return number


def _some(variable: Variable, codes: Codes, places: dict[int, Any], what: str) -> Codes:
    """The codes, of which there must be one: a bound beyond all levels is more likely a slip than a question."""
    if not codes:
        ends = [variable.levels[end(places, key=places.__getitem__)] for end in (min, max)]
        raise QueryError(f"no level of {variable.name!r} {what}; its levels run from {ends[0]} to {ends[1]}")
    return codes


def code_of(variable: Variable, level: Any) -> int:
    """Code of a level; a number falls into its bin, and must lie in one.

    Raises
    ------
    QueryError : the level is unknown, or a number outside all bins.
    """
    code = variable.code(level)
    edges = variable.edges
    if edges is not None and str(level) not in map(str, variable.levels):
        number = _edge(variable, float(level))
        if not edges[0] <= number <= edges[-1]:
            raise QueryError(outside(variable, f"{number:.12g}"))
    return code
