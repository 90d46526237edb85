"""The deep Boltzmann machine as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from fullspan.errors import ConvergenceWarning, require_whole, warn
from fullspan.estimators.layers.layered import LayeredEstimator
from fullspan.estimators.layers.unit_rows import UnitRows

if TYPE_CHECKING:
    from fullspan.engine.sampling.layers.device import Device
    from fullspan.engine.sampling.layers.likelihood import MeanField
    from fullspan.learn.layered.fit import Data
    from fullspan.model.layered import LayeredMachine


@dataclass(eq=False, repr=False)
class DeepBoltzmannMachine(LayeredEstimator):
    """Several hidden layers, each connected to the next (Salakhutdinov & Hinton 2009).

        log p(x, h_1, ..., h_L) = b_0.x + sum_l b_l.h_l + x' W_1 h_1 + sum_l h_l' W_{l+1} h_{l+1} - log Z

    Layers are first learned one by one, bottom up, then all together: mean-field posteriors against persistent chains.

    Parameters
    ----------
    layers : units of each hidden layer, the lowest first.
    pretraining : number of epochs for each layer by itself; 0 for none.
    mean_field_sweeps : maximum number of sweeps for the posterior of rows in :meth:`transform` and :meth:`posterior`.
    mean_field_tol : largest change of a mean at which the sweeps end.
    max_iter : number of epochs of all layers together.

    Attributes
    ----------
    model_ : weights and biases, a :class:`fullspan.model.layered.LayeredMachine`.
    log_z_ : log Z, exact if the even or the odd layers are small, else by annealing with its error.
    curve_, history_, status_ : as of a restricted machine; likelihoods are lower bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from fullspan import DeepBoltzmannMachine
    >>> rows = np.repeat([[0, 0, 1, 1], [1, 1, 0, 0]], 200, axis=0)
    >>> machine = DeepBoltzmannMachine(layers=[3, 2], max_iter=40, random_state=0).fit(rows)
    >>> machine.transform(rows[:1]).shape
    (1, 2)
    """

    _sizes_parameter = "layers"

    layers: Sequence[int] = (64, 32)
    pretraining: int = 5
    _: KW_ONLY
    learning_rate: float = 0.02
    mean_field_sweeps: int = 100
    mean_field_tol: float = 1e-5

    def _checked(self) -> tuple[int, ...]:
        require_whole(0, pretraining=self.pretraining)
        require_whole(1, mean_field_sweeps=self.mean_field_sweeps)
        return super()._checked()

    def _start(
        self, rows: UnitRows, sizes: tuple[int, ...], data: Data, device: Device, rng: np.random.Generator
    ) -> LayeredMachine:
        from fullspan.learn.layered.pretrain import pretrained

        start = super()._start(rows, sizes, data, device, rng)
        options = self._options(max_iter=max(self.pretraining, 1), solver="cd")
        if not self.pretraining:
            return start
        machine, sound = pretrained(start, data, options, device, rng)
        if not sound:
            warn(
                f"learning_rate={self.learning_rate:g} diverges in pretraining, which is left out: try "
                f"{self.learning_rate / 10:.2g}",
                ConvergenceWarning,
            )
        return machine

    def posterior(self, X: Any) -> MeanField:
        """The mean-field posterior of rows: means of all layers, the sweeps taken, whether these were enough.

        Raises
        ------
        DataError : a cell is missing; fill it in with :meth:`impute` first.
        """
        from fullspan.engine.sampling.layers.device import device
        from fullspan.engine.sampling.layers.likelihood import mean_field
        from fullspan.engine.sampling.layers.network import Network

        check_is_fitted(self)
        units = self.distribution_.units_of(self._codes(X))
        on = device("cpu", "float64", np.random.default_rng(0))
        return mean_field(Network.of(self.model_, on), on.array(units), self.mean_field_sweeps, self.mean_field_tol)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(rows, units of the top layer) mean-field probabilities."""
        means: NDArray[np.float64] = self.posterior(X).means[-1]
        return means

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """A lower bound on the log-likelihood of each row, in nats: the mean-field bound minus log Z.

        If ``log_z_`` is an estimate, so is the bound, and all rows share its error ``log_z_.standard_error``.
        """
        return super().score_samples(X)
