"""The full-span log-linear model as a scikit-learn estimator: validate, learn, set attributes, ask."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from fullspan.data import decode, encode
from fullspan.errors import ConvergenceWarning
from fullspan.estimators.evidence import Evidence, event_of
from fullspan.estimators.parameters import check_parameters
from fullspan.estimators.progress import Reporter
from fullspan.estimators.reading import Reading, refuse_missing_level
from fullspan.estimators.tables import checked_table, checked_weight, empty_of, kind_of
from fullspan.estimators.terms import TermTable
from fullspan.model.fitted import Fitted
from fullspan.query.answer import Oracle
from fullspan.query.result import Table
from fullspan.space import Level

Names = str | Sequence[str]


class FullSpan(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Exact log-linear model of discrete data, its terms chosen from all orders by description length.

        p(x) = exp(sum_y theta_y Phi_y(x) - log Z),      y in the chosen terms

    Parameters
    ----------
    search : ``"full"``, terms and whole margins with joint refits and pruning; ``"paper"``, the published algorithm.
    basis : ``"auto"`` keeps the shorter description; ``"walsh"``, ``"indicator"`` or ``"monomial"``.
    penalty : ``"mdl"`` (the paper's description length), ``"combinatorial"``, ``"bic"``, or a factor on ``"mdl"``.
    l1 : weight of an L1 penalty on the weights; above 0, terms are searched one at a time, whatever ``search`` says.
    epsilon : the one-at-a-time search (``search="paper"`` or ``l1 > 0``) stops when a step gains less, in nats per row;
        the default search does not use it.
    max_order : most variables in a term; any by default.
    missing : missing cells are an ``"error"``, ``"drop"`` their rows, are a ``"level"`` of their own, or cells not
        observed, ``"em"``, which the search refuses.
    bins : cut numeric columns: a number of quantile bins, or ``{name: k | ("width", k) | edges}``.
    levels : ``{name: levels in order}`` for columns whose levels should not be inferred.
    columns : the columns to use, in order; all by default.
    count_column : the column that holds the count of each row.
    max_levels : most levels a column may have.
    dtype : numbers of the tables, ``"auto"``, ``"float32"`` or ``"float64"``.
    max_memory : most bytes to use; the memory that is free by default.
    verbose : tell the progress on standard error.

    Attributes
    ----------
    terms_ : the chosen terms in words, with order, weight, standard error and nats saved, strongest first.
    n_terms_ : their number.
    space_ : the variables and their levels.
    model_ : the model itself, a :class:`fullspan.model.loglinear.LogLinear`.
    log_z_ : log of its partition function.
    divergence_ : KL(data || model) in nats per row.
    description_length_ : nats to describe model and data.
    history_ : the moves of the search.
    status_ : how it ended, such as ``"converged"`` or ``"interrupted"``.
    n_features_in_, feature_names_in_ : as in scikit-learn; names only where the table has them.

    Notes
    -----
    A table is a path, a pandas, polars or Arrow frame, an array, a list of rows or an Ibis table. Columns are found by
    name where there are names, so that their order does not matter. Memory is two tables of ``prod_i |X_i|`` numbers.
    Standard errors after the default search are posterior standard deviations of the weights under the fitted prior;
    after the one-at-a-time search there is no prior, and they come from the Fisher information alone.

    References
    ----------
    Takabatake & Akaho (2022), full-span log-linear model and fast learning algorithm.

    Examples
    --------
    >>> from fullspan import FullSpan
    >>> model = FullSpan().fit([["rain", "wet"]] * 60 + [["dry", "dry"]] * 30 + [["dry", "wet"]] * 10)
    >>> max(term.order for term in model.terms_)
    2
    """

    def __init__(
        self,
        search: str = "full",
        basis: str = "auto",
        penalty: str | float = "mdl",
        l1: float = 0.0,
        epsilon: float = 1e-4,
        max_order: int | None = None,
        missing: str = "error",
        bins: Any = None,
        levels: Mapping[str, Sequence[Level]] | None = None,
        columns: Sequence[str | int] | None = None,
        count_column: str | None = None,
        max_levels: int = 64,
        dtype: str = "auto",
        max_memory: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.search = search
        self.basis = basis
        self.penalty = penalty
        self.l1 = l1
        self.epsilon = epsilon
        self.max_order = max_order
        self.missing = missing
        self.bins = bins
        self.levels = levels
        self.columns = columns
        self.count_column = count_column
        self.max_levels = max_levels
        self.dtype = dtype
        self.max_memory = max_memory
        self.verbose = verbose

    # -- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> FullSpan:
        """Learn the model of a table.

        Parameters
        ----------
        X : the table.
        y : ignored.
        sample_weight : one weight per row, or the name of the column that holds them.

        Raises
        ------
        DataError, TooLargeError : the table cannot be read, or its states are too many.
        FullspanError : a parameter is not what it should be.

        Warns
        -----
        ConvergenceWarning : the search was stopped early; the best model so far is kept.
        """
        from fullspan.learn.fit import Options, fit

        check_parameters(self.get_params(deep=False))
        table = checked_table(X)
        reading = self._reading()
        empirical = reading.count(table, checked_weight(sample_weight))
        options = Options(**{name: getattr(self, name) for name in _OPTIONS})
        with contextlib.ExitStack() as stack:
            watch = stack.enter_context(contextlib.closing(Reporter())) if self.verbose else None
            fitted = fit(empirical, options, watch=watch)
        if fitted.status != "converged":
            warnings.warn(f"the search ended early: {fitted.status}", ConvergenceWarning, stacklevel=2)
        self._accept(reading.noted(fitted), kind=kind_of(table))
        return self

    def _reading(self) -> Reading:
        return Reading(**{name: getattr(self, name) for name in _READING})

    def _accept(self, fitted: Fitted, kind: str) -> None:
        """Set the fitted attributes."""
        model = fitted.model
        self.fitted_ = fitted
        self.model_, self.space_, self.log_z_ = model, model.space, model.log_z
        self.terms_, self.n_terms_ = TermTable.of(fitted), len(model.terms)
        self.history_, self.status_ = fitted.history, fitted.status
        self.divergence_, self.description_length_ = fitted.divergence, fitted.description_length
        self.n_features_in_ = len(model.space)
        self._kind = kind
        if kind != "array":
            self.feature_names_in_ = np.array(model.space.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._oracle = Oracle(model)

    # -- rows -------------------------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log-probability of each row in nats, shape (rows,).

        Unless ``missing="error"``, missing cells and columns are summed out: the row counts for what it says.

        Raises
        ------
        DataError : a value is no level, or a cell is missing under ``missing="error"``.
        """
        check_is_fitted(self)
        return self._oracle.log_prob(self._codes(X, partial=self.missing != "error"))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean log-probability of the rows, in nats; incomplete rows are treated as in ``fit``.

        Under ``missing="em"`` missing cells are summed out, and rows without an observed cell are left out.

        Rows are counted first, so that a large file is never held in memory; a column of counts is used if present.

        Raises
        ------
        DataError : a value is no level, or a cell is missing.
        """
        check_is_fitted(self)
        table = checked_table(X, self.n_features_in_)
        empirical = self._reading().count_again(table, self.space_, checked_weight(sample_weight))
        log_prob = self.model_.log_prob if empirical.is_complete else self._oracle.log_prob
        return float(empirical.counts @ log_prob(empirical.states)) / empirical.total

    def impute(self, X: Any, how: Literal["mode", "draw", "mean"] = "mode", random_state: Any = None) -> Any:
        """Fill the missing cells of a table.

        Parameters
        ----------
        how : ``"mode"``, the likeliest completion of the row; ``"draw"``, a random one, given what the row says;
            ``"mean"``, no completion but the probabilities: ``{name: array (rows, levels)}``.
        random_state : seed or generator for ``"draw"``.

        Returns
        -------
        A frame of the kind that was given, an Arrow table for a file, with the model's variables as columns.

        Raises
        ------
        DataError : a value is no level, or an empty cell is itself a level of this model (``missing="level"``).
        """
        check_is_fitted(self)
        codes = self._codes(X, partial=True)
        refuse_missing_level(codes, self.space_)
        if how == "mean":
            return self._oracle.impute(codes, "mean")
        return decode(self._oracle.impute(codes, how, _generator(random_state)), self.space_, like=X)

    def sample(self, n_samples: int = 1, random_state: Any = None, given: Evidence = None) -> Any:
        """Draw rows, independent and exact, with part of them fixed by ``given`` if wanted.

        Returns
        -------
        A frame of the kind the model was fitted on; an Arrow table after a file or :func:`load`.
        """
        check_is_fitted(self)
        codes = self._oracle.sample(n_samples, _generator(random_state), self._event(given))
        return decode(codes, self.space_, like=empty_of(self._kind))

    def _codes(self, X: Any, *, partial: bool) -> NDArray[np.int32]:
        return encode(checked_table(X, self.n_features_in_), self.space_, allow_missing=partial)

    # -- questions --------------------------------------------------------------------------------------------

    def probability(self, event: Mapping[str, Any] | str, given: Evidence = None) -> float:
        """``P(event | given)``, from a text such as ``"party=democrat | crime=n"`` or from dictionaries."""
        check_is_fitted(self)
        return self._oracle.probability(event, self._event(given))

    def conditional(self, variables: Names, given: Evidence = None) -> Table:
        """The distribution of one variable or several, given the evidence."""
        check_is_fitted(self)
        return self._oracle.conditional(variables, self._event(given))

    def marginal(self, variables: Names) -> Table:
        """The distribution of one variable or several."""
        check_is_fitted(self)
        return self._oracle.marginal(variables)

    def mode(self, given: Evidence = None) -> dict[str, Level]:
        """The likeliest state, given the evidence, as ``{name: level}``."""
        check_is_fitted(self)
        return self.space_.labels(self._oracle.mode(self._event(given)).state.tolist())

    def entropy(self, variables: Names | None = None, given: Mapping[str, Any] | Names | None = None) -> float:
        """Entropy in nats of all variables or some, given an event or other variables.

        ``given`` is an event as a dictionary or a text (``"crime=y"``), or the names of variables; a text that is the
        name of a variable means that variable.
        """
        check_is_fitted(self)
        return self._oracle.entropy(variables, self._condition(given))

    def mutual_information(self, a: Names, b: Names, given: Mapping[str, Any] | Names | None = None) -> float:
        """Information in nats that ``a`` and ``b`` have of each other, given as for :meth:`entropy`."""
        check_is_fitted(self)
        return self._oracle.mutual_information(a, b, self._condition(given))

    def _condition(self, given: Mapping[str, Any] | Names | None) -> Mapping[str, Any] | Names | None:
        return self._event(given) if isinstance(given, str) and given not in self.space_.names else given

    def _event(self, given: Evidence) -> Mapping[str, Any] | None:
        return event_of(given, self.space_)

    # -- files and scikit-learn -------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one text file, atomically; :func:`fullspan.load` reads it."""
        from fullspan.model.file import save

        check_is_fitted(self)
        save(self.fitted_, path)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_oracle", None)  # it holds tables that are rebuilt when asked
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "model_" in state:
            self._oracle = Oracle(self.model_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


_OPTIONS = ("search", "basis", "penalty", "l1", "epsilon", "max_order", "dtype", "max_memory")
_READING = ("columns", "levels", "bins", "count_column", "missing", "max_levels")


def load(path: str | os.PathLike[str]) -> FullSpan:
    """Read a model file as a fitted estimator.

    Raises
    ------
    ModelFileError : the file is damaged, no model, or written by a newer version.
    """
    from fullspan.model.file import load as read

    fitted = read(path)
    known = {*_OPTIONS, *_READING}
    model = FullSpan(**{name: value for name, value in fitted.settings.items() if name in known})
    model._accept(fitted, kind="arrow")
    return model


def _generator(random_state: Any) -> np.random.Generator:
    """A generator from a seed, a generator, or scikit-learn's RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
