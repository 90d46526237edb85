"""Survey weights: one weight per row, such that the table has given margins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.data.relations.columns import NaValues
from fullspan.data.tables.margin_counts import MarginCounts
from fullspan.errors import ConvergenceWarning, DataError, FullspanError, require_whole, warn

Bounds = tuple[float, float]
BoundsOn = Literal["ratio", "weight"]


@dataclass(frozen=True, eq=False)
class Raking:
    """A table with weights that give it the margins; :func:`rake` makes it.

    Attributes
    ----------
    weights : (rows,) the weights, in the order of the rows.
    design : (rows,) the weights before.
    name : of the column of weights in ``table``.
    n_cells : distinct combinations of the margin variables among the rows.
    sweeps, converged, misfit : how the iteration ended; ``misfit`` is the largest difference of a margin's cell from
        its target, as a share of it.
    n_at_bound : rows whose weight lies on one of the bounds; None without bounds.

    Examples
    --------
    >>> import fullspan as fs
    >>> raked = fs.rake({"sex": ["f", "f", "f", "m"]}, {"sex": {"f": 50, "m": 50}})
    >>> raked.weights.round(4).tolist(), round(raked.effective_n, 2)
    ([16.6667, 16.6667, 16.6667, 50.0], 3.0)
    """

    weights: Array
    design: Array
    name: str
    n_cells: int
    sweeps: int
    converged: bool
    misfit: float
    n_at_bound: int | None
    source: Any = field(repr=False)

    @property
    def design_effect(self) -> float:
        """Kish's design effect, ``n Σw² / (Σw)²``: how much larger weighting makes the variance of a mean."""
        w = self.weights
        return float(len(w) * (w @ w) / w.sum() ** 2)

    @property
    def effective_n(self) -> float:
        """Kish's effective sample size, ``(Σw)² / Σw²``."""
        return len(self.weights) / self.design_effect

    @property
    def table(self) -> Any:
        """The table with a column of weights at its end, of the kind that was given; an Arrow table for a file."""
        return self.as_table(as_text=False)

    def as_table(self, *, as_text: bool) -> Any:
        """The same; ``as_text`` leaves the cells of a CSV file as the text they are."""
        from fullspan.data.tables.filling import with_column

        return with_column(self.source, self.name, self.weights, as_text=as_text)

    def lines(self) -> list[str]:
        """What a person should know about the weights."""
        w = self.weights
        sweeps = f"{self.sweeps:,} sweep{'s' * (self.sweeps != 1)}"
        ending = f"converged after {sweeps}"
        if not self.converged:
            ending = f"not converged after {sweeps}, a margin differs by {self.misfit:.2g} of its count"
        found = [
            f"{len(w):,} rows in {self.n_cells:,} cells; {ending}",
            f"weights: sum {math.fsum(w):.10g}, smallest {w.min():.4g}, median {np.median(w):.4g}, "
            f"largest {w.max():.4g}",
            f"design effect (Kish) {self.design_effect:.4f}, effective sample size {self.effective_n:,.1f} "
            f"of {len(w):,} rows",
        ]
        if self.n_at_bound is not None:
            found.append(f"at a bound: {self.n_at_bound:,} rows")
        return found

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def rake(
    data: Any,
    margins: Any,
    weights: Any = None,
    *,
    bounds: Bounds | None = None,
    bounds_on: BoundsOn = "ratio",
    name: str = "weight",
    tol: float = 1e-10,
    max_iter: int = 10_000,
    na_values: NaValues = None,
) -> Raking:
    """Weights for the rows of a table, such that it has given margins: raking, or iterative proportional fitting.

    Of all weights with these margins, the ones nearest to the design weights d: they minimise ``Σ w ln(w/d) − w + d``.

    Parameters
    ----------
    data : the table: a path, a pandas, polars or Arrow frame, an array, a list of rows or an Ibis table.
    margins : ``{"sex": {"f": 510, "m": 490}, ("sex", "region"): {("f", "north"): 200, ...}}``, or a list of tables,
        each a list of rows or a frame with a column ``count``, or files of these: JSON with a list ``margins``, CSV
        with one margin. Counts that sum to 1 are shares: the weights keep their sum.
    weights : the design weights, by column or as an array; equal by default.
    bounds : least and largest value, trimmed inside the iteration, so that the margins hold exactly.
    bounds_on : what is bounded: ``"ratio"``, of new to design weight, or ``"weight"``, the new weight itself. Without
        design weights a ratio of 1 is the mean of the new weights.
    name : of the new column.
    tol : largest difference of a margin's cell, as a share of it, at which the iteration ends.
    max_iter : most sweeps over all margins.
    na_values : texts of a file that mean a missing cell, as in ``fit``.

    Raises
    ------
    DataError : margins contradict each other, or a cell has a count and no rows, or rows and no count; or no weights
        meet all margins within the bounds. The message names the cell.

    Warns
    -----
    ConvergenceWarning : ``max_iter`` sweeps did not suffice.

    Examples
    --------
    >>> import fullspan as fs
    >>> rows = {"sex": ["f", "f", "f", "m"], "age": ["old", "young", "old", "old"]}
    >>> raked = fs.rake(rows, {"sex": {"f": 50, "m": 50}, "age": {"old": 75, "young": 25}})
    >>> raked.weights.round(6).tolist()
    [12.5, 25.0, 12.5, 50.0]
    """
    _check(bounds, bounds_on, name, tol)
    require_whole(1, max_iter=max_iter)
    return _rake(data, MarginCounts.of(margins), weights, name, na_values).run(bounds, bounds_on, tol, max_iter)


