"""Where a model fits badly: observed and fitted counts of cells, and the residuals between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.display import html_table
from fullspan.errors import FullspanError, TooLargeError, require_one_of
from fullspan.estimators.explain.terms import aligned
from fullspan.model.goodness import residuals

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.data.space import Level
    from fullspan.query.distribution import Distribution

Kind = Literal["pearson", "deviance", "raw"]
KINDS: tuple[Kind, ...] = ("pearson", "deviance", "raw")
MAX_CELLS = 1 << 20
"""Cells up to which a whole table of residuals is made."""
SHOWN = 20


@dataclass(frozen=True)
class Residual:
    """A cell: its levels by variable, how often it was seen, how often the model expects it, and the residual."""

    cell: dict[str, Level]
    observed: float
    fitted: float
    residual: float


class Residuals(Sequence[Residual]):
    """Cells with their residuals, the largest first; prints as a table."""

    def __init__(self, rows: Sequence[Residual], kind: str) -> None:
        self._rows, self.kind = tuple(rows), kind

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Residual]:
        return iter(self._rows)

    @overload
    def __getitem__(self, item: int) -> Residual: ...
    @overload
    def __getitem__(self, item: slice) -> Residuals: ...
    def __getitem__(self, item: int | slice) -> Residual | Residuals:
        return Residuals(self._rows[item], self.kind) if isinstance(item, slice) else self._rows[item]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Plain dictionaries, as JSON holds them."""
        return [dict(vars(row)) for row in self]

    def cells(self) -> list[tuple[str, ...]]:
        """The rows as text, headings first."""
        heading = ("cell", "observed", "fitted", f"{self.kind} residual")
        return [
            heading,
            *(
                (_shown(r.cell), f"{r.observed:g}", f"{r.fitted:.2f}", f"{round(r.residual, 3) + 0.0:.3f}")
                for r in self
            ),
        ]

    def __repr__(self) -> str:
        more = [f"... and {len(self) - SHOWN} more"] if len(self) > SHOWN else []
        return "\n".join([*aligned(self[:SHOWN].cells()), *more])

    def _repr_html_(self) -> str:
        more = [f"... and {len(self) - SHOWN} more"] if len(self) > SHOWN else []
        head, *rows = self[:SHOWN].cells()
        return html_table(head, rows, notes=more)


def _shown(cell: dict[str, Level]) -> str:
    return ", ".join(f"{name}={level}" for name, level in cell.items())


def of_cells_seen(distribution: Distribution, data: Empirical, kind: Kind) -> Residuals:
    """Residuals of the cells that were seen, the largest first.

    Raises
    ------
    FullspanError : the kind is unknown, or rows have missing cells.
    """
    _check(data, kind)
    fitted = data.total * np.exp(distribution.log_prob(data.states))
    return _sorted(distribution, data.states, data.counts, fitted, residuals(data.counts, fitted, kind), kind)


def of_table(distribution: Distribution, data: Empirical, kind: Kind) -> Array:
    """Residuals of all cells, one axis per variable.

    Raises
    ------
    FullspanError : the kind is unknown, or rows have missing cells.
    TooLargeError : there are more than 2^20 cells.
    """
    _check(data, kind)
    observed, fitted = _tables(distribution, data)
    return residuals(observed, fitted, kind)


def largest(distribution: Distribution, data: Empirical, top: int) -> Residuals:
    """The largest Pearson residuals: of all cells where that is a small table, else of the cells seen."""
    if data.space.n_states > MAX_CELLS:
        return of_cells_seen(distribution, data, "pearson")[:top]
    observed, fitted = (table.ravel(order="F") for table in _tables(distribution, data))
    found = residuals(observed, fitted, "pearson")
    best = _order(found)[:top]
    return _sorted(distribution, data.space.states(best), observed[best], fitted[best], found[best], "pearson")


def _tables(distribution: Distribution, data: Empirical) -> tuple[Array, Array]:
    if data.space.n_states > MAX_CELLS:
        raise TooLargeError(
            f"a table of all {data.space.n_states:,} cells was asked for, at most {MAX_CELLS:,} are made; "
            "residuals() gives those of the cells seen"
        )
    observed = np.zeros(data.space.cards)
    observed[tuple(data.states.T.astype(np.int64))] = data.counts
    return observed, data.total * distribution.joint()


def _check(data: Empirical, kind: str) -> None:
    require_one_of(KINDS, kind=kind)
    if not data.is_complete:
        raise FullspanError(
            f"residuals compare cells of the whole table, but {data.n_missing:,} cells of rows were missing; "
            "fit with missing='drop' to see those of the complete rows"
        )


def _order(found: Array) -> NDArray[np.intp]:
    """Largest first; what differs by rounding alone stays in the order of the states."""
    return np.argsort(-np.abs(found).round(9), kind="stable")


def _sorted(
    distribution: Distribution, states: Any, observed: Array, fitted: Array, found: Array, kind: str
) -> Residuals:
    order, labels = _order(found), distribution.visible.labels
    rows = [Residual(labels(states[i].tolist()), float(observed[i]), float(fitted[i]), float(found[i])) for i in order]
    return Residuals(rows, kind)
