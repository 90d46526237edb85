"""Machines of spins in the convention of Rueger 1997; the border to log-linear models is here.

    p(s) = exp( (sum_{ij in E} w_ij s_i s_j + sum_i w_0i s_i) / T ) / Z,      s_i = +-1                      (eq. 1)

A spin is s = 2x - 1: -1 for level 0 and +1 for level 1. The Walsh basis of this package has the opposite sign,
+1 for level 0, so that fields change their sign when they cross this border, and couplings do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.errors import FullspanError
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.loglinear import LogLinear


def spins_of(codes: Any) -> NDArray[np.int8]:
    """Spins of levels: -1 for 0, +1 for 1, and 0 for a cell that is not observed (-1).

    Examples
    --------
    >>> spins_of([0, 1, -1]).tolist()
    [-1, 1, 0]
    """
    codes = np.asarray(codes)
    return np.where(codes < 0, 0, 2 * codes - 1).astype(np.int8)


def levels_of(spins: Any) -> NDArray[np.int64]:
    """Levels of spins; the inverse of :func:`spins_of`."""
    spins = np.asarray(spins, dtype=np.int64)
    return np.where(spins == 0, -1, (spins + 1) // 2)


@dataclass(frozen=True, eq=False)
class Ising:
    """A machine of n spins.

    Attributes
    ----------
    n : number of nodes, without the bias node.
    edges : (k, 2) nodes that are coupled.
    couplings : (k,) w_ij.
    fields : (n,) w_0i, the weights of the edges to the bias node.
    """

    n: int
    edges: NDArray[np.int64]
    couplings: Array
    fields: Array

    @classmethod
    def of(cls, model: LogLinear) -> Ising:
        """The machine that a log-linear model of two-level variables is, where its terms have order at most 2.

        Raises
        ------
        FullspanError : a variable has not two levels, a term has three or more variables, or the basis is not Walsh's.
        """
        basis, n = model.basis, len(model.space)
        if basis.name != "walsh" or any(card != 2 for card in basis.cards):
            raise FullspanError(
                f"a machine of spins has two-level variables in the Walsh basis; this model has the {basis.name} basis "
                f"and up to {max(basis.cards)} levels"
            )
        fields, edges, couplings = np.zeros(n), [], []
        for term, weight in model:
            if len(term) > 2:
                names = ", ".join(model.space.names[i] for i, _ in term)
                raise FullspanError(
                    f"the term of {names} has {len(term)} variables; a machine of spins has pairs at most"
                )
            if len(term) == 1:
                fields[term[0][0]] = -weight
            else:
                edges.append((term[0][0], term[1][0]))
                couplings.append(weight)
        return cls(n, np.array(edges, dtype=np.int64).reshape(-1, 2), np.array(couplings), fields)

    def loglinear(self, space: Space, log_z: float, biased: Sequence[int] | None = None) -> LogLinear:
        """The same as a log-linear model in the Walsh basis; fields of ``biased`` nodes, all by default."""
        terms = walsh_terms(self.edges, range(self.n) if biased is None else biased)
        theta = walsh_weights(self.couplings, self.fields if biased is None else self.fields[list(biased)])
        return LogLinear(space, Basis("walsh", space.cards), terms, theta, log_z)


def walsh_terms(edges: NDArray[Any], biased: Sequence[int]) -> tuple[Term, ...]:
    """Terms of the couplings, then of the fields."""
    pairs = [((min(i, j), 1), (max(i, j), 1)) for i, j in edges.tolist()]
    return (*pairs, *(((i, 1),) for i in biased))


def walsh_weights(couplings: Array, fields: Array) -> Array:
    """Weights in the Walsh basis of couplings and fields; applied to expectations, it converts these as well."""
    return np.concatenate([couplings, -fields])