def _rake(data: Any, counts: MarginCounts, weights: Any, name: str, na_values: NaValues) -> _Rake:
    """The rows of a table by the cells of the margins that they are in."""
    from fullspan.data.tables.filling import held
    from fullspan.data.tables.margin_rows import read_cells

    data = held(data)
    rows = read_cells(data, counts.space, weights, na_values)
    if name in rows.columns:
        raise DataError(
            f"the table has a column {name!r} already; give the new weights another name (name=, or --name)"
        )
    if not len(rows.cell_of):
        raise DataError("the table has no rows")
    return _Rake(counts, rows.cells, rows.cell_of, rows.weights, data, name)


def _check(bounds: Any, bounds_on: Any, name: Any, tol: Any) -> None:
    if bounds_on not in ("ratio", "weight"):
        raise FullspanError(f"bounds_on is {bounds_on!r}; give 'ratio' or 'weight'")
    if not isinstance(name, str) or not name:
        raise FullspanError(f"name is {name!r}; the column of weights needs a text as its name")
    if isinstance(tol, bool) or not isinstance(tol, int | float) or not 0 < tol < 1:
        raise FullspanError(f"tol is {tol!r}; a share between 0 and 1 is needed, such as 1e-10")
    if bounds is None:
        return
    is_pair = isinstance(bounds, tuple | list) and len(bounds) == 2
    if not (is_pair and all(isinstance(b, int | float) and b == b for b in bounds) and 0 <= bounds[0] < bounds[1]):
        raise FullspanError(f"bounds is {bounds!r}; give the least and the largest value, from 0 on, such as (0.3, 3)")


