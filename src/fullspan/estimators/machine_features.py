"""Tables as points: every table is described by the machine that is learned from it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone

from fullspan.errors import FullspanError
from fullspan.model.intensity import intensities


class MachineFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer of tables into vectors: f_i = sum of |weight| over the terms with variable i.

    Classes of whole samples can be told apart by these vectors, as Sugiyama, Tsuda and Nakahara do.

    Parameters
    ----------
    machine : an estimator whose ``model_`` has weights, such as :class:`TruncatedBoltzmannMachine`; it is cloned.

    Examples
    --------
    >>> import numpy as np
    >>> from fullspan import MachineFeatures, TruncatedBoltzmannMachine
    >>> rng = np.random.default_rng(0)
    >>> tables = [(rng.random((50, 3)) < p).astype(int) for p in (0.3, 0.7)]
    >>> MachineFeatures(TruncatedBoltzmannMachine(l2=0.1)).fit_transform(tables).shape
    (2, 3)
    """

    def __init__(self, machine: Any) -> None:
        self.machine = machine

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing is learned over all tables together."""
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(tables, variables) intensities of the machine of every table of ``X``.

        Raises
        ------
        FullspanError : there is no table, or two have different numbers of variables.
        """
        found = [intensities(clone(self.machine).fit(table).model_) for table in X]
        if not found or len({len(f) for f in found}) > 1:
            sizes = sorted({len(f) for f in found})
            raise FullspanError(f"tables with {sizes} variables were given; one number for all is needed")
        return np.array(found)

    def __sklearn_is_fitted__(self) -> bool:
        return True
