"""What every estimator of a joint distribution answers, however it was learned.

A subclass has its parameters and ``_learn``, which turns counts into a fitted model; all else is here.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from fullspan.data import decode, fill, held
from fullspan.data.decoding import framed
from fullspan.data.space import Level, Space
from fullspan.data.tables.filling import made
from fullspan.data.tables.prototype import plain_prototype
from fullspan.errors import ConvergenceWarning, FullspanError, warn
from fullspan.estimators.answers.exchange import Exchange, graph_of
from fullspan.estimators.answers.exploring import Explorable
from fullspan.estimators.answers.plots import Plots
from fullspan.estimators.answers.predictions import Predictions
from fullspan.estimators.answers.questions import Questions
from fullspan.estimators.answers.what_if import WhatIf
from fullspan.estimators.checkpoints import kept_on_interrupt, restored_on_error
from fullspan.estimators.explain.endings import ended_early, ending_words
from fullspan.estimators.explain.explained import Explained
from fullspan.estimators.explain.limits import limit_line, measured_by, recorded
from fullspan.estimators.inputs.checks import check_estimator
from fullspan.estimators.inputs.evidence import Evidence, event_of
from fullspan.estimators.inputs.reading import Reading, refuse_missing_level, say_missing
from fullspan.estimators.inputs.seeds import generator
from fullspan.estimators.inputs.shared_parameters import Parameters
from fullspan.estimators.inputs.tables import checked_table, checked_weight, empty_of, kind_of
from fullspan.estimators.registry import distribution_of, write_fitted
from fullspan.learn.base.reporter import Reporter, announce, is_followed, reading, reported
from fullspan.model.fitted import Fitted
from fullspan.model.graph import FactorGraph
from fullspan.query.distribution import Distribution

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.estimators.explain.residuals import Kind, Residuals
    from fullspan.estimators.explain.summary import Summary

_RESIDUALS = 5
"""Residuals in a summary."""


class _Answers(Questions, Explained, Plots, Explorable, Predictions, WhatIf, Exchange):
    """What is asked of every joint distribution, by subject."""


class DensityEstimator(Parameters, _Answers, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """An exact model of the joint distribution of a table's columns, and of hidden variables where there are any.

    Attributes
    ----------
    interactions_ : one row per set of two variables or more, whatever the basis: its effect in words, with an interval,
        and the nats it saves, strongest first.
    terms_ : the weights of the basis in words, with order, standard error and nats saved, strongest first.
    n_terms_ : number of terms.
    space_ : the variables and their levels; hidden ones come last.
    distribution_ : what answers, a :class:`fullspan.query.distribution.Distribution`.
    model_ : the model itself, a :class:`fullspan.model.loglinear.LogLinear`.
    log_z_ : log of its partition function.
    log_likelihood_ : of all rows, in nats; of their observed cells where some are missing.
    divergence_ : KL(data || model) in nats per row.
    description_length_ : nats to describe model and data.
    history_ : the steps of the learner.
    missing_ : {column: {text: cells}}, the missing cells of the table by the text that stands there, "" if none.
    status_ : how it ended, such as ``"converged"`` or ``"interrupted"``.
    limits_ : of a model that does without the table of all states, how, and its largest pairwise misfit; else None.
    n_features_in_, feature_names_in_ : as in scikit-learn, of the observed columns; names where the table has them.

    Notes
    -----
    A table is a path, a pandas, polars or Arrow frame, an array, a list of rows or an Ibis table. Columns are found by
    name where there are names, so that their order does not matter. Hidden variables are no columns: rows are scored
    and filled in with these summed out, and samples have none; questions may name them.
    """

    fitted_: Any

    # -- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
        ConvergenceWarning : the learner was stopped early; the best model so far is kept.
        """
        return self._fit(X, sample_weight)

    def _fit(self, X: Any, sample_weight: Any, validation: Any = None, posed: Any = None) -> Self:
        """:meth:`fit`, with a further table for learners that judge models by rows of their own.

        ``posed`` makes a checked table into the counts and what learns from them, where ``fit`` was given more than X.
        """
        started = time.perf_counter()
        check_estimator(self)
        with self._watched() as watch:
            announce(watch, reading(X))
            table = checked_table(X)
            learn: Any = self._learn
            if posed is None:
                empirical = self._counted_table(table, sample_weight)
            else:
                empirical, learn = posed(table)
            if validation is not None:
                learn = partial(learn, valid=self._reading().count_again(checked_table(validation), empirical.space))
            announce(watch)
            fitted = learn(empirical, watch)
        self._warn(fitted)
        seconds = time.perf_counter() - started
        with restored_on_error(self):
            self._accept(self._noted(fitted, sample_weight), kind_of(table), empirical)
            self._record(empirical, seconds)
        return self

    def _counted_table(self, table: Any, sample_weight: Any) -> Empirical:
        """The counts of a table; what is missing in it is kept in ``missing_``, and said if ``verbose``."""
        empirical = self._reading().count(table, checked_weight(sample_weight))
        self.missing_ = say_missing(empirical.missing_cells, verbose=self.verbose)
        return empirical

    def _record(self, empirical: Empirical, seconds: float) -> None:
        """Measure how far the accepted model is from its data, keep it with the model, and say it if verbose."""
        fitted, distribution = self.fitted_, self.distribution_
        with kept_on_interrupt():
            self.fitted_ = recorded(fitted, empirical, seconds, lambda: measured_by(distribution, fitted, empirical))
        if self.verbose and not is_followed() and self.limits_ is not None:
            print(self.limits_, file=sys.stderr)

    @property
    def limits_(self) -> str | None:
        """How the model does without the table of all states, and its largest pairwise misfit; None if it uses it."""
        check_is_fitted(self)
        return limit_line(self.fitted_)

    def _watched(self) -> contextlib.AbstractContextManager[Reporter | None]:
        """Where every step is reported, if anywhere."""
        return reported(verbose=self.verbose)

    @abstractmethod
    def _learn(self, empirical: Empirical, watch: Reporter | None) -> Fitted:
        """The model of counted data; every step is reported to ``watch``. May take ``valid=``, rows held out."""

    def _warn(self, fitted: Fitted) -> None:
        """Warn, on behalf of the caller of ``fit``, of what a person should know about the result."""
        if ended_early(fitted.status):
            warn(f"the fit ended early: {ending_words(fitted)}", ConvergenceWarning)

    def _reading(self) -> Reading:
        return Reading.by(self)

    def _noted(self, fitted: Fitted, sample_weight: Any = None) -> Fitted:
        """The fitted model with what :func:`fullspan.load` needs to make an estimator like this one."""
        fitted = self._reading().weighted_by(sample_weight).noted(fitted)
        return replace(fitted, settings={**fitted.settings, "estimator": type(self).__name__})

    def _accept(self, fitted: Fitted, kind: str, empirical: Empirical | None = None) -> None:
        """Set the fitted attributes; ``kind`` is that of the tables to return, ``empirical`` the data if at hand."""
        model = fitted.model
        self.fitted_ = fitted
        self.model_, self.space_, self.log_z_ = model, model.space, model.log_z
        self.n_terms_ = len(model.terms)
        self._explained_fit = None
        self.history_, self.status_ = fitted.history, fitted.status
        self.divergence_, self.description_length_ = fitted.divergence, fitted.description_length
        self.log_likelihood_ = -fitted.total * (fitted.divergence + fitted.entropy)
        self._empirical, self._counted = empirical, empirical
        self.oob_score_, self.oob_error_ = _out_of_bag(fitted)
        self._accept_columns(kind)

    def _accept_columns(self, kind: str) -> None:
        """The columns of the accepted model, and its distribution, which is made when first asked."""
        self.__dict__.pop("_distribution", None)
        self._name_columns(self.distribution_.visible.names, kind)

    @property
    def distribution_(self) -> Distribution:
        """The distribution of the fitted model, which answers everything that is asked of it."""
        check_is_fitted(self)
        if "_distribution" not in self.__dict__:
            self._distribution = distribution_of(self.fitted_)
        return self._distribution

    # -- rows -------------------------------------------------------------------------------------------------

    @property
    def _visible(self) -> Space:
        """The observed variables."""
        return self.distribution_.visible

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log-probability of each row in nats, shape (rows,).

        Unless ``missing="error"``, missing cells and columns are summed out: the row counts for what it says.

        Raises
        ------
        DataError : a value is no level, or a cell is missing under ``missing="error"``.
        """
        check_is_fitted(self)
        return self._log_prob(self._codes(X, partial=self.missing != "error"))

    def _is_conditional(self) -> bool:
        return bool(self.fitted_.is_conditional)

    def _log_prob(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """Of rows of visible codes, -1 where a cell is not observed."""
        return self.distribution_.log_prob(codes)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean log-probability of the rows, in nats; incomplete rows are treated as in ``fit``.

        Under ``missing="em"`` missing cells are summed out, and rows without an observed cell are left out.

        Rows are counted first, so that a large file is never held in memory; a column of counts is used if present.

        Raises
        ------
        DataError : a value is no level, or a cell is missing.
        """
        check_is_fitted(self)
        table = self._table(X, self.n_features_in_)
        empirical = self._reading().count_again(table, self.distribution_.visible, checked_weight(sample_weight))
        return float(empirical.counts @ self.distribution_.log_prob(empirical.states)) / empirical.total

    def impute(
        self,
        X: Any,
        how: Literal["mode", "cells", "draw", "mean"] = "mode",
        random_state: Any = None,
        n_draws: int | None = None,
    ) -> Any:
        """Fill the missing cells of a table; all else stays as it is: observed cells, further columns, their order.

        Parameters
        ----------
        X : the table.
        how : ``"mode"``, the likeliest completion of the row, all its missing cells together; ``"cells"``, the
            likeliest value of each missing cell on its own, of which more are right, though together they may be
            unlikely; ``"draw"``, a random completion, given what the row says;
            ``"mean"``, no completion but the probabilities: ``{name: array (rows, levels)}``.
        random_state : seed or generator for ``"draw"``.
        n_draws : multiple imputation: that many independent draws of the whole table.

        Returns
        -------
        A frame of the kind that was given, an Arrow table for a file; a list of them if ``n_draws`` is given. A cell of
        a binned column becomes a number: the median of the data in the bin, or under ``"draw"`` one drawn as the data
        are spread there. A bin without data, or of a model file without these values, has its middle instead. A column
        keeps its type where that can hold the filled cells: whole numbers become floating-point if one of these is not
        whole. Variables that the table has no column for are added at the end.

        Raises
        ------
        FullspanError : ``n_draws`` is below 1, or given where nothing is drawn.
        DataError : a value is no level, or an empty cell is itself a level of this model (``missing="level"``).
        """
        check_is_fitted(self)
        if how not in ("mode", "cells", "draw", "mean"):
            raise FullspanError(f"how is {how!r}; choose 'mode', 'cells', 'draw' or 'mean'")
        X = held(X)
        codes = self._codes(X, partial=True)
        refuse_missing_level(codes, self.distribution_.visible)
        if n_draws is not None and (how != "draw" or n_draws < 1):
            raise FullspanError(f"n_draws is {n_draws} with how={how!r}; it is a number of draws, with how='draw'")
        if how == "mean":
            return self.distribution_.impute(codes, "mean")
        rng = generator(random_state)
        tables = [self._completed(X, codes, how, rng) for _ in range(n_draws or 1)]
        return tables[0] if n_draws is None else tables

    def _completed(self, X: Any, codes: Any, how: Literal["mode", "cells", "draw"], rng: np.random.Generator) -> Any:
        """The table with its missing cells filled."""
        if how == "cells":
            found = self.distribution_.likeliest_cells(codes)
        else:
            found = self.distribution_.impute(codes.copy(), how, rng)  # which fills in the codes it is given
        return fill(checked_table(X), self._visible, codes, found, rng if how == "draw" else None)

    def sample(self, n_samples: int = 1, random_state: Any = None, given: Evidence = None) -> Any:
        """Draw rows, independent and exact, with part of them fixed by ``given`` if wanted.

        Returns
        -------
        A frame of the kind the model was fitted on; an Arrow table after a file or :func:`load`.
        """
        check_is_fitted(self)
        codes = self.distribution_.sample(n_samples, generator(random_state), self._event(given))
        return decode(codes, self.distribution_.visible, like=empty_of(self._kind))

    def synthesize(
        self,
        n_samples: int = 1,
        random_state: Any = None,
        given: Evidence = None,
        forbid: str | Sequence[str] = (),
        like: Any = None,
    ) -> Any:
        """Draw rows with numbers in place of bins, and empty cells in place of the level "(missing)".

        Parameters
        ----------
        n_samples : number of rows.
        random_state : seed or generator.
        given : what all rows meet, as for :meth:`sample`.
        forbid : events that no row shows, ``"sex=m, pregnant=y"``, or a list of them; exact, without rejection.
        like : a table whose cells are drawn, so that types and spelling are its own, and numbers have its distribution
            within their bin. By default numbers are those that the model keeps of each bin.

        Returns
        -------
        A frame of the kind of ``like``, or of the table that the model was fitted on.

        Raises
        ------
        QueryError : a condition is impossible, or names an unknown column or level.
        FullspanError : models of this kind cannot exclude events exactly.
        """
        check_is_fitted(self)
        from fullspan.estimators.answers.drawing import conditioned, like_of, listed

        rng, visible = generator(random_state), self._visible
        codes = conditioned(self.distribution_, n_samples, rng, self._event(given), listed(forbid))
        if like is None:
            return framed(made(codes, visible, rng), visible, empty_of(self._kind))
        proto = plain_prototype(like, visible.names, self.na_values)
        return like_of(proto.typed(proto.drawn(codes, visible, rng)), like)

    def _codes(self, X: Any, *, partial: bool) -> NDArray[np.int32]:
        return self._reading().encode(
            self._table(X, self.n_features_in_), self.distribution_.visible, allow_missing=partial
        )

    def _table(self, X: Any, n_features: int) -> Any:
        """The table to ask about; of an array as wide as that of the fit, columns of the model are found by name."""
        table = checked_table(X)
        chosen = self.columns is not None or self.count_column is not None
        if chosen and isinstance(table, np.ndarray) and table.ndim == 2 and table.shape[1] > n_features:
            named = {f"x{i}": table[:, i] for i in range(table.shape[1])}
            if set(self._visible.names) <= set(named):
                return named
        return checked_table(table, n_features, type(self).__name__)

    # -- questions --------------------------------------------------------------------------------------------

    def mode(self, given: Evidence = None) -> dict[str, Level]:
        """The likeliest state of the observed variables, given the evidence, as ``{name: level}``."""
        check_is_fitted(self)
        return self.distribution_.most_probable(given=given).levels

    def _event(self, given: Evidence) -> Mapping[str, Any] | None:
        return event_of(given, self.space_)

    # -- the fit ----------------------------------------------------------------------------------------------

    def summary(self, coding: str = "sum") -> Summary:
        """The fit as statisticians read it: measures of fit, interactions, coefficients, residuals; ``print`` it.

        Parameters
        ----------
        coding : of the coefficients: ``"sum"`` (sum-to-zero), ``"treatment"`` (against the first levels, as in R) or
            ``"basis"``, the weights as they are.

        Raises
        ------
        FullspanError : the coding is unknown.
        """
        from fullspan.estimators.explain.residuals import largest
        from fullspan.estimators.explain.summary import Summary

        fitted, data = self._explained, self._empirical
        covariance = self._covariance() if coding == "treatment" else None
        if data is None or not data.is_complete or fitted.is_conditional:
            return Summary.of(fitted, None, coding, covariance)
        return Summary.of(fitted, largest(self.distribution_, data, _RESIDUALS), coding, covariance)

    def residuals(self, kind: Kind = "pearson", table: bool = False) -> Residuals | NDArray[np.float64]:
        """Residuals between the counts n of the data and the fitted counts m.

        Parameters
        ----------
        kind : ``"pearson"``, (n - m) / sqrt(m); ``"deviance"``, whose squares sum to G2; ``"raw"``, n - m.
        table : all cells as an array with one axis per observed variable, in the order of their levels, instead of a
            list of the cells seen, the largest first.

        Raises
        ------
        FullspanError : the data are not at hand, after :func:`fullspan.load` or without rows; cells were missing; or
            the model predicts some columns from others.
        TooLargeError : a table of more than 2^20 cells is asked for.
        """
        from fullspan.estimators.explain.residuals import of_cells_seen, of_table

        check_is_fitted(self)
        if self._empirical is None:
            raise FullspanError("residuals need the rows, which neither a model file nor margins have; fit them first")
        if self.fitted_.is_conditional:
            raise FullspanError("residuals compare counts of whole rows; this model predicts some columns from others")
        return (of_table if table else of_cells_seen)(self.distribution_, self._empirical, kind)

    # -- notebooks --------------------------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        """A fitted model as notebooks show it; one that is not, as scikit-learn shows its parameters."""
        if not hasattr(self, "fitted_"):
            return str(super()._repr_html_())
        from fullspan.estimators.explain.notebook import model_html

        return model_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    # -- files and scikit-learn -------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one text file, atomically; :func:`fullspan.load` reads it."""
        check_is_fitted(self)
        write_fitted(self._record_to_save(), path)

    def _factors(self) -> FactorGraph:
        check_is_fitted(self)
        return graph_of(self.fitted_)

    def _record_to_save(self) -> Any:
        """The fitted record with all that a file keeps."""
        return self._explained

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_distribution", None)  # it holds tables that are rebuilt when asked
        return state


def _out_of_bag(fitted: Fitted) -> tuple[float | None, float | None]:
    """Mean log-likelihood of the rows left out by bootstrap fits, and its error; None for a single fit."""
    found = fitted.out_of_bag
    return (None, None) if found is None else (found.score, found.error)