class _Rake:
    """The groups of rows that get the same ratio, and the margins in terms of them."""

    def __init__(
        self, counts: MarginCounts, cells: Ints, cell_of: Ints, weights: Array | None, source: Any, name: str
    ) -> None:
        self.counts, self.cells, self.cell_of, self.source, self.name = counts, cells, cell_of, source, name
        n_rows = len(cell_of)
        total = counts.total
        if counts.are_shares:
            total = float(n_rows) if weights is None else math.fsum(weights)
        self.design = np.full(n_rows, total / n_rows) if weights is None else weights
        self.scale = total / counts.total
        self.n_of_cell = np.bincount(cell_of, minlength=len(cells))

    def run(self, bounds: Bounds | None, bounds_on: BoundsOn, tol: float, max_iter: int) -> Raking:
        from fullspan.learn.row_weights import rake as raked
        from fullspan.learn.row_weights import summed

        group_of, cell_of_group = self.cell_of, np.arange(len(self.cells))
        if bounds is not None and bounds_on == "weight":  # ratios differ with the design weight
            group_of, cell_of_group = self._by_weight()
        design = summed(group_of, self.design, len(cell_of_group))
        margins = [self._margin(m, cell_of_group, design) for m in range(len(self.counts.scopes))]
        low, high = self._bounds(bounds, bounds_on, group_of, len(cell_of_group))
        if low is not None and high is not None:
            self._refuse_out_of_reach(design, margins, low, high)
        # a contradiction shows as an iteration that does not converge: look for one before all sweeps are spent
        found = raked(design, margins, low, high, tol, min(max_iter, 500))
        if not found.converged:
            self._refuse_infeasible(design, margins, low, high)
            found = raked(design, margins, low, high, tol, max_iter) if max_iter > 500 else found
        if not found.converged:
            self._warn(found.sweeps, found.misfit, design * found.ratio, margins)
        weights = self.design * found.ratio[group_of]
        at_bound = None
        if low is not None and high is not None:
            on = (found.ratio <= low) | (found.ratio >= high)
            at_bound = int((on[group_of] & (self.design > 0)).sum())
        ending = found.sweeps, found.converged, found.misfit
        return Raking(weights, self.design, self.name, len(self.cells), *ending, at_bound, self.source)

    def _by_weight(self) -> tuple[Ints, Ints]:
        """Groups of rows with one cell and one design weight: the group of each row, and the cell of each group."""
        distinct, code = np.unique(self.design, return_inverse=True)
        keys, group_of = np.unique(self.cell_of * len(distinct) + code.reshape(-1), return_inverse=True)
        return group_of.reshape(-1), keys // len(distinct)

    def _bounds(
        self, bounds: Bounds | None, bounds_on: BoundsOn, group_of: Ints, n_groups: int
    ) -> tuple[Array | None, Array | None]:
        if bounds is None:
            return None, None
        low, high = map(float, bounds)
        if bounds_on == "ratio":
            return np.full(n_groups, low), np.full(n_groups, high)
        weight = np.zeros(n_groups)
        weight[group_of] = self.design
        with np.errstate(divide="ignore"):
            return np.where(weight > 0, low / weight, 0.0), np.where(weight > 0, high / weight, np.inf)

    def _margin(self, m: int, cell_of_group: Ints, design: Array) -> Any:
        """The cell of the margin that each group is in, as it is listed.

        Raises
        ------
        DataError : rows are in no cell of the margin, or a cell with a count has no rows.
        """
        from fullspan.learn.row_weights import MarginCells

        scope = list(self.counts.scopes[m])
        cards = [self.counts.space.cards[i] for i in scope]
        listed = _flat(self.counts.cells[m], cards)
        order = np.argsort(listed)
        own = _flat(self.cells[:, scope], cards)
        place = np.minimum(np.searchsorted(listed[order], own), len(listed) - 1)
        cell = order[place]
        unlisted = listed[cell] != own
        if unlisted.any():
            self._refuse_unlisted(m, unlisted, scope)
        cell = cell[cell_of_group]
        target = self.counts.counts[m] * self.scale
        empty = (target > 0) & (np.bincount(cell, design, len(target)) == 0)
        if empty.any():
            self._refuse_empty(m, empty, cell)
        return MarginCells(cell, target)

    def _refuse_unlisted(self, m: int, unlisted: Any, scope: Sequence[int]) -> None:
        where = int(np.argmax(unlisted))
        variables = [self.counts.space.variables[i] for i in scope]
        cell = ", ".join(f"{v.name}={v.levels[self.cells[where, i]]}" for v, i in zip(variables, scope, strict=True))
        n = int(self.n_of_cell[unlisted].sum())
        raise DataError(
            f"the margin {self.counts.title(m)} has no count for {cell}; rows in cells without a count: {n:,}. Add the "
            "cell, with count 0 to give its rows no weight"
        )

    def _refuse_empty(self, m: int, empty: Any, cell: Ints) -> None:
        names = "; ".join(self.counts.named(m, int(c)) for c in np.flatnonzero(empty)[:5])
        more = f"; and {int(empty.sum()) - 5:,} more cells" if empty.sum() > 5 else ""
        has_rows = bool(np.isin(np.flatnonzero(empty), cell).any())
        raise DataError(
            f"the margin {self.counts.title(m)} has a count for {names}{more}, but the table has no rows "
            f"there{' with a design weight above 0' if has_rows else ''}; merge the cell with another one"
        )

    def _refuse_out_of_reach(self, design: Array, margins: Sequence[Any], low: Array, high: Array) -> None:
        from fullspan.learn.row_weights import out_of_reach

        for m, margin in enumerate(margins):
            bad, least, most = out_of_reach(design, margin, low, high)
            if bad.any():
                c = int(np.argmax(bad))
                raise DataError(
                    f"the bounds leave {self.counts.named(m, c)} a sum between {least[c]:.6g} and {most[c]:.6g}, "
                    f"and the margin is {margin.target[c]:.6g}; widen the bounds"
                )

    def _refuse_infeasible(self, design: Array, margins: Sequence[Any], low: Array | None, high: Array | None) -> None:
        from fullspan.learn.row_weights import infeasible_cell

        missed = infeasible_cell(design, margins, low, high)
        if missed is None:
            return
        m, c, amount = missed
        why = "within the bounds" if low is not None else "with the combinations of levels that the rows have"
        remedy = "widen the bounds" if low is not None else "merge levels, or leave a margin out"
        raise DataError(
            f"contradictory margins: no weights have all of them {why}; the nearest ones miss "
            f"{self.counts.named(m, c)} by {abs(amount):.4g} of {margins[m].target[c]:.6g}; {remedy}"
        )

    def _warn(self, sweeps: int, misfit: float, weight: Array, margins: Sequence[Any]) -> None:
        where, worst = "", -1.0
        for m, margin in enumerate(margins):
            off = np.abs(np.bincount(margin.cell, weight, len(margin.target)) - margin.target)
            off = off / np.where(margin.target > 0, margin.target, margin.target.sum())
            if off.max() > worst:
                worst, where = float(off.max()), self.counts.named(m, int(off.argmax()))
        warn(
            f"the weights have not converged after {sweeps:,} sweep{'s' * (sweeps != 1)}: {where} differs by "
            f"{misfit:.2g} of its count; "
            "raise max_iter=, or merge levels with few rows",
            ConvergenceWarning,
        )


def _flat(cells: Ints, cards: Sequence[int]) -> Any:
    """One number per cell; Python integers where 63 bits are too few."""
    kind: Any = np.int64 if math.prod(cards) < 2**62 else object
    index = np.zeros(len(cells), dtype=kind)
    stride = 1
    for j, card in enumerate(cards):
        index = index + cells[:, j].astype(kind) * stride
        stride *= card
    return index
