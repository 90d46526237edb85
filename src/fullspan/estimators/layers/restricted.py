"""The restricted Boltzmann machine as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.estimators.answers.predictions import Predictions
from fullspan.estimators.layers.layered import LayeredEstimator
from fullspan.query.prediction import normalised


@dataclass(eq=False, repr=False)
class RestrictedBoltzmannMachine(Predictions, LayeredEstimator):
    """A layer of hidden units connected to the visible ones, with no connections inside a layer.

        p(x, h) = exp(b.x + c.h + x' W h) / Z

    x are units of 0 and 1: one for a variable of two levels, a group of which one is on for more. Learned by stochastic
    gradient ascent, with chains for the model's side of the gradient.

    Parameters
    ----------
    n_hidden : number of hidden units.

    Attributes
    ----------
    model_ : weights and biases, a :class:`fullspan.model.layered.LayeredMachine`.
    log_z_ : log Z with its standard error and interval, a :class:`fullspan.model.estimate.Estimate`.
    components_ : (hidden, visible units) the weights; intercept_visible_, intercept_hidden_ : the biases.
    curve_ : (epoch, mean log-likelihood of rows held out, its error) of each check, with early stopping.
    history_ : the epochs; their cost is the length, in nats per row, of the visible units given expected hidden ones.
    status_ : ``"epoch limit"`` after all epochs, ``"converged"`` where early stopping saw no more progress,
        ``"diverged"`` or ``"interrupted"``.
    classes_ : the labels, with a target.

    References
    ----------
    Montavon & Müller (2012); Melchior, Fischer & Wiskott (2016); Salakhutdinov & Murray (2008); Tieleman (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from fullspan import RestrictedBoltzmannMachine
    >>> rows = np.repeat([[0, 0, 1, 1], [1, 1, 0, 0]], 200, axis=0)
    >>> machine = RestrictedBoltzmannMachine(n_hidden=2, batch_size=20, max_iter=60, random_state=0).fit(rows)
    >>> machine.log_z_.is_exact
    True
    >>> bool(machine.score(rows) > 4 * np.log(0.5))  # independent columns
    True
    """

    _sizes_parameter = "n_hidden"

    n_hidden: int = 64

    def _accept(self, fitted: Any, kind: str) -> None:
        super()._accept(fitted, kind)
        machine = fitted.model
        self.components_ = machine.weights[0].T
        self.intercept_visible_, self.intercept_hidden_ = machine.biases

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(rows, hidden) probabilities of the hidden units given each row; missing cells are summed over exactly.

        Raises
        ------
        DataError : a value is no level, or a cell is missing under ``missing="error"``.
        TooLargeError : a row leaves too many cells open to be summed over.
        """
        from fullspan.engine.sampling.layers.open_cells import completed

        return completed(self.model_, self._codes(X)).hidden

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log-likelihood of each row in nats, minus the free energy minus log Z; missing cells are summed over.

        Exact if ``log_z_.is_exact``; otherwise an estimate, and all rows share the error ``log_z_.standard_error``.
        """
        return super().score_samples(X)

    def predict_proba(self, X: Any, column: str | None = None) -> NDArray[np.float64]:
        """Probabilities of the levels of a column given the other cells of each row, exact: log Z cancels.

            p(y | x) is proportional to exp(-F(x, y))

        ``column`` is the target if none is named; a machine without a target gives those of all columns side by side.
        """
        if column is not None or self.target is None:
            found: NDArray[np.float64] = super().predict_proba(X, column)
            return found
        codes = self._codes(X)
        scores = np.empty((len(codes), len(self.classes_)))
        for k in range(len(self.classes_)):
            codes[:, self._position] = k
            scores[:, k] = self._scores(codes)
        return normalised(scores)

    def predict(self, X: Any, column: str | None = None) -> NDArray[Any]:
        """The likeliest level of a column, of the target if none is named; see :meth:`predict_proba`."""
        if column is not None or self.target is None:
            return super().predict(X, column)
        predicted: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return predicted

    def free_energy(self, X: Any) -> NDArray[np.float64]:
        """``F(x) = -log sum_h exp(-E(x, h))`` of each row; no log Z is needed."""
        return -self.distribution_.log_weight(self._codes(X))
