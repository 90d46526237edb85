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

    def count(self, source: Any, sample_weight: Any = None) -> Empirical:
        """Count a table, inferring its variables.

        Raises
        ------
        DataError : see :func:`fullspan.data.count`.
        """
        from fullspan.data import count

        return count(source, sample_weight=sample_weight, **vars(self))

    def count_again(self, source: Any, space: Space, sample_weight: Any = None) -> Empirical:
        """Count a further table with the variables of a model; the column of counts may be absent.

        A missing cell is the level "(missing)" where the variable has it. Elsewhere ``missing="level"`` refuses it, and
        ``missing="em"`` keeps it as −1.

        Raises
        ------
        DataError : see :func:`fullspan.data.count`.
        """
        from fullspan.data import count
        from fullspan.data.source import opened

        column = self.count_column
        if column is not None and not isinstance(source, Mapping):
            with opened(source) as relation:
                column = column if any(c.name == column for c in relation.columns) else None
        if sample_weight is not None:
            column = None
        return count(source, space=space, missing=self.missing, count_column=column, sample_weight=sample_weight)

    def noted(self, fitted: Fitted) -> Fitted:
        """The fitted model with this reading among its settings."""
        return replace(fitted, settings={**fitted.settings, "missing": self.missing, "count_column": self.count_column})

    @classmethod
    def of(cls, fitted: Fitted) -> Reading:
        """The reading a model was fitted with, as far as further tables need it."""
        settings = fitted.settings
        return cls(missing=settings.get("missing", "error"), count_column=settings.get("count_column"))


def refuse_missing_level(codes: NDArray[Any], space: Space) -> None:
    """Raise DataError where an empty cell is itself a level: then it cannot be filled."""
    for j, variable in enumerate(space.variables):
        code = variable.missing_code
        if code is not None and (codes[:, j] == code).any():
            raise DataError(
                f"{variable.name!r} has empty cells, which this model takes as a level of their own; "
                "to fill them, fit with missing='drop' or without that column"
            )
