"""A term in plain words.

Every local function splits the levels of its variable in two. The words name one side: level 1 of a two-level
variable, the own level of an indicator or 0/1 function, the odd half of a wider Walsh function. Let N_i be the side
named of each variable in the term.

    order 1      the variable has a share: how many rows are in N_1. No effect, and no odds
    order 2      the odds ratio of N_1 and N_2, other variables held fixed
    order m > 2  by what factor this odds ratio differs between where the others are as named and where they are not

Two variables with two levels have one odds ratio, that of the model, whatever the basis. Otherwise the factor is what
this term alone contributes: on functions with values -1 and +1 ``exp(4 theta)`` for a pair and ``exp(8 theta)`` beyond,
where the direction turns once for each of N_3 .. N_m that fails; on 0/1 functions ``exp(theta)``, against the first
levels, where all of N_3 .. N_m hold. :attr:`Fitted.interactions` say what all terms of a set do together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from fullspan.data.space import Space, Variable, edge_texts, levels_in_words
from fullspan.model.algebra.basis import Basis, Term, local_row
from fullspan.model.algebra.local_bases import WALSH
from fullspan.model.effects.interaction import factor, sense

Event = tuple[int, ...]
"""Codes of one variable, increasing."""
_LISTED_LEVELS = 3
"""Levels that are texts which a range spells out."""


def is_ordered(variable: Variable) -> bool:
    """Whether ranges of levels mean something: more than two levels that follow each other."""
    return variable.ordered and variable.n_bins > 2


def candidates(variable: Variable) -> Iterator[Event]:
    """The events that an effect may be about: single levels, and both sides of each cut of an ordered variable.

    Of two levels only the last: the other does the opposite.
    """
    if variable.card == 2:
        yield (1,)
        return
    yield from ((code,) for code in range(variable.card))
    if is_ordered(variable):
        for cut in range(2, variable.n_bins):
            yield tuple(range(cut))
        for cut in range(1, variable.n_bins - 1):
            yield tuple(range(cut, variable.n_bins))


def event_words(variable: Variable, codes: Sequence[int]) -> str:
    """``crime=y``, ``age ≥ 44``, ``colour in {red, blue}``; neighbouring levels of an ordered variable are ranges."""
    values = [x for x in codes if x != variable.missing_code]
    if len(codes) == 1 or not is_ordered(variable):
        return levels_in_words(variable, codes)
    runs = [_range(variable, first, last) for first, last in _runs(values)]
    if len(values) < len(codes):
        runs.append(levels_in_words(variable, [variable.card - 1]))
    return " or ".join(runs)


def _runs(codes: Sequence[int]) -> list[tuple[int, int]]:
    """First and last code of each run of neighbours."""
    runs: list[tuple[int, int]] = []
    for code in codes:
        if runs and code == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return runs


def _range(variable: Variable, first: int, last: int) -> str:
    """Neighbouring levels: by the edges of bins, by numbers, or by the first and last of them."""
    name, levels, edges = variable.name, variable.levels, variable.edges
    if first == last:
        return levels_in_words(variable, [first])
    starts, stops = first == 0, last == variable.n_bins - 1
    if edges is not None:
        texts = edge_texts(edges)
        below, above = texts[first], texts[last + 1]
        return f"{name} < {above}" if starts else f"{name} ≥ {below}" if stops else f"{below} ≤ {name} < {above}"
    if all(isinstance(level, int | float) for level in levels[: variable.n_bins]):
        below, above = f"{levels[first]}", f"{levels[last]}"
        return f"{name} ≤ {above}" if starts else f"{name} ≥ {below}" if stops else f"{below} ≤ {name} ≤ {above}"
    if last - first < _LISTED_LEVELS:
        return levels_in_words(variable, range(first, last + 1))
    return f"{name} from {levels[first]} to {levels[last]}"


def describe(space: Space, basis: Basis, term: Term, weight: float, share: float | None = None) -> str:
    """The term in words, such as ``crime=y goes with salvador=y (odds ×2.7)``.

    A weight without a finite maximum is given as infinite; ``share`` is that of the side named among the rows.
    """
    names = side_words(space, basis, term)
    if len(term) == 1:
        return f"{names[0]}: {share:.1%} of rows" if share is not None else f"{names[0]}: its own share"
    if weight == 0:
        return f"{', '.join(names[:-1])} and {names[-1]}: no effect"
    log_ratio = contrast(basis, term, weight)
    ratio = factor(log_ratio)
    if len(term) > 2:
        return f"{_conditional(names, log_ratio > 0, basis.zero_one)} (odds ratio {ratio} by this term)"
    alone = "" if is_two_level_pair(basis, term) else " by this term"
    return f"{names[0]} {('goes against', 'and', 'goes with')[sense(log_ratio) + 1]} {names[1]} (odds {ratio}{alone})"


def contrast(basis: Basis, term: Term, weight: float) -> float:
    """Log of the factor that the words of a term of two variables or more give."""
    if basis.zero_one:
        return weight
    return (4.0 if len(term) == 2 else 8.0) * weight * math.prod(_sign(basis, i) for i, _ in term)


def is_two_level_pair(basis: Basis, term: Term) -> bool:
    """Whether it joins two variables with two levels each: the whole interaction is then this one term."""
    return len(term) == 2 and all(basis.cards[i] == 2 for i, _ in term)


def label(space: Space, basis: Basis, term: Term) -> str:
    """The term as statisticians write it, ``crime=y:salvador=n``: the sides on which its functions are 1.

    A positive weight then always means more of what the label names. The words of :func:`describe` name the other
    side of a Walsh function, level 1, where it is -1.
    """
    sides = ((i, np.flatnonzero(local_row(basis, i, j) > 0)) for i, j in term)
    return ":".join(event_words(space.variables[i], [int(x) for x in own]) for i, own in sides)


def side_words(space: Space, basis: Basis, term: Term) -> list[str]:
    """The sides that a term names, one for each variable."""
    return [event_words(space.variables[i], side(basis, i, j)) for i, j in term]


def side(basis: Basis, variable: int, component: int) -> list[int]:
    """Codes of the side of a local function that the words name."""
    row = local_row(basis, variable, component)
    return [int(x) for x in np.flatnonzero(row == _sign(basis, variable))]


def _conditional(names: list[str], positive: bool, zero_one: bool) -> str:
    """Order 3 and more: whether the first two go with or against each other, and on what that depends."""
    first, second, *rest = names
    if zero_one or len(rest) == 1:
        when = " and ".join(rest)
    elif len(rest) == 2:
        when = f"{' and '.join(rest)} are both true or both false"
    else:
        when = f"an even number of {', '.join(rest)} is false"
    return f"{first} goes with {second} {'more' if positive else 'less'} when {when}"


def _sign(basis: Basis, variable: int) -> int:
    """Value of the local function on the side named."""
    return -1 if basis.kinds[variable] == WALSH else 1
