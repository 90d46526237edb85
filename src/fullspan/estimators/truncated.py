"""Truncated Boltzmann machines as a scikit-learn estimator: hundreds of variables, exact and convex."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fullspan.data.space import Space
from fullspan.data.tables.missing import MissingCellsError
from fullspan.errors import BoundaryWarning, FullspanError, warn
from fullspan.estimators.density import DensityEstimator
from fullspan.estimators.explain.endings import diverging_terms, warn_at_boundary
from fullspan.estimators.inputs.checks import Applies
from fullspan.estimators.inputs.seeds import generator
from fullspan.estimators.inputs.settings import options_of, own_parameters
from fullspan.estimators.inputs.shared_parameters import Memory, Seed
from fullspan.estimators.machine_features import intensities, row_intensities
from fullspan.learn.base.reporter import MINING, announce

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.estimators.explain.summary import Summary
    from fullspan.learn.base.reporter import Reporter
    from fullspan.learn.truncated.fit import TruncatedOptions
    from fullspan.model.fitted import Fitted

_NAMED_VARIABLES = 12
"""Variables up to which a state is shown by naming all."""


def _mines(of: Any) -> bool:
    """Whether the patterns with a weight are looked for in the rows."""
    return of.patterns is None and of.n_pairs is None


@dataclass(eq=False, repr=False)
class TruncatedBoltzmannMachine(Memory, Seed, TransformerMixin, DensityEstimator):  # type: ignore[misc]
    """A Boltzmann machine on the states seen, the patterns with a weight, and the state 0.

        p(x) = exp(sum_{b in B} theta_b [b in x] - log Z)   for x in S = D, B, {0};      0 elsewhere

    A pattern b is a set of items; an item is a variable at any level but its first. log Z is a sum over S, so that
    training is exact and convex for thousands of variables.

    Parameters
    ----------
    max_order : most items in a pattern.
    min_support : patterns in fewer rows have no weight: a share of the rows, or a whole number of them.
    patterns : instead, these patterns alone: names, sets of names, or ``{name: level}``.
    n_pairs : instead, all single items and this number of random pairs.
    states : further states of S, as rows like those of the table; or ``"all"``: nothing is truncated.
    solver : ``"auto"``, ``"newton"``, ``"lbfgs"``, or ``"gradient"``, the published descent.
    learning_rate : of ``"gradient"``; by default one at which the likelihood never falls.
    l2 : penalty ``l2/2 sum theta^2``, in nats per row.
    tol : largest difference allowed between the expectations of model and data.
    max_iter : maximum number of iterations; the solver's own limit by default, for ``"gradient"`` the published 10,000.
    unseen : probability reserved for all states outside S together, the same for each; 0 gives them a log-probability
        of -inf. Nothing is reserved if S has all states.
    missing : what to do with missing values: report an ``"error"``, ``"drop"`` incomplete rows, or make them a
        ``"level"`` of their own.

    Attributes
    ----------
    model_ : a :class:`fullspan.model.truncated.TruncatedLogLinear`; ``model_.states`` are the states of S.
    n_states_ : number of states.
    intensities_ : (n,) ``f_i = |lambda_i| + sum_j |lambda_ij|`` and so on, of every variable.
    goodness_ : measures of fit, against the saturated model on S.
    diverging_ : patterns whose weights have no finite maximum; the model is the limit.
    n_iter_ : iterations of the solver.

    And those of every estimator: ``space_``, ``terms_``, ``n_terms_``, ``log_z_``, ``log_likelihood_``,
    ``divergence_``, ``description_length_``, ``history_``, ``status_``, ``n_features_in_``, ``feature_names_in_``.

    Notes
    -----
    S holds B and 0, so that there are always fewer weights than states, and the model matrix has full rank. With more
    weights than distinct rows the maximum usually lies at infinity, and the limit is the data itself.

    References
    ----------
    Sugiyama, Tsuda and Nakahara, sample space truncation on Boltzmann machines.

    Examples
    --------
    >>> from fullspan import TruncatedBoltzmannMachine
    >>> baskets = [[0, 0, 0]] * 3 + [[1, 1, 0]] * 4 + [[1, 0, 0]] * 2 + [[0, 1, 0], [1, 1, 1]]
    >>> machine = TruncatedBoltzmannMachine(min_support=2, l2=0.01).fit(baskets)
    >>> machine.n_terms_, machine.n_states_
    (3, 5)
    >>> machine.score_samples([[1, 1, 0], [0, 0, 1]]).round(3).tolist()
    [-1.503, -inf]
    """

    max_order: int = 2
    min_support: float | int = 0.1
    patterns: Any = None
    n_pairs: int | None = None
    states: Any = None
    solver: Literal["auto", "newton", "lbfgs", "gradient"] = "auto"
    learning_rate: float | None = None
    l2: float = 0.0
    tol: float = 1e-8
    max_iter: int | None = None
    unseen: float = 0.0

    # -- learning ---------------------------------------------------------------------------------------------

    def _counted_table(self, table: Any, sample_weight: Any) -> Empirical:
        try:
            return super()._counted_table(table, sample_weight)
        except MissingCellsError as error:  # its patterns are of whole rows: em is no remedy here
            raise error.without_em() from None

    _applies = (Applies(("max_order", "min_support"), "frequent patterns: without patterns= and n_pairs=", _mines),)

    def _learn(self, empirical: Empirical, watch: Reporter | None) -> Fitted:
        from fullspan.learn.truncated.fit import fit_truncated

        if self.max_order is None:
            raise FullspanError("max_order is None; a whole number of at least 1 is needed, such as 2")
        announce(watch, MINING)
        fitted = fit_truncated(empirical, self._options(empirical.space), watch)
        patterns = None if self.patterns is None else [_plain(p) for p in self.patterns]
        own = {"patterns": patterns, "states": self.states if isinstance(self.states, str) else None}
        return replace(fitted, settings={**fitted.settings, **own_parameters(self), **own})

    def _options(self, space: Space) -> TruncatedOptions:
        from fullspan.learn.truncated.fit import TruncatedOptions

        more = self.states
        if more is not None and not isinstance(more, str):
            more = self._reading().encode(more, space, allow_missing=False)
        return options_of(self, TruncatedOptions, states=more, seed=generator(self.random_state))

    def _warn(self, fitted: Fitted) -> None:
        super()._warn(fitted)
        warn_at_boundary(fitted)
        if fitted.settings.get("undecided"):
            warn(
                f"weights have grown up to {np.abs(fitted.model.theta).max():.3g}: the maximum may lie at infinity, "
                "and the space is too large to find out which states vanish; l2=1e-4 keeps all weights finite",
                BoundaryWarning,
            )

    def _accept(self, fitted: Fitted, kind: str, empirical: Empirical | None = None) -> None:
        model: Any = fitted.model
        self.fitted_, self.model_, self.space_, self.log_z_ = fitted, model, model.space, model.log_z
        self.n_terms_, self.n_states_ = len(model.terms), len(model.states)
        self.history_, self.status_ = fitted.history, fitted.status
        self.divergence_, self.description_length_ = fitted.divergence, fitted.description_length
        self.goodness_ = fitted.goodness
        self.log_likelihood_ = -fitted.total * (fitted.divergence + fitted.entropy)
        self.diverging_, self.n_iter_ = diverging_terms(fitted), fitted.settings.get("iterations")
        self.intensities_ = intensities(model)
        self._empirical, self._explained_fit = empirical, None
        self._accept_columns(kind)

    def summary(self, coding: str = "basis") -> Summary:
        """The fit as statisticians read it; with residuals of states where there are few variables to name."""
        from fullspan.estimators.explain.summary import Summary

        check_is_fitted(self)
        return (
            super().summary(coding)
            if len(self.space_) <= _NAMED_VARIABLES
            else Summary.of(self._explained, None, coding)
        )

    # -- features ---------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Intensity of every variable in every row, shape (rows, n): the sizes of the weights of what the row contains.

            f_i(x) = sum_{b in x, i in b} |theta_b|

        A row with all items has ``intensities_``, the features of the machine.

        Raises
        ------
        DataError : a value is no level, or a cell is missing.
        """
        check_is_fitted(self)
        return row_intensities(self.model_, self._codes(X, partial=False))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of what :meth:`transform` returns: those of the variables."""
        from sklearn.utils.validation import _check_feature_names_in

        check_is_fitted(self)
        if input_features is None:
            return np.array(self.space_.names, dtype=object)
        return np.asarray(_check_feature_names_in(self, input_features))


def _plain(pattern: Any) -> Any:
    if isinstance(pattern, Mapping):
        return {str(name): level for name, level in pattern.items()}
    return pattern if isinstance(pattern, str | int) else [str(name) for name in pattern]
