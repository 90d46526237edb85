"""The restricted Boltzmann machine as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from fullspan.data.space import Level
from fullspan.estimators.layered import LayeredEstimator


def _has_target(machine: Any) -> bool:
    """Whether the machine has labels.

    Raises
    ------
    AttributeError : it has not; says how to have them.
    """
    if machine.target is None:
        raise AttributeError("the machine has no labels; make it with target='...', the name of their variable")
    return True


class RestrictedBoltzmannMachine(LayeredEstimator):
    """A layer of hidden units joined to the visible ones, and no other joints.

        p(x, h) = exp(b.x + c.h + x' W h) / Z

    x are units of 0 and 1: one for a variable of two levels, a group of which one is on for more. Learned by stochastic
    gradient ascent, with chains for the model's side of the gradient.

    Parameters
    ----------
    n_hidden : number of hidden units.
    solver : ``"pcd"``, chains that persist, or ``"cd"``, chains that start at the data (contrastive divergence).
    gibbs_steps : sweeps of the chains for each step, the k of CD-k.
    gradient : ``"centred"``, ``"standardised"`` or ``"plain"``.
    learning_rate, decay, momentum, weight_decay : of the ascent; with ``decay`` the rate falls to 0 over all epochs.
    batch_size, n_chains : rows of a step, and chains; None for as many as rows.
    max_iter : epochs.
    early_stopping, validation_fraction, patience, tol : hold out rows, and stop after ``patience`` epochs in which
        their likelihood, exact or by annealing, has not grown by ``tol`` nats; the best epoch is kept.
    target : name of the variable that holds labels: a column of the table, or ``y`` of :meth:`fit`.
    log_z : ``"exact"``, by enumeration of the smaller layer; ``"ais"``, estimated by annealing; ``"auto"``, exact up to
        2^22 states.
    ais_chains, ais_steps : of that estimate.
    device, dtype : ``"cpu"``, or ``"cuda"`` for a graphics card with CuPy (``pip install 'fullspan[gpu]'``);
        ``"float32"`` or ``"float64"``.
    warm_start : begin with the weights of the last fit, if it had the same variables and size.
    missing : missing cells are an ``"error"``, ``"drop"`` their rows, are a ``"level"`` of their own, or are not
        observed, ``"em"``: learning samples them, scores sum over them.
    bins, levels, columns, count_column, max_levels, na_values, handle_unknown : how a table is read, as in
        :class:`fullspan.FullSpan`.
    random_state : seed or generator.
    verbose : tell the progress on standard error.

    Attributes
    ----------
    model_ : weights and biases, a :class:`fullspan.model.layered.LayeredMachine`.
    log_z_ : log Z with its standard error and interval, a :class:`fullspan.model.estimate.Estimate`.
    components_ : (hidden, visible units) the weights; intercept_visible_, intercept_hidden_ : the biases.
    curve_ : (epoch, mean log-likelihood of rows held out, its error) of each check, with early stopping.
    history_ : the epochs; their cost is the length, in nats per row, of the visible units given expected hidden ones.
    status_ : ``"converged"``, ``"diverged"`` or ``"interrupted"``.
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
    >>> bool(machine.score(rows) > -1.0)
    True
    """

    _sizes_parameter = "n_hidden"

    def __init__(
        self,
        n_hidden: int = 64,
        solver: str = "pcd",
        gibbs_steps: int = 1,
        gradient: str = "centred",
        learning_rate: float = 0.1,
        decay: bool = True,
        momentum: float = 0.5,
        weight_decay: float = 0.0,
        batch_size: int = 100,
        n_chains: int | None = None,
        max_iter: int = 20,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        patience: int = 3,
        tol: float = 0.0,
        target: str | None = None,
        log_z: str = "auto",
        ais_chains: int = 200,
        ais_steps: int = 1000,
        device: str = "cpu",
        dtype: str = "float32",
        warm_start: bool = False,
        missing: str = "error",
        bins: Any = None,
        levels: Mapping[str, Sequence[Level]] | None = None,
        columns: Sequence[str | int] | None = None,
        count_column: str | None = None,
        max_levels: int = 64,
        na_values: Any = None,
        handle_unknown: str = "error",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_hidden = n_hidden
        self.solver = solver
        self.gibbs_steps = gibbs_steps
        self.gradient = gradient
        self.learning_rate = learning_rate
        self.decay = decay
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.n_chains = n_chains
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.tol = tol
        self.target = target
        self.log_z = log_z
        self.ais_chains = ais_chains
        self.ais_steps = ais_steps
        self.device = device
        self.dtype = dtype
        self.warm_start = warm_start
        self.missing = missing
        self.bins = bins
        self.levels = levels
        self.columns = columns
        self.count_column = count_column
        self.max_levels = max_levels
        self.na_values = na_values
        self.handle_unknown = handle_unknown
        self.random_state = random_state
        self.verbose = verbose

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
        from fullspan.engine.layers.open_cells import completed

        return completed(self.model_, self._codes(X)).hidden

    def _scores(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        from fullspan.engine.layers.open_cells import completed

        return completed(self.model_, codes).log_weight - self.log_z_.value

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log-likelihood of each row in nats, minus the free energy minus log Z; missing cells are summed over.

        Exact if ``log_z_.is_exact``; otherwise an estimate, and all rows share the error ``log_z_.standard_error``.
        """
        return super().score_samples(X)

    @available_if(_has_target)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """(rows, classes) probabilities of the labels given the other cells, exact: log Z cancels.

        p(y | x) is proportional to exp(-F(x, y)). Only a machine with a target has it.
        """
        codes = self._codes(X)
        scores = np.empty((len(codes), len(self.classes_)))
        for k in range(len(self.classes_)):
            codes[:, self._position] = k
            scores[:, k] = self._scores(codes)
        scores -= scores.max(axis=1, keepdims=True)
        chances = np.exp(scores)
        normalised: NDArray[np.float64] = chances / chances.sum(axis=1, keepdims=True)
        return normalised

    @available_if(_has_target)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest label of each row."""
        chances = self.predict_proba(X)
        predicted: NDArray[Any] = self.classes_[chances.argmax(axis=1)]
        return predicted

    def free_energy(self, X: Any) -> NDArray[np.float64]:
        """``F(x) = -log sum_h exp(-E(x, h))`` of each row; no log Z is needed."""
        from fullspan.engine.layers.open_cells import completed

        return -completed(self.model_, self._codes(X)).log_weight
