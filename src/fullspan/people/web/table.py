"""The rows that are shown next to a model: counted, and one by one."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.arrays import Ints
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.errors import QueryError
from fullspan.estimators.inputs.reading import Reading


class Table:
    """A table with the columns of a model; read when first asked for.

    Parameters
    ----------
    path : the table.
    estimator : the model, which says how cells are read.
    space : its variables.
    """

    def __init__(self, path: Path, estimator: Any, space: Space) -> None:
        self.path, self.space, self._estimator = path, space, estimator

    @cached_property
    def counts(self) -> Empirical:
        """Its distinct rows, with missing cells where there are some.

        Raises
        ------
        DataError : it cannot be read, or lacks a column of the model.
        """
        weights = self._estimator.fitted_.settings.get("weights")
        reading = replace(Reading.by(self._estimator), missing="em", weight_column=weights)
        return reading.count_again(self.path, self.space)

    @cached_property
    def codes(self) -> Ints:
        """Its rows in their order, -1 where a cell is missing."""
        return np.asarray(Reading.by(self._estimator).encode(self.path, self.space, allow_missing=True), dtype=np.int64)

    @property
    def words(self) -> str:
        """What it is, such as ``435 rows of votes.csv``."""
        return f"{self.counts.total:,.6g} rows of {self.path.name}"

    def row(self, number: int) -> Ints:
        """One row by its number, counted from 1, as (1, n).

        Raises
        ------
        QueryError : it has fewer rows.
        """
        if not 1 <= number <= len(self.codes):
            raise QueryError(f"row {number:,} was asked for; {self.path.name} has rows 1 to {len(self.codes):,}")
        return self.codes[number - 1 : number]
