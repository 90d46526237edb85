"""Linear algebra and linear programs over all states of a space, that look at few of them.

A function ``f_v(x) = v . (Phi(x) - Phi(x_0))`` of the terms is known at all states after one transform. So a rank over
a set of states, or a linear program with one constraint per state, is solved on some hundred states; the states where
the solution fails are then found in the table and added, until there are none.

Null spaces of matrices of small integers, in integers where that is possible.

For rows A (m, r) of rank q, a pivoted Cholesky factorisation of ``A^t A`` picks q independent columns and writes each
other column as a combination X of them, so that ``[-X; I]`` spans ``{u : A u = 0}``. The entries of X are ratios of
determinants; a column whose entries have a small common denominator is multiplied by it, and is then exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf
from scipy.optimize import linprog

from fullspan.arrays import Array, Ints, Mask
from fullspan.engine.memory import budget, require
from fullspan.errors import FullspanError
from fullspan.model.algebra.basis import Basis, Term

_DEPENDENT_DISTANCE = 1e-10
"""Mean square distance from the span of the others, per row, below which a column of size 1 is dependent."""
_LARGEST_DENOMINATOR = 60
"""Largest common denominator that is tried."""
_INTEGER_TOLERANCE = 1e-7
"""How far from an integer an entry may be to be rounded."""


def null_space(rows: Array) -> tuple[NDArray[np.int64], Array]:
    """Independent columns of ``rows`` (m, r), and a basis (r, r - rank) of the null space.

    Columns should be of size 1 or so, or exactly zero up to rounding. Time O(m r^2).
    """
    m, r = rows.shape
    gram = rows.T @ rows
    factor, order, rank, _ = dpstrf(gram, tol=_DEPENDENT_DISTANCE * m) if m and r else (gram, np.arange(1, r + 1), 0, 0)
    # All columns vanish: the factorisation would take the largest of them, which is rounding, for a direction.
    if r and gram.diagonal().max() <= _DEPENDENT_DISTANCE * m:  # LAPACK takes the first pivot as it is
        rank = 0
    pivots, free = order[:rank] - 1, order[rank:] - 1
    upper = np.triu(factor)[:rank]
    x = solve_triangular(upper[:, :rank], upper[:, rank:])
    residual = rows[:, pivots].T @ (rows[:, free] - rows[:, pivots] @ x)  # one step of refinement
    x += solve_triangular(upper[:, :rank], solve_triangular(upper[:, :rank], residual, trans="T"))
    basis = np.zeros((r, r - rank))
    basis[pivots], basis[free, np.arange(r - rank)] = -x, 1.0
    return pivots.astype(np.int64), integral(basis)


def integral(columns: Array) -> Array:
    """Each column times the least number up to 60 that makes it integers, or as it is where there is none."""
    columns, todo = columns.copy(), np.arange(columns.shape[1])
    for factor in range(1, _LARGEST_DENOMINATOR + 1):
        multiple = factor * columns[:, todo]
        whole = np.rint(multiple)
        found = (np.abs(multiple - whole) < _INTEGER_TOLERANCE).all(axis=0)
        columns[:, todo[found]] = whole[:, found]
        todo = todo[~found]
    return columns


ZERO = 1e-6
"""A function of size 1 is zero below this, and a constraint is met that is violated by no more."""
MAX_ROUNDS = 500
"""Linear programs after which a search that has not ended is given up, with an error."""
_ALL_AT_ONCE_STATES = 4096
"""States up to which all of them are constraints at once."""
_CHUNK_ENTRIES = 1 << 16
"""Entries of the table that are compared at once."""


class Functions:
    """The functions ``f_v(x) = v . (Phi(x) - Phi(x_0))`` spanned by some terms.

    Parameters
    ----------
    basis : the algebra of the terms.
    indices : (k,) table indices of the terms.
    origin : index of the state x_0.
    max_memory : bytes that may be used, or None for most of what is free. One table of |X| doubles is allocated when
        it is first needed, and masks take up to four |X| bytes more.
    rng : chooses which states are looked at first; it decides the time, not the answer.
    max_rounds : linear programs after which a search that has not ended is given up, with an error.
    """

    def __init__(
        self,
        basis: Basis,
        indices: Ints,
        origin: int,
        max_memory: int | None,
        rng: np.random.Generator,
        max_rounds: int = MAX_ROUNDS,
    ) -> None:
        self.basis, self.indices, self.rng = basis, indices, rng
        self.max_memory, self.max_rounds = max_memory, max_rounds
        self.terms: list[Term] = [basis.term(int(y)) for y in indices]
        self.phi_0 = self._phi(np.array([origin]))[0]
        self._table: Array | None = None

    def rows(self, columns: Array, states: Ints) -> Array:
        """Values (m, r) at m states of the functions whose coefficients are ``columns`` (k, r)."""
        return np.asarray(self.phi(states) @ columns)

    def phi(self, states: Ints) -> Array:
        """Values (m, k) of ``Phi(x) - Phi(x_0)`` at m states."""
        return np.asarray(self._phi(states) - self.phi_0)

    def table(self, v: Array) -> Array:
        """Values of f_v at all states, in memory that the next call uses again."""
        table = self._cleared()
        table[self.indices] = v
        table[0] = -float(self.phi_0 @ v)
        self.basis.synthesise(table)
        return table

    def means(self, members: Mask) -> Array:
        """Mean (k,) of ``Phi(x) - Phi(x_0)`` over a set of states."""
        table = self._cleared()
        table += members
        self.basis.analyse(table)
        return np.asarray(table[self.indices] / table[0] - self.phi_0)

    def mask(self, states: Ints) -> Mask:
        """A set of states as a mask over all, once the memory has been found sufficient."""
        self._cleared()
        mask = np.zeros(self.basis.n_states, dtype=np.bool_)
        mask[states] = True
        return mask

    def draw(self, members: Mask, count: int) -> Ints:
        """About ``count`` random states of a set, or all of them if it has no more."""
        size = int(members.sum())
        if size <= max(_ALL_AT_ONCE_STATES, members.size // 8):
            states = np.flatnonzero(members)
            return states if size <= count else self.rng.choice(states, count, replace=False, shuffle=False)
        states = np.unique(self.rng.integers(members.size, size=2 * count * members.size // size))
        return self.rng.permutation(states[members[states]])[:count]

    def span(self, columns: Array, members: Mask, some: Ints) -> tuple[Ints, Array, Ints]:
        """Which of the functions ``columns`` (k, r) are independent on a set of states.

        A random combination of the functions that vanish on ``some`` of the states vanishes on all members, or shows
        which states to add.

        Returns
        -------
        pivots : positions of a largest set of independent columns.
        null : (k, r - len(pivots)) coefficients of the combinations that vanish on all members.
        states : members on which the pivots are independent.
        """
        columns = columns / np.maximum(np.abs(columns).max(axis=0, initial=0.0), 1e-300)
        while True:
            pivots, u = null_space(self.rows(columns, some))
            null = integral(columns @ u)
            if not null.shape[1]:
                return pivots, null, some
            # One random combination tests all of them at once: if any does not vanish somewhere, the mixture does not
            # either, but for a set of measure 0.
            mix = self.rng.normal(size=null.shape[1]) / np.abs(null).max(axis=0)
            table = np.abs(self.table(null @ mix), out=self._table)
            table[some] = 0.0
            more = self._largest(table, members, ZERO, 4 * null.shape[1] + 16)
            if not more.size:
                return pivots, null, some
            some = np.concatenate([some, more])

    def minimise(
        self,
        cost: Array,
        columns: Array,
        bounds: tuple[float, float | None],
        members: Mask,
        at_most: float,
        pool: Ints,
        slack: float = ZERO,
    ) -> tuple[Array, float, Ints]:
        """Minimise ``cost . u`` subject to ``f_v(x) <= at_most`` on all members, ``v = columns u``, u in ``bounds``.

        Returns v, the minimum, and the states whose constraints were used; ``pool`` is a first guess at them. The
        constraints of other states may be violated by up to ``slack``.

        Raises
        ------
        FullspanError : a linear program has no solution, or they did not end.
        """
        # Few states: one program with all of them is quicker than several with some.
        if int(members.sum()) <= _ALL_AT_ONCE_STATES:
            pool = np.flatnonzero(members)
        rows = self.rows(columns, pool)
        for _ in range(self.max_rounds):
            solved = linprog(cost, A_ub=rows, b_ub=np.full(len(rows), at_most), bounds=bounds, method="highs")
            if solved.status != 0:
                raise FullspanError(f"a linear program of {len(self.terms)} terms failed: {solved.message}; {REMEDY}")
            v = columns @ solved.x
            table = self.table(v)
            table[pool] = -np.inf
            more = self._largest(table, members, at_most + slack, max(200, 2 * len(cost)))
            if not more.size:
                return v, float(solved.fun), pool
            pool, rows = np.concatenate([pool, more]), np.concatenate([rows, self.rows(columns, more)])
        raise FullspanError(f"{self.max_rounds} linear programs of {len(self.terms)} terms did not end; {REMEDY}")

    def _largest(self, table: Array, members: Mask, above: float, count: int) -> Ints:
        """Members whose entry is above a value: if there are more than ``count``, the largest and some of the rest."""
        found = [np.empty(0, dtype=np.int64)]
        for start in range(0, table.size, _CHUNK_ENTRIES):
            part = table[start : start + _CHUNK_ENTRIES]
            states = start + np.flatnonzero((part > above) & members[start : start + _CHUNK_ENTRIES])
            found.append(self._some(states, table, count))
        return self._some(np.concatenate(found), table, count)

    def _some(self, states: Ints, table: Array, count: int) -> Ints:
        if states.size <= count:
            return states
        order = np.argpartition(-table[states], count // 2)
        rest = self.rng.choice(order[count // 2 :], count - count // 2, replace=False, shuffle=False)
        return np.asarray(states[np.concatenate([order[: count // 2], rest])])

    def _phi(self, states: Ints) -> Array:
        strides, cards = np.array(self.basis.strides, dtype=np.int64), np.array(self.basis.cards, dtype=np.int64)
        return self.basis.evaluate(self.terms, states[:, None] // strides % cards).astype(np.float64)

    def _cleared(self) -> Array:
        if self._table is None:
            n = self.basis.n_states
            require(12 * n, budget(self.max_memory), f"the search for a face among {n:,} states", REMEDY)
            self._table = np.empty(n)
        self._table[:] = 0.0
        return self._table


REMEDY = "take fewer variables or terms, or keep the maximum finite with a pseudo-row"
