"""Where the maximum of the likelihood lies at infinity: the face that carries the data.

For ``p(x) ~ exp(theta . Phi(x))`` the maximum is finite iff the data's mean of Phi lies in the relative interior of the
convex hull of all Phi(x). Otherwise some direction v has ``v . Phi(x) = c`` on every state seen, ``<= c`` on all states
and ``< c`` on some: moving theta along v raises the likelihood for ever, and those states lose all probability. The
states that no such v excludes are the face F; the limit of the fit lives on F, and is positive there.

1. **Span.** Directions that are constant on the states seen are a null space, found from a few of them. If there are
   none, the maximum is finite. This is all that happens for most data.
2. **Empty margins.** States in a cell of a fitted margin that holds no row leave first; it needs no linear program.
3. **Stages.** A linear program looks for such a direction that is ``<= c`` on the states that remain; states below c
   leave, and the next stage looks at the rest. Directions constant on all that remain are factored out, so that each
   direction left changes some of a few states P, and the objective (the mean over P plus the mean over all that remain)
   is zero only if there is none.
4. **Certificate.** One more linear program finds a small direction that is constant on F and at least 1 less on
   every other state, which exists iff nothing was excluded wrongly. It is made of integers if it has a small common
   denominator, and is checked on the whole table.

Empty cells of the margins that a model fits: the plainest reason for a maximum at infinity.

If all terms inside a set A of variables are in the model, the indicator of a cell of the margin of A is a combination
of them. A cell in which no row fell has fitted probability 0, so minus its indicator is a direction to infinity.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array, Ints, Mask
from fullspan.errors import FullspanError
from fullspan.learn.likelihood.boundary.cuts import MAX_ROUNDS, REMEDY, ZERO, Functions, integral, null_space
from fullspan.model.algebra.basis import Basis

_FAR_MULTIPLE = 1024.0
"""Multiple of the direction at which a state off the face has probability 0: exp(-746) is 0, and 2^10 is exact."""
_CLEAR_VALUE = 1e-4
"""Value beyond which a state leaves at once; less clear ones wait for a later stage."""
_ROUNDING = 1e-13
"""Largest variation of the direction over the face, relative to its largest weight."""


@dataclass(frozen=True)
class Face:
    """The states on which the maximum of the likelihood lives, and how the weights get there.

    Attributes
    ----------
    direction : (k,) rates at which the weights diverge: ``v . Phi(x)`` is constant on the face and at least 1 less on
        every other state; zeros if the maximum is finite.
    n_states : states on the face.
    n_free : rank of the centred features on the face: combinations of weights that the data determine.
    """

    direction: Array
    n_states: int
    n_free: int

    @property
    def interior(self) -> bool:
        """Whether the maximum is finite."""
        return not self.direction.any()

    @property
    def diverging(self) -> Ints:
        """Positions of the terms whose weights diverge along the direction."""
        return np.flatnonzero(self.direction).astype(np.int64)

    def start(self) -> Array:
        """Weights (k,) that give every state off the face probability 0 in double precision, and all others the same.

        Weights that favour states off the face by up to 278 nats may be added, and they still have probability 0.
        """
        return _FAR_MULTIPLE * self.direction


def face_of(
    basis: Basis,
    terms: Ints,
    seen: Ints,
    max_memory: int | None = None,
    seed: int = 0,
    max_rounds: int = MAX_ROUNDS,
    rounding: float = _ROUNDING,
) -> Face:
    """The face of the model with these ``terms`` that carries the states ``seen``.

    Parameters
    ----------
    basis : the algebra of the terms.
    terms : (k,) distinct table indices of the terms, without the constant 0.
    seen : indices of the states with a positive count.
    max_memory : bytes that may be used; most of what is free by default.
    seed : of the choice of states that are looked at first; it decides the time, not the answer.
    max_rounds : most stages, and linear programs in each.
    rounding : most that the direction may move on the face, for a weight of size 1.

    Notes
    -----
    A function of the states of size 1 counts as zero below 1e-6. A finite maximum that the states seen show by their
    rank takes O(k^3) time and no table; otherwise one table of |X| doubles and masks of |X| bytes are held, and time
    goes to linear programs with one column per direction that the states seen leave open: seconds for a hundred,
    minutes for five hundred.

    Raises
    ------
    FullspanError : no state seen; a term that is constant or given twice; linear programs that do not end, or a
        direction that is lost in rounding.
    TooLargeError : the tables would not fit.

    Examples
    --------
    Two rows that agree in both variables: states 1 and 2, where they differ, lose all probability.

    >>> face = face_of(Basis("monomial", (2, 2)), np.array([1, 2, 3]), np.array([0, 3]))
    >>> face.n_states, face.n_free, face.direction.tolist()
    (2, 1, [-1.0, -1.0, 2.0])
    """
    terms, seen = np.asarray(terms, dtype=np.int64), np.unique(np.asarray(seen, dtype=np.int64))
    _check(basis, terms, seen)
    k, rng = terms.size, np.random.default_rng(seed)
    functions = Functions(basis, terms, int(seen[0]), max_memory, rng, max_rounds)
    # Four times as many states as terms nearly always show full rank, and then no table is needed.
    some = rng.choice(seen, min(seen.size, 4 * k + 16), replace=False, shuffle=False)
    if len(null_space(functions.phi(some))[0]) == k:
        return Face(np.zeros(k), basis.n_states, k)
    _, constant, _ = functions.span(np.eye(k), functions.mask(seen), some)
    on = np.asarray(functions.table(empty_margins(basis, terms, seen)) > -0.5)
    gone, met = _shrink(functions, constant, on)
    direction = np.zeros(k) if on.all() else _certificate(functions, gone, on, met, rounding)
    return Face(direction, int(on.sum()), k - gone.shape[1])


def _check(basis: Basis, terms: Ints, seen: Ints) -> None:
    if not seen.size:
        raise FullspanError("no state was seen; at least one row is needed")
    if np.unique(terms).size < terms.size or (terms <= 0).any() or (terms >= basis.n_states).any():
        raise FullspanError(f"terms must be distinct indices from 1 to {basis.n_states - 1}, got {terms.tolist()}")
    if seen[0] < 0 or seen[-1] >= basis.n_states:
        raise FullspanError(f"states run from 0 to {basis.n_states - 1}, got {seen[0]} to {seen[-1]}")


def _shrink(functions: Functions, constant: Array, on: Mask) -> tuple[Array, Ints]:
    """Shrink ``on`` to the face; directions that are constant on it (k, r), and states met as constraints.

    ``constant`` are the directions that are constant on the states seen. Each stage removes at least one state.
    """
    met = np.empty(0, dtype=np.int64)
    for _ in range(functions.max_rounds):
        pivots, gone, some = functions.span(constant, on, functions.draw(on, 4 * constant.shape[1] + 16))
        if not len(pivots):
            return gone, met
        columns = constant[:, pivots]
        # A direction that is 0 on the states seen and at most 0 elsewhere: the lower its mean, the more states it
        # excludes.
        cost = functions.rows(columns, some).mean(axis=0) + functions.means(on) @ columns
        v, value, pool = functions.minimise(cost, columns, (-1.0, 1.0), on, 0.0, some)
        met = np.union1d(met, pool)
        if value > -ZERO:
            return gone, met
        table = functions.table(v)
        # Half the lowest value: what is clearly off the face goes, and what is nearly on it waits for the next stage.
        on &= table >= max(-_CLEAR_VALUE, float(table.min(where=on, initial=0.0)) / 2)
    raise FullspanError(
        f"{functions.max_rounds} stages did not find the face of {len(functions.terms)} terms; {REMEDY}"
    )


def _certificate(functions: Functions, gone: Array, on: Mask, met: Ints, rounding: float) -> Array:
    """A small combination of ``gone`` that is at least 1 less off the face than on it, checked on every state.

    States that the linear program did not see may fall short by half; the direction is scaled to make up for it.
    """
    off = ~on
    # Positive and negative parts apart make the sum of sizes linear: the program finds a sparse direction.
    size = np.tile(np.abs(gone).max(axis=0), 2)
    v, _, _ = functions.minimise(size, np.hstack([gone, -gone]), (0.0, None), off, -1.0, met[off[met]], slack=0.5)
    # Small integers if they serve: they are exact, and people can read them.
    for candidate in (integral(v[:, None])[:, 0], v):
        table = functions.table(candidate)
        gap = -float(table.max(where=off, initial=-np.inf))
        error = float(np.abs(table, out=table).max(where=on, initial=0.0))
        if gap > 0.4 and error <= rounding * float(np.abs(candidate).max()):
            # By a power of two, which keeps integers exact.
            return candidate / (2.0 ** np.floor(np.log2(gap)) if gap >= 1.0 else gap)
    raise FullspanError(
        f"the direction of {len(v)} diverging weights is lost in rounding (gap {gap:.1e}, error {error:.1e}); {REMEDY}"
    )


Variables = tuple[int, ...]

_MAX_ORDER = 8
"""Largest set of variables that is looked at; it has at most 2^8 subsets to compare."""
_MAX_CELLS = 4096


def empty_margins(basis: Basis, terms: Ints, seen: Ints) -> Array:
    """Coefficients (k,) of minus the number of empty margin cells that a state lies in, up to a constant."""
    v = np.zeros(terms.size)
    place = {int(y): i for i, y in enumerate(terms)}
    strides = np.array(basis.strides, dtype=np.int64)
    for variables in complete_sets(basis, terms):
        cards = [basis.cards[i] for i in variables]
        codes = [seen // strides[i] % basis.cards[i] for i in variables]
        empty = np.bincount(np.ravel_multi_index(codes, cards), minlength=math.prod(cards)) == 0
        if empty.any():
            weights = _coefficients(basis, variables, empty.reshape(cards).astype(np.float64))
            for digits in zip(*np.nonzero(weights), strict=True):
                if y := int(strides[list(variables)] @ digits):
                    v[place[y]] -= weights[digits]
    return v


def complete_sets(basis: Basis, terms: Ints) -> list[Variables]:
    """The largest sets of variables all of whose terms are given, of at most 8 variables and 4,096 cells."""
    count = Counter(tuple(i for i, _ in basis.term(int(y))) for y in terms)
    full = {a for a, n in count.items() if n == math.prod(basis.cards[i] - 1 for i in a)}
    found: list[Variables] = []
    covered: set[Variables] = set()
    for a in sorted(full, key=lambda a: (-len(a), a)):
        if a in covered or len(a) > _MAX_ORDER or math.prod(basis.cards[i] for i in a) > _MAX_CELLS:
            continue
        inside = {s for size in range(1, len(a) + 1) for s in itertools.combinations(a, size)}
        if inside <= full:
            found.append(a)
            covered |= inside
    return found


def _coefficients(basis: Basis, variables: Variables, values: Array) -> Array:
    """Coefficients w with ``sum_y w_y Phi_y(x_A) = values[x_A]``, one mode at a time."""
    for mode, i in enumerate(variables):
        inverse = np.linalg.inv(basis.local(i).astype(np.float64).T)
        values = np.moveaxis(np.tensordot(inverse, values, axes=(1, mode)), 0, mode)
    return values
