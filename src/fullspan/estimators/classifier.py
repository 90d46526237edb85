"""Conditional learning as a scikit-learn classifier: p(outputs | inputs) of a Boltzmann machine."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from fullspan.data.space import Space
from fullspan.errors import ConvergenceWarning, FullspanError, warn
from fullspan.estimators.explain.endings import diverging_terms, ending_words, warn_at_boundary
from fullspan.estimators.explain.explained import Explained
from fullspan.estimators.inputs.checks import Applies, check_parameters, refuse_without_effect
from fullspan.estimators.inputs.evidence import Hidden, hidden_variables
from fullspan.estimators.inputs.reading import Reading, say_missing
from fullspan.estimators.inputs.settings import machine_parameters, options_of
from fullspan.estimators.inputs.shared_parameters import Memory, Parameters, Seed
from fullspan.estimators.inputs.tables import checked_table, checked_weight, kind_of
from fullspan.estimators.inputs.targets import counted_with_outputs, refuse_unknown_inputs, share_right
from fullspan.estimators.registry import write_fitted
from fullspan.learn.base.reporter import announce, reading, reported

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.estimators.explain.summary import Summary
    from fullspan.model.fitted import Fitted

_AUTO = {"order": 2, "l2": 0.0}
"""What "auto" is where nothing is chosen by cross-validation."""
_BATCH_ROWS = 1 << 14
"""Rows predicted at a time."""


@dataclass(eq=False, repr=False)
class BoltzmannClassifier(Memory, Seed, Parameters, Explained, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Conditional Boltzmann machine: learns p(outputs | inputs), exactly, and nothing about the inputs themselves.

        p(o | i) = sum_h exp(theta . Phi(i, h, o)) / sum_{h, o'} exp(theta . Phi(i, h, o'))

    It minimises the information gain ``sum_i q(i) KL(q(. | i) || p(. | i))`` (Rueger 1997, eq. 2). With one output,
    ``order=2`` and no hidden units it is logistic regression; higher orders are interactions, hidden units a mixture.

    Parameters
    ----------
    outputs : names of the columns to predict, where they are columns of the table; not needed if ``fit`` is given y.
    inputs : names of the columns to predict from; all others by default.
    order, graph, terms, margins : the terms, as for :class:`fullspan.BoltzmannMachine`; y is named ``"y"``, or by
        its own name, several ``"y0"``, ``"y1"``, ... Terms of inputs alone cancel and are left out. ``order="auto"``
        takes 2, or 3 where its held-out log-loss is 2 % smaller (if ``l2`` is chosen too and there are at most 1,200
        weights).
    hidden : hidden units: a number of binary ones, names, or ``{name: levels}``.
    basis : ``"monomial"`` (0/1), ``"walsh"`` or ``"indicator"``.
    solver : ``"auto"``, ``"newton"``, ``"lbfgs"`` or ``"gradient"``.
    l1, l2 : penalties ``l1 |theta|_1`` and ``l2 |theta|^2 / 2`` on the information gain in nats per row. With
        ``l2="auto"`` a ridge that treats all levels alike and leaves the base rates free is chosen by cross-validated
        likelihood (five stratified folds, ten below 1,000 rows), and adapted to each set of inputs where this clearly
        improves it, for one output without hidden units, ``graph``,
        ``terms``, ``margins``, ``l1`` or ``solver``; elsewhere ``"auto"`` is 0, and order 2. The
        folds are drawn by a fixed seed.
    restarts : number of random starts, of which the best is kept; only with hidden units.
    tol : largest difference allowed between the expectations of model and data.
    max_iter : maximum number of iterations; the solver's own limit by default.
    missing : what to do with missing values: report an ``"error"``, ``"drop"`` incomplete rows, make them a
        ``"level"``, or (``"em"``) sum out missing outputs.

    Attributes
    ----------
    classes_ : the levels of the output; a list of them for several outputs.
    terms_, model_, space_, fitted_, status_, n_iter_ : as for the other estimators.
    order_, penalty_ : the order, and the ridge in rows (scikit-learn's 1 / C), None where it was not chosen.
    adaptive_ : whether each set of inputs has a ridge of its own: ``penalty_`` times the mean square of the weights of
        all sets over that of its own, in the fit with one ridge for all.
    cross_validation_ : (order, penalty, held-out log-loss in nats per row, its standard error, adaptive) of all that
        was tried.
    information_gain_ : ``sum_i q(i) KL(q(. | i) || p(. | i))`` in nats per row.
    log_likelihood_ : conditional log-likelihood of all rows.
    diverging_ : the terms whose weights grow without bound, because the inputs separate the outputs.
    n_features_in_, feature_names_in_ : of the inputs.

    Examples
    --------
    >>> from fullspan import BoltzmannClassifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25
    >>> y = [a ^ b if k % 7 else 1 - (a ^ b) for k, (a, b) in enumerate(X)]
    >>> model = BoltzmannClassifier(order=3).fit(X, y)
    >>> model.predict([[0, 1], [1, 1]]).tolist()
    [1, 0]
    """

    outputs: Sequence[str] | str | None = None
    inputs: Sequence[str] | None = None
    order: int | Literal["auto"] | None = "auto"
    graph: Any = None
    terms: Any = None
    margins: Any = None
    hidden: Hidden = 0
    basis: Literal["monomial", "walsh", "indicator"] = "monomial"
    solver: Literal["auto", "newton", "lbfgs", "gradient"] = "auto"
    l1: float = 0.0
    l2: float | Literal["auto"] = "auto"
    restarts: int = 5
    tol: float = 1e-10
    max_iter: int | None = None

    _applies = (Applies(("restarts",), "hidden variables", lambda of: bool(of.hidden)),)

    # -- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BoltzmannClassifier:
        """Learn p(outputs | inputs).

        Parameters
        ----------
        X : the table: of the inputs if y is given, else with the outputs among its columns.
        y : (rows,) or (rows, outputs) the outputs.
        sample_weight : one weight per row, or, without y, the name of the column that holds them.

        Raises
        ------
        DataError : the table cannot be read, or an input is missing.
        FullspanError : a parameter or a role is not what it should be.
        """
        from fullspan.estimators.inputs.seeds import generator
        from fullspan.learn.likelihood.conditional import fit_conditional
        from fullspan.learn.likelihood.options import MachineOptions

        given = {name: value for name, value in self.get_params(deep=False).items() if not _is_auto(name, value)}
        check_parameters(given)
        refuse_without_effect(self)
        seed, hidden = generator(self.random_state), hidden_variables(self.hidden)
        options = options_of(self, MachineOptions, seed=seed, **{k: v for k, v in _AUTO.items() if k not in given})
        with reported(verbose=self.verbose) as watch:
            announce(watch, reading(X))
            table = checked_table(X)
            empirical, outputs = (
                self._named(table, sample_weight) if y is None else self._side_by_side(table, y, sample_weight)
            )
            self.missing_ = say_missing(empirical.missing_cells, verbose=self.verbose)
            announce(watch)
            orders = self._orders(len(outputs), hidden)
            fitted = fit_conditional(empirical, outputs, _named(self.inputs), options, hidden, watch, orders)
        self._warn(fitted)
        own = {"order": self.order, **({"l2": self.l2} if orders else {})}
        settings = machine_parameters(options, fitted.model.space, hidden, self.random_state)
        fitted = replace(fitted, settings={**fitted.settings, **settings, **self._settings(), **own})
        self._accept(fitted, kind_of(table), empirical)
        return self

    def _orders(self, n_outputs: int, hidden: Sequence[Any]) -> tuple[int, ...]:
        """Orders to choose from together with a ridge; none where the ridge is given, or does not apply."""
        from fullspan.learn.likelihood.multinomial import ORDERS

        given = any(value is not None for value in (self.graph, self.terms, self.margins))
        if self.l2 != "auto" or self.order is None or given or hidden or self.l1 or n_outputs != 1:
            return ()
        if self.solver != "auto":
            return ()
        return ORDERS if self.order == "auto" else (self.order,)

    def _settings(self) -> dict[str, Any]:
        return {
            "estimator": "BoltzmannClassifier",
            **self._reading().settings,
            "outputs": _named(self.outputs),
            "inputs": _named(self.inputs),
        }

    def _reading(self) -> Reading:
        return Reading.by(self)

    def _named(self, table: Any, sample_weight: Any) -> tuple[Empirical, list[str]]:
        """Counts of a table that has the outputs among its columns."""
        if self.outputs is None:
            raise FullspanError(
                "requires y to be passed, but the target y is None: give y, or name the outputs among the columns"
            )
        empirical = self._reading().count(table, checked_weight(sample_weight))
        return empirical, _named(self.outputs) or []

    def _side_by_side(self, table: Any, y: Any, sample_weight: Any) -> tuple[Empirical, list[str]]:
        """Counts of a table of inputs and the outputs in ``y``."""
        if self.outputs is not None:
            raise FullspanError("outputs= names columns of the table, and y is given too; choose one of them")
        return counted_with_outputs(self._reading(), table, y, sample_weight)

    def _warn(self, fitted: Fitted) -> None:
        if fitted.status != "converged":
            warn(f"the fit ended early: {ending_words(fitted)}", ConvergenceWarning)
        warn_at_boundary(fitted)

    def _accept(self, fitted: Fitted, kind: str, empirical: Empirical | None = None) -> None:
        from fullspan.engine.dual.completion import Completer

        model, settings = fitted.model, fitted.settings
        self.fitted_, self.model_, self.space_ = fitted, model, model.space
        self._empirical, self._explained_fit, self.n_terms_ = empirical, None, len(model.terms)
        self._inputs, self._outputs = (
            [model.space.position(name) for name in settings["roles"][role]] for role in ("inputs", "outputs")
        )
        self._input_space = Space(tuple(model.space.variables[i] for i in self._inputs))
        classes = [np.array(model.space.variables[i].levels) for i in self._outputs]
        self.classes_ = classes[0] if len(classes) == 1 else classes
        self.history_, self.status_, self.n_iter_ = fitted.history, fitted.status, settings["iterations"]
        chosen = settings.get("chosen")
        self.order_ = (2 if self.order == "auto" else self.order) if chosen is None else chosen["order"]
        self.penalty_ = None if chosen is None else chosen["penalty"]
        self.adaptive_ = chosen is not None and chosen.get("adaptive", False)
        self.cross_validation_ = () if chosen is None else tuple(map(tuple, chosen["tried"]))
        self.information_gain_ = fitted.divergence
        self.diverging_ = diverging_terms(fitted)
        self.log_likelihood_ = None if fitted.goodness is None else fitted.goodness.log_likelihood
        self._name_columns(self._input_space.names, kind)
        room = math.prod(card for i, card in enumerate(model.space.cards) if i not in self._inputs)
        self._completer = Completer(model, room)

    # -- predicting -------------------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """Probability of each level of the output, (rows, levels); a list of such arrays for several outputs.

        Raises
        ------
        DataError : an input is missing, or has a value that is no level.
        """
        check_is_fitted(self)
        return self._probabilities(self._codes(X))

    def _codes(self, X: Any) -> NDArray[np.int32]:
        """Codes of the inputs; where the outputs were columns of the table, an array may have them too."""
        table = checked_table(X)
        width = len(self._inputs) + len(self._outputs)
        among = self.outputs is not None
        if among and isinstance(table, np.ndarray) and table.ndim == 2 and table.shape[1] == width:
            table = table[:, self._inputs]
        checked = checked_table(table, self.n_features_in_, type(self).__name__)
        codes = self._reading().encode(checked, self._input_space, allow_missing=False)
        refuse_unknown_inputs(codes, self._input_space)
        return codes

    def _probabilities(self, codes: NDArray[Any]) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        starts = np.cumsum([0, *self.space_.cards])
        found = [np.empty((len(codes), self.space_.cards[i])) for i in self._outputs]
        for start in range(0, len(codes), _BATCH_ROWS):
            rows = np.full((len(codes[start : start + _BATCH_ROWS]), len(self.space_)), -1, dtype=np.int64)
            rows[:, self._inputs] = codes[start : start + _BATCH_ROWS]
            means = self._completer.means(rows)
            for out, i in zip(found, self._outputs, strict=True):
                out[start : start + _BATCH_ROWS] = means[:, starts[i] : starts[i + 1]]
        return found[0] if len(found) == 1 else found

    def predict_log_proba(self, X: Any) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """Logarithms of :meth:`predict_proba`."""
        found = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(p) for p in found] if isinstance(found, list) else np.log(found)

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest level of each output, (rows,), or (rows, outputs) for several."""
        check_is_fitted(self)
        return self._likeliest(self._codes(X))

    def _likeliest(self, codes: NDArray[Any]) -> NDArray[Any]:
        found = self._probabilities(codes)
        if isinstance(found, list):
            return _side_by_side([c[p.argmax(axis=1)] for c, p in zip(self.classes_, found, strict=True)])
        return np.asarray(self.classes_[found.argmax(axis=1)])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Share of rows whose outputs are all predicted right.

        Without y, against the table's own columns; incomplete rows are then left out under ``missing="drop"`` and
        ``"em"``, and a column of counts is used if present.

        Raises
        ------
        DataError : y is not as many outputs as are predicted.
        """
        check_is_fitted(self)
        if y is not None:
            return share_right(self.predict(X), y, sample_weight)
        visible = Space(self.space_.variables[: len(self.space_) - self.fitted_.n_hidden])
        reading = replace(self._reading(), missing="drop" if self.missing == "em" else self.missing)
        rows = reading.count_again(checked_table(X), visible, checked_weight(sample_weight))
        refuse_unknown_inputs(rows.states, visible)
        observed = _side_by_side([np.array(self.space_.variables[i].levels)[rows.states[:, i]] for i in self._outputs])
        right = (self._likeliest(rows.states[:, self._inputs]).reshape(observed.shape) == observed).all(axis=1)
        return float(np.average(right, weights=rows.counts))

    def summary(self, coding: str = "sum") -> Summary:
        """The fit as statisticians read it: conditional log-likelihood, coefficients with errors; ``print`` it.

        ``coding`` is that of the coefficients: ``"sum"`` (sum-to-zero), ``"treatment"`` or ``"basis"``.
        """
        from fullspan.estimators.explain.summary import Summary

        return Summary.of(self._explained, None, coding, self._covariance() if coding == "treatment" else None)

    # -- files and scikit-learn -------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one text file, atomically; :func:`fullspan.load` reads it."""
        check_is_fitted(self)
        write_fitted(self._explained, path)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_completer", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "fitted_" in state:
            self._accept(self.fitted_, self._kind, state.get("_empirical"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.required = self.outputs is None
        return tags


def _side_by_side(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Columns (rows, outputs) that keep their values: text next to truth values stays what it is."""
    kinds = {column.dtype.kind for column in columns}
    same = len(kinds) == 1 or kinds <= set("iuf")
    return np.stack([column if same else column.astype(object) for column in columns], axis=1)


def _named(names: Sequence[str] | str | None) -> list[str] | None:
    """A list of names, also of a single one."""
    return None if names is None else [names] if isinstance(names, str) else list(names)


def _is_auto(name: str, value: Any) -> bool:
    return name in _AUTO and isinstance(value, str) and value == "auto"
