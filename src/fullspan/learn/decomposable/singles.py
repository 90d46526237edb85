"""Single terms as candidates of the growing graph, next to whole margins.

While u stands alone, p = p(x_S) p(x_u), and a term ``Phi_y(x) = Phi_S(x_S) phi_j(x_u)`` has the expectation
``eta_y = eta_S eta_j``. Moving its weight alone to the optimum gains, with q the probability of its event in the data
and m under the model,

    N gain(q, m) = N [ q ln(q / m) + (1 - q) ln((1 - q) / (1 - m)) ],

as in the search on the dual table, and costs the margin's name, the name of u's level and one weight, where the whole
margin costs a weight for every conditional distribution. Both are read off the same counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag

from fullspan.arrays import Array
from fullspan.learn.decomposable.rows import WideRows, single_counts
from fullspan.model.algebra.basis import Basis, BasisName

LARGEST = 128
"""Most cells of a family of which single terms are offered: all of its terms are weighed afterwards."""


@dataclass(frozen=True, eq=False)
class Singles:
    """The functions of every variable, and their means.

    Attributes
    ----------
    local : ``phi_j(x_i)`` of every variable (levels - 1, levels).
    change, base : ``phi_j`` by features: ``base_j`` at the usual level, and ``change`` (features, functions) from it;
        the diagonal of it is enough where all variables have two levels.
    eta : the mean of every function.
    names : nats for naming a function of its variable.
    """

    basis: Basis
    local: tuple[Array, ...]
    change: Any
    base: Array
    eta: Array
    names: Array
    features: NDArray[np.int64]

    @classmethod
    def of(cls, rows: WideRows, weights: Array, name: BasisName) -> Singles:
        """Functions of the variables of weighted rows."""
        basis = Basis(name, tuple(map(int, rows.cards)))
        local = tuple(basis.local(i)[1:].astype(np.float64) for i in range(len(rows.cards)))
        base = np.concatenate([phi[:, usual] for phi, usual in zip(local, rows.usual, strict=True)])
        parts = [np.delete(phi, u, axis=1) - phi[:, [u]] for phi, u in zip(local, rows.usual, strict=True)]
        counts, change = single_counts(rows, weights), block_diag([part.T for part in parts], format="csr")
        eta = (counts[:-1] @ change + counts[-1] * base) / counts[-1]
        if (rows.cards <= 2).all():
            change = change.diagonal()
        names = np.log(np.maximum(rows.cards - 1, 1))
        return cls(basis, local, change, base, np.asarray(eta), names, rows.features)

    def offers(self, members: tuple[int, ...], table: Array, total: float) -> Array:
        """Nats that the best single term of these members and each variable (n,) gains, less the name of its level.

        ``table`` holds their counts as growing has them; families of too many cells are offered none.
        """
        functions: Array = np.ones((1, 1))
        for i in members:  # the first member is the fastest
            functions = np.asarray(np.kron(self.local[i], functions), dtype=np.float64)
        sums = functions @ table
        changes = sums[:, :-1] * self.change if isinstance(self.change, np.ndarray) else sums[:, :-1] @ self.change
        q, m = self._events((changes + sums[:, -1:] * self.base) / total), self._events(sums[:, -1:] / total * self.eta)
        found = total * _gain(*q, *m).max(axis=0, initial=0.0)
        filled = np.append(found, -np.inf)  # variables of one level have no function
        best = np.maximum.reduceat(filled, np.minimum(self.features[:-1], len(found)))
        cards = np.diff(self.features) + 1
        return np.where((cards > 1) & (len(table) * cards <= LARGEST), best - self.names, -np.inf)

    def _events(self, eta: Array) -> tuple[Array, Array]:
        """Probabilities of the two values of functions with these means."""
        one = eta if self.basis.name == "monomial" else (1.0 - eta) / 2
        return np.clip(one, 0.0, 1.0), np.clip(1.0 - one, 0.0, 1.0)


def _gain(q: Array, not_q: Array, m: Array, not_m: Array) -> Array:
    """``KL`` of two events; 0 where the model leaves no room."""
    return np.asarray(_part(q, m) + _part(not_q, not_m))


def _part(q: Array, m: Array) -> Array:
    return q * np.log(np.maximum(q, 1e-300) / np.maximum(m, 1e-300))
