"""Tables as points: every table is described by the machine that is learned from it.

How much each variable takes part in a machine: the sum of the sizes of its weights.

    f_i = sum_{b with i in b} |theta_b|            (f_i = |lambda_i| + sum_j |lambda_ij| for pairs)

Sugiyama, Tsuda and Nakahara describe a learned distribution by this vector, one for a machine. Of a single row the same
sum goes over the terms that the row contains.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from fullspan.arrays import Array
from fullspan.data.space import Level, Space
from fullspan.errors import FullspanError
from fullspan.estimators.inputs.tables import checked_table
from fullspan.model.algebra.inclusion import inclusion, sets_of_states, sets_of_terms
from fullspan.model.loglinear import LogLinear


def intensities(model: LogLinear) -> Array:
    """(n,) intensity of every variable."""
    return np.asarray(np.abs(model.theta) @ _incidence(model)).ravel()


def row_intensities(model: LogLinear, states: NDArray[Any]) -> Array:
    """(m, n) intensity of every variable in every state, which need not be in a truncated space."""
    from scipy.sparse import csr_matrix

    cards = model.space.cards
    start, indices = inclusion(sets_of_states(states, cards), sets_of_terms(model.terms, cards))
    sizes = csr_matrix((np.abs(model.theta)[indices], indices, start), shape=(len(states), len(model.terms)))
    return np.asarray((sizes @ _incidence(model)).toarray())


def _incidence(model: LogLinear) -> Any:
    """(k, n) whether a variable is in a term."""
    from scipy.sparse import csr_matrix

    lengths = [len(term) for term in model.terms]
    rows, columns = np.repeat(np.arange(len(lengths)), lengths), [i for term in model.terms for i, _ in term]
    return csr_matrix((np.ones(len(columns)), (rows, columns)), shape=(len(lengths), len(model.space)))


class MachineFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer of tables into vectors: f_i = sum of |weight| over the terms with variable i.

    Classes of whole samples can be distinguished by these vectors, as Sugiyama, Tsuda and Nakahara do. A vector is only
    comparable with another if both machines leave out the same level of a variable, so the levels of all tables that
    are fitted are those of each, unless the machine has ``levels=`` or ``bins=`` of its own.

    Parameters
    ----------
    machine : an estimator whose ``model_`` has weights, such as :class:`TruncatedBoltzmannMachine`; it is cloned.

    Attributes
    ----------
    variables_ : names of the variables, which those of the features are.
    levels_ : levels of each over all tables, or None where the machine has its own.

    Examples
    --------
    >>> import numpy as np
    >>> from fullspan import MachineFeatures, TruncatedBoltzmannMachine
    >>> rng = np.random.default_rng(0)
    >>> tables = [(rng.random((50, 3)) < p).astype(int) for p in (0.3, 0.7)]
    >>> MachineFeatures(TruncatedBoltzmannMachine(l2=0.1)).fit_transform(tables).shape
    (2, 3)
    """

    variables_: tuple[str, ...]
    levels_: dict[str, tuple[Level, ...]] | None

    def __init__(self, machine: Any) -> None:
        self.machine = machine

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the variables of the tables, and the levels that occur in any of them.

        Raises
        ------
        FullspanError : there is no table, or two have different variables.
        DataError : a table cannot be read.
        """
        spaces = [self.machine._reading().count(checked_table(table)).space for table in X]
        if not spaces:
            raise FullspanError("no table was given; MachineFeatures needs a list of at least one")
        self.variables_ = spaces[0].names
        for k, space in enumerate(spaces):
            self._check(space, k)
        own = self.machine.levels is not None or self.machine.bins is not None or self.machine.missing == "level"
        self.levels_ = None if own else {name: _union(spaces, i) for i, name in enumerate(self.variables_)}
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(tables, variables) intensities of the machine of every table of ``X``.

        Raises
        ------
        FullspanError : there is no table, or one has other variables than those fitted.
        DataError : a table has a level that none of those fitted has.
        """
        check_is_fitted(self)
        found = []
        for k, table in enumerate(X):
            machine = clone(self.machine)
            if self.levels_ is not None:
                machine.set_params(levels=self.levels_)
            machine.fit(table)
            self._check(machine.space_, k)
            found.append(intensities(machine.model_))
        if not found:
            raise FullspanError("no table was given; MachineFeatures needs a list of at least one")
        return np.array(found)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the features: those of the variables of the tables."""
        check_is_fitted(self)
        return np.array(self.variables_, dtype=object)

    def _check(self, space: Space, k: int) -> None:
        if space.names != self.variables_:
            ours, theirs = (f"{len(names)} ({', '.join(names[:5])})" for names in (self.variables_, space.names))
            raise FullspanError(f"table {k} has the variables {theirs}; those of the first are {ours}")


def _union(spaces: list[Space], i: int) -> tuple[Level, ...]:
    """Levels of variable i over all spaces, in order."""
    levels = dict.fromkeys(level for space in spaces for level in space.variables[i].levels)
    try:
        return tuple(sorted(levels))
    except TypeError:
        return tuple(sorted(levels, key=str))
