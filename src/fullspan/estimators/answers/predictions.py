"""Predictions of any column from the others, and what makes a row odd: of every estimator with a ``distribution_``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.space import Space
from fullspan.errors import DataError, FullspanError
from fullspan.estimators.inputs.reading import Reading
from fullspan.estimators.inputs.tables import checked_table

if TYPE_CHECKING:
    from fullspan.query.distribution import Distribution
    from fullspan.query.multiple_imputation import PooledMargin
    from fullspan.query.oddness import RowExplanation


class Predictions:
    """``predict``, ``predict_proba`` and ``explain_row`` of a model of all its columns.

    A column is predicted from the other cells of each row, exactly: cells that are missing are summed out, and what
    the table says of the column itself is ignored. The table may be without it.
    """

    def predict(self, X: Any, column: str | None = None) -> NDArray[Any]:
        """The likeliest level of one column given the other observed cells of each row.

        Parameters
        ----------
        X : the table, with or without the column.
        column : its name, ``"x0"``, ``"x1"``, ... for arrays. If None, every column is predicted from the others.

        Returns
        -------
        (rows,) levels; (rows, columns) if no column is named. A binned column has the median of the data in the
        likeliest bin, as :meth:`impute` fills it in.

        Raises
        ------
        QueryError : there is no such column, or what a row says has probability 0.
        DataError : a value is no level.
        FullspanError : the model predicts some columns from others, or is a deep machine, which has bounds only.
        """
        from fullspan.data.decoding import as_array
        from fullspan.data.tables.filling import values_of

        visible = self._all_columns()
        if column is None:
            every = zip(visible.variables, self._each_column(X), strict=True)
            return as_array({v.name: values_of(v, p.argmax(axis=1)) for v, p in every})
        i = visible.position(column)
        return values_of(visible.variables[i], self._of_column(X, i).argmax(axis=1))

    def predict_proba(self, X: Any, column: str | None = None) -> Any:
        """Probability of each level of one column given the other observed cells of each row; see :meth:`predict`.

        Returns
        -------
        (rows, levels) in the order of the column's levels, which :meth:`levels_of` gives. If no column is named,
        those of all columns side by side, (rows, levels of all columns).
        """
        visible = self._all_columns()
        if column is None:
            return np.concatenate(self._each_column(X), axis=1)
        return self._of_column(X, visible.position(column))

    def levels_of(self, column: str) -> NDArray[Any]:
        """The levels of a column, in the order of :meth:`predict_proba`.

        Raises
        ------
        QueryError : there is no such column.
        """
        from fullspan.data.decoding import decoded

        visible = self._all_columns()
        variable = visible.variables[visible.position(column)]
        return decoded(variable.name, variable.levels, np.arange(variable.card))

    def explain_row(self, row: Any, n_draws: int = 2000, random_state: Any = 0) -> RowExplanation:
        """How odd a row is, and which cells make it so: each cell given the rest, and what would be likeliest there.

        Parameters
        ----------
        row : ``{name: level}``, or a table of one row; cells may be missing, and are summed out.
        n_draws : rows drawn from the model, to compare the row with.
        random_state : their seed, or a generator.

        Raises
        ------
        DataError : there is not exactly one row, it has no value in a column of the model, or one that is no level.
        QueryError : what the row says has probability 0.
        FullspanError : as for :meth:`predict`.
        """
        from fullspan.estimators.inputs.seeds import generator
        from fullspan.query.oddness import explain_rows

        visible = self._all_columns()
        table = [dict(row)] if isinstance(row, Mapping) or (hasattr(row, "to_dict") and np.ndim(row) == 1) else row
        codes = self._rows_of(table, visible)
        if len(codes) != 1:
            raise DataError(
                f"{len(codes)} rows were given; one is explained at a time: give X.iloc[[i]], or a dictionary"
            )
        if (codes < 0).all():
            raise DataError(f"the row has a value in no column of the model: {', '.join(map(repr, visible.names))}")
        if not isinstance(n_draws, int | np.integer) or n_draws < 1:
            raise FullspanError(f"n_draws is {n_draws!r}; a whole number of at least 1 is needed")
        return explain_rows(self._predicting(), codes, generator(random_state), int(n_draws))[0]

    def imputed_margin(self, X: Any, column: str, n_draws: int = 20, random_state: Any = 0) -> PooledMargin:
        """The shares of a column's levels in a table with missing cells, by multiple imputation and Rubin's rules.

        Each draw fills all missing cells from their distribution given the row. The standard errors include the chance
        in the rows and in the missing cells, given the model; they do not include errors of the model's weights.

        Parameters
        ----------
        X : the table.
        column : the column whose shares are wanted.
        n_draws : completed tables, at least 2.
        random_state : seed of the draws, or a generator.

        Raises
        ------
        QueryError : there is no such column, or what a row says has probability 0.
        FullspanError : ``n_draws`` is below 2.
        """
        from fullspan.estimators.inputs.seeds import generator
        from fullspan.query.multiple_imputation import pooled_margin

        visible = self._all_columns()
        i = visible.position(column)
        return pooled_margin(self._predicting(), self._rows_of(X, visible), i, n_draws, generator(random_state))

    # -- rows -------------------------------------------------------------------------------------------------

    def _predicting(self) -> Distribution:
        found: Distribution = self.distribution_  # type: ignore[attr-defined]
        return found

    def _row_reading(self) -> Reading:
        """How rows are read."""
        return Reading.by(self)

    def _all_columns(self) -> Space:
        """The observed variables.

        Raises
        ------
        FullspanError : the model predicts some columns from others: it has no probabilities of these others.
        """
        from sklearn.utils.validation import (
            check_is_fitted,
        )  # which takes a second that a network's answers need not wait for

        check_is_fitted(self)
        if self._is_conditional():
            raise FullspanError(
                "this model predicts its outputs from its inputs and nothing else: use predict(X) without a "
                "column, or learn a model of all columns"
            )
        return self._predicting().visible

    def _is_conditional(self) -> bool:
        """Whether the model predicts some columns from others."""
        return False

    def _each_column(self, X: Any) -> list[NDArray[np.float64]]:
        """Probabilities of the levels of every column, given the others."""
        from fullspan.query.prediction import level_probabilities

        distribution = self._predicting()
        codes = self._rows_of(X, distribution.visible)
        return [level_probabilities(distribution, codes, i) for i in range(len(distribution.visible))]

    def _of_column(self, X: Any, i: int) -> NDArray[np.float64]:
        from fullspan.query.prediction import level_probabilities

        distribution = self._predicting()
        return level_probabilities(distribution, codes_without(self._row_reading(), X, distribution.visible, i), i)

    def _rows_of(self, X: Any, space: Space) -> NDArray[np.int32]:
        """Codes of a table, −1 where a cell or a column is missing."""
        table = checked_table(_named_columns(X, space), len(space), type(self).__name__)
        return self._row_reading().encode(table, space, allow_missing=True)


def codes_without(reading: Reading, X: Any, space: Space, i: int) -> NDArray[np.int64]:
    """Codes of rows with −1 in column i, whatever stands there; missing cells and columns are −1 too.

    An array may have all columns of the model, or all but this one.

    Raises
    ------
    DataError : a value is no level, or an array has another number of columns.
    """
    table = _named_columns(X, space)
    if isinstance(table, list | tuple) and len(table) and not isinstance(table[0], Mapping):
        table = np.array(table, dtype=object)
    rest = Space(tuple(v for j, v in enumerate(space.variables) if j != i))
    if isinstance(table, np.ndarray) and table.ndim == 2 and table.shape[1] != len(rest):
        table = np.delete(checked_table(table, len(space)), i, axis=1)
    if not len(rest):
        return np.full((len(reading.encode(table, space, allow_missing=True)), 1), -1, dtype=np.int64)
    found = reading.encode(checked_table(table, len(rest)), rest, allow_missing=True)
    return np.insert(found.astype(np.int64), i, -1, axis=1)


def _named_columns(X: Any, space: Space) -> Any:
    """The table; an array that is wider than the model, some of whose columns were chosen by name, by these names."""
    table = checked_table(X)
    if isinstance(table, np.ndarray) and table.ndim == 2 and table.shape[1] > len(space):
        named = {f"x{j}": table[:, j] for j in range(table.shape[1])}
        if set(space.names) <= set(named):
            return named
    return table
