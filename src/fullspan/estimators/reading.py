"""How a table is read, kept apart from how it is learned; saved with the model as part of its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fullspan.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fullspan.data import Empirical
    from fullspan.model.fitted import Fitted
    from fullspan.space import Space


@dataclass(frozen=True)
class Reading:
    """The choices of :func:`fullspan.data.count` that a person makes; see there."""

    columns: Sequence[str | int] | None = None
    levels: Mapping[str, Sequence[Any]] | None = None
    bins: Any = None
    count_column: str | None = None
    missing: Any = "error"
    max_levels: int = 64
    weight_column: str | None = None

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
        return count(source, space=space, missing=self.missing, count_column=column, sample_weight=sample_weight)

    def noted(self, fitted: Fitted) -> Fitted:
        """The fitted model with this reading among its settings."""
        weights = {} if self.weight_column is None else {"weights": self.weight_column}
        own = {"missing": self.missing, "count_column": self.count_column, **weights}
        return replace(fitted, settings={**fitted.settings, **own})

    @classmethod
    def of(cls, fitted: Fitted) -> Reading:
        """The reading a model was fitted with, as far as further tables need it."""
        settings = fitted.settings
        return cls(
            missing=settings.get("missing", "error"),
            count_column=settings.get("count_column"),
            weight_column=settings.get("weights"),
        )


def present(source: Any, column: str | None) -> str | None:
    """The name of a column of counts or weights, if the table has it."""
    from fullspan.data.source import opened

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
