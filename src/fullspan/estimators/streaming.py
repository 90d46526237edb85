"""Learning from tables that come one after the other: counts are all that is kept of them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from fullspan.data import Empirical
from fullspan.errors import DataError, FullspanError
from fullspan.estimators.density import DensityEstimator
from fullspan.estimators.inputs.checks import check_parameters
from fullspan.estimators.inputs.reading import say_missing
from fullspan.estimators.inputs.tables import checked_table, checked_weight, kind_of
from fullspan.estimators.transaction import restored_on_error

if TYPE_CHECKING:
    from fullspan.estimators.inputs.reading import Reading


class StreamingEstimator(DensityEstimator):
    """An estimator that can go on where it stopped counting."""

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, learn: bool = True) -> Self:
        """Add the rows of a further table, and learn the model of all rows so far.

        The model is that of ``fit`` on all rows at once: the counts add up, and the search starts anew from them; its
        time does not grow with the rows. Columns that the first table has cut into bins keep their edges.

        A call that raises leaves counts and model as they were, so that it can be repeated. A search that Ctrl-C stops
        with a model at hand does not raise: it warns, and its rows are counted.

        Parameters
        ----------
        X : the table; or counts that were made elsewhere, an :class:`fullspan.data.Empirical`.
        y : ignored.
        sample_weight : one weight per row, or the name of the column that holds them; None with counts, which are
            weighted already.
        learn : False adds the counts only; the model stays as it is until the next table.

        Raises
        ------
        DataError, TooLargeError : as for ``fit``; or the table has other variables than those before, or
            weights were given with counts.
        FullspanError : the model was read from a file, which holds no counts.
        """
        started = time.perf_counter()
        check_parameters(self.get_params(deep=False))
        before: Empirical | None = getattr(self, "_counted", None)
        if before is None and hasattr(self, "model_"):
            raise FullspanError("a model file holds no counts to add to; fit the rows so far again, and go on then")
        counts, kind = self._count_further(X, sample_weight, before)
        with restored_on_error(self):
            self.missing_ = say_missing(counts.missing_cells, verbose=self.verbose)
            self._counted = counts if before is None else before + counts
            if learn:
                with self._watched() as watch:
                    fitted = self._learn(self._counted, watch)
                self._warn(fitted)
                seconds = time.perf_counter() - started
                self._accept(self._noted(fitted), kind, self._counted)
                self._record(self._counted, seconds)
        return self

    def _count_further(self, X: Any, sample_weight: Any, before: Empirical | None) -> tuple[Empirical, str]:
        """The counts of a further table, and its kind."""
        if isinstance(X, Empirical):
            if sample_weight is not None:
                raise DataError(
                    "counts were given with sample_weight=; they are weighted already: give the weights to "
                    "fullspan.data.count, or give the table itself"
                )
            return X, kind_of(X)
        table = checked_table(X, self._width(before), type(self).__name__)
        return self._further(before).count(table, checked_weight(sample_weight)), kind_of(table)

    def _width(self, before: Empirical | None) -> int | None:
        """Columns that a further array must have, where all of them are variables."""
        reading = self._reading()
        return None if before is None or reading.columns or reading.count_column else len(before.space)

    def _further(self, before: Empirical | None) -> Reading:
        """How to read the next table: the same columns, and the bins that there are."""
        reading = self._reading()
        if before is None:
            return reading
        edges = {v.name: list(v.edges) for v in before.space.variables if v.edges is not None}
        return replace(reading, bins=edges or None) if reading.bins is not None else reading
