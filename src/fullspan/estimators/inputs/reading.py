"""How a table is read, kept apart from how it is learned; saved with the model as part of its settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from fullspan.errors import DataError
from fullspan.estimators.inputs.shared_parameters import TableParameters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fullspan.data import Empirical
    from fullspan.data.space import Space
    from fullspan.model.fitted import Fitted


@dataclass(kw_only=True)
class Reading(TableParameters):
    """The choices of :func:`fullspan.data.count` that a person makes; see there."""

    weight_column: str | None = None

    def __post_init__(self) -> None:
        self.na_values = _held(self.na_values)

    @classmethod
    def by(cls, estimator: Any) -> Reading:
        """The choices among an estimator's parameters: every estimator has all of them."""
        marks = _held(estimator.na_values)
        if marks is not estimator.na_values:
            estimator.na_values = marks  # the estimator is asked again, and an iterator is read only once
        return cls(**{name: getattr(estimator, name) for name in READING})

    def weighted_by(self, sample_weight: Any) -> Reading:
        """The same with the column of weights, if they are one of the table."""
        return replace(self, weight_column=sample_weight) if isinstance(sample_weight, str) else self

    def count(self, source: Any, sample_weight: Any = None) -> Empirical:
        """Count a table, inferring its variables.

        Raises
        ------
        DataError : see :func:`fullspan.data.count`.
        """
        from fullspan.data import count

        own = {name: value for name, value in vars(self).items() if name != "weight_column"}
        return count(source, sample_weight=self.weight_column if sample_weight is None else sample_weight, **own)

    def count_again(self, source: Any, space: Space, sample_weight: Any = None) -> Empirical:
        """Count a further table with the variables of a model; the column of counts or weights may be absent.

        A missing cell is the level "(missing)" where the variable has it. Elsewhere ``missing="level"`` refuses it, and
        ``missing="em"`` keeps it as −1.

        Raises
        ------
        DataError : see :func:`fullspan.data.count`.
        """
        from fullspan.data import count

        column = None if sample_weight is not None else present(source, self.count_column)
        if sample_weight is None:
            sample_weight = present(source, self.weight_column)
        return count(
            source, space=space, missing=self.missing, count_column=column, sample_weight=sample_weight, **self.texts
        )

    def encode(self, source: Any, space: Space, *, allow_missing: bool) -> NDArray[np.int32]:
        """Codes of rows with the variables of a model; see :func:`fullspan.data.encode`.

        Raises
        ------
        DataError : a value is no level and may not be, or a cell is missing and may not be.
        """
        from fullspan.data import encode

        return encode(source, space, allow_missing=allow_missing, **self.texts)

    @property
    def texts(self) -> dict[str, Any]:
        """What cells mean whose text is no level."""
        return {"na_values": self.na_values, "handle_unknown": self.handle_unknown}

    @property
    def settings(self) -> dict[str, Any]:
        """What a model file keeps, to read further tables alike."""
        kept: dict[str, Any] = {"missing": self.missing, "count_column": self.count_column}
        if self.weight_column is not None:
            kept["weights"] = self.weight_column
        if self.na_values is not None:
            kept["na_values"] = _plain(self.na_values)
        if self.handle_unknown != "error":
            kept["handle_unknown"] = self.handle_unknown
        return kept

    def noted(self, fitted: Fitted) -> Fitted:
        """The fitted model with this reading among its settings."""
        return replace(fitted, settings={**fitted.settings, **self.settings})

    @classmethod
    def of(cls, fitted: Fitted) -> Reading:
        """The reading a model was fitted with, as far as further tables need it."""
        kept = ("missing", "count_column", "na_values", "handle_unknown")
        own = {name: fitted.settings[name] for name in kept if name in fitted.settings}
        return cls(**own, weight_column=fitted.settings.get("weights"))


READING = tuple(field.name for field in fields(TableParameters))
"""Parameters that say how a table is read; every estimator has them."""


def _held(na_values: Any) -> Any:
    """The marks, iterators among them as lists: they are read when counting, and again when saving."""
    if isinstance(na_values, Iterator):
        return list(na_values)
    if isinstance(na_values, Mapping) and any(isinstance(texts, Iterator) for texts in na_values.values()):
        return {name: _held(texts) for name, texts in na_values.items()}
    return na_values


def _plain(na_values: Any) -> Any:
    """The texts as JSON can hold them, with the meaning they have here: 99.0 is "99.0" and "99"."""
    from fullspan.data.relations.columns import plain_texts

    if isinstance(na_values, Mapping):
        return {str(name): _plain(texts) for name, texts in na_values.items()}
    return plain_texts(na_values)


def say_missing(cells: Mapping[str, Mapping[str, int]], *, verbose: bool) -> Mapping[str, Mapping[str, int]]:
    """The missing cells of a counted table, by column and text; printed to standard error if ``verbose``."""
    import sys

    from fullspan.data.tables.missing import missing_words

    if verbose and cells:
        print(f"read as missing: {missing_words(cells)}", file=sys.stderr)
    return cells


def present(source: Any, column: str | None) -> str | None:
    """The name of a column of counts or weights, if the table has it."""
    from fullspan.data.relations.source import opened

    if column is None or isinstance(source, Mapping):
        return column
    with opened(source) as relation:
        return column if any(c.name == column for c in relation.columns) else None


def refuse_missing_level(codes: NDArray[Any], space: Space) -> None:
    """Raise DataError where an empty cell is itself a level: then it cannot be filled."""
    for j, variable in enumerate(space.variables):
        code = variable.missing_code
        if code is not None and (codes[:, j] == code).any():
            raise DataError(
                f"{variable.name!r} has empty cells, which this model takes as a level of their own; "
                "to fill them, fit with missing='drop' or without that column"
            )
