"""A term in plain words.

Every local function splits the levels of its variable in two. The words name one side: level 1 of a two-level
variable, the own level of an indicator or 0/1 function, the odd half of a wider Walsh function. Let N_i be the side
named of each variable in the term, and s the sign of theta times the value of Phi where every variable is in its N_i.
On spins the term alone multiplies

    order 1      the odds of N_1                                                        by exp(2 s |theta|)
    order 2      the odds of N_1 given N_2, and divides them given not N_2              by exp(2 s |theta|)
    order m > 2  the same, with the direction turned once for each of N_3 .. N_m that fails.

On 0/1 functions it multiplies the odds of each N_i, against level 0, by exp(theta) where all the others hold, and
does nothing elsewhere. So the factor shown always means: the odds of one named value, the other values as named,
with the term against without it. A term of order 3 or more adds to what the shorter ones say.
"""

from __future__ import annotations

import math

import numpy as np

from fullspan.algebra.basis import Basis, Term
from fullspan.model.local import WALSH, local_row
from fullspan.space import Space, Variable


def describe(space: Space, basis: Basis, term: Term, weight: float) -> str:
    """The term in words, with the factor on the odds, such as ``crime=y goes with salvador=y (odds ×2.7)``.

    A weight without a finite maximum is given as infinite.
    """
    names = [_named(space.variables[i], _side(basis, i, j)) for i, j in term]
    if weight == 0:
        return f"{_all(names)}: no effect"
    if len(term) == 1:
        return _single(space, basis, term[0], weight)
    if basis.zero_one:
        return f"{_all(names)} together: {'more' if weight > 0 else 'less'} likely {_factor(weight)}"
    strength = 2 * weight * math.prod(_sign(basis, i) for i, _ in term)
    return f"{_association(names, strength > 0)} {_factor(strength)}"


def direction(basis: Basis, term: Term, weight: float) -> int:
    """+1 where the values named by :func:`describe` go with each other, -1 where against, 0 without an effect."""
    return int(np.sign(weight if basis.zero_one else weight * math.prod(_sign(basis, i) for i, _ in term)))


def label(space: Space, basis: Basis, term: Term) -> str:
    """The sides that a term names, as statisticians write them: ``crime=y:salvador=n``."""
    return ":".join(_named(space.variables[i], _side(basis, i, j)) for i, j in term)


def _single(space: Space, basis: Basis, factor: tuple[int, int], weight: float) -> str:
    """Order 1: the side that gains, named if it is no larger than the other one."""
    i, j = factor
    side, variable = _side(basis, i, j), space.variables[i]
    strength = weight if basis.zero_one else 2 * weight * _sign(basis, i)
    if strength < 0 and 2 * len(side) == variable.card:
        side, strength = [x for x in range(variable.card) if x not in side], -strength
    verb = "is favoured" if strength > 0 else "is disfavoured"
    return f"{_named(variable, side)} {verb} {_factor(strength)}"


def _association(names: list[str], positive: bool) -> str:
    """Order 2 and more on spins: which way the first two values go, and on what it turns."""
    first, second, *rest = names
    if not rest:
        return f"{first} goes {'with' if positive else 'against'} {second}"
    more = "more" if positive else "less"
    if len(rest) == 1:
        return f"{first} goes with {second} {more} when {rest[0]}"
    if len(rest) == 2:
        return f"{first} goes with {second} {more} when {_all(rest)} are both true or both false"
    return f"{first} goes with {second} {more} when an even number of {', '.join(rest)} is false"


def _side(basis: Basis, variable: int, component: int) -> list[int]:
    """Codes of the side of a local function that the words name."""
    row = local_row(basis, variable, component)
    return [int(x) for x in np.flatnonzero(row == _sign(basis, variable))]


def _sign(basis: Basis, variable: int) -> int:
    """Value of the local function on the side named."""
    return -1 if basis.kinds[variable] == WALSH else 1


def _named(variable: Variable, codes: list[int]) -> str:
    levels = [str(variable.levels[x]) for x in codes]
    return f"{variable.name}={levels[0]}" if len(levels) == 1 else f"{variable.name} in {{{', '.join(levels)}}}"


def _all(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _factor(strength: float) -> str:
    """``(odds ×2.7)`` or ``(odds ÷2.7)``; beyond a million only the order of magnitude matters."""
    sign = "×" if strength > 0 else "÷"
    if math.isinf(strength):
        return f"(odds {sign}∞: no finite maximum)"
    if abs(strength) > math.log(1e6):
        return f"(odds {sign}10^{abs(strength) / math.log(10):.0f})"
    return f"(odds {sign}{math.exp(abs(strength)):.3g})"
