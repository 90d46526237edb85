"""Multiple imputation: a margin of a table with missing cells, pooled over draws by Rubin's rules.

    q_t = share of a level in draw t of n rows,        Q = mean of q_t
    W = mean of q_t (1 - q_t) / n,    B = variance of q_t over the draws,    T = W + (1 + 1/m) B

T is the squared standard error of Q, and (1 + 1/m) B / T the share of it that missing cells cause (Rubin 1987).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Level
from fullspan.errors import FullspanError
from fullspan.query.distribution import Distribution


@dataclass(frozen=True, eq=False)
class PooledMargin:
    """Shares of the levels of a column.

    Attributes
    ----------
    column, levels : what the shares are of.
    shares, errors : estimates and their standard errors.
    missing_information : share of the squared error that missing cells cause.
    freedom : degrees of freedom of each error; infinite where nothing is missing.
    n_draws, n_rows : completed tables, and the rows of each.
    """

    column: str
    levels: tuple[Level, ...]
    shares: Array
    errors: Array
    missing_information: Array
    freedom: Array
    n_draws: int
    n_rows: int

    def interval(self, level: float = 0.95) -> Array:
        """(levels, 2) intervals of the shares by Student's t.

        Raises
        ------
        FullspanError : the level is not between 0 and 1.
        """
        from scipy.stats import t

        if not 0.0 < level < 1.0:
            raise FullspanError(f"level is {level!r}; a number between 0 and 1 is needed, such as 0.95")
        half = t.ppf(0.5 + level / 2, self.freedom) * self.errors
        return np.asarray(np.clip(np.stack([self.shares - half, self.shares + half], axis=1), 0.0, 1.0))

    def __str__(self) -> str:
        lines = [
            f"{level}: {share:.4f} ± {error:.4f} ({missing:.0%} of the variance from missing cells)"
            for level, share, error, missing in zip(
                self.levels, self.shares, self.errors, self.missing_information, strict=True
            )
        ]
        return "\n".join([f"{self.column}, {self.n_rows:,} rows, {self.n_draws} imputations", *lines])


def pooled_margin(
    distribution: Distribution, rows: Any, i: int, n_draws: int, rng: np.random.Generator
) -> PooledMargin:
    """The margin of variable i over rows (m, n) of codes, -1 where a cell is missing.

    Raises
    ------
    FullspanError : there are fewer than two draws, or no rows.
    """
    if not isinstance(n_draws, int | np.integer) or n_draws < 2:
        raise FullspanError(f"n_draws is {n_draws!r}; at least 2 are needed to see how much they differ")
    codes = np.asarray(rows, dtype=np.int64)
    if not len(codes):
        raise FullspanError("the table has no rows, and so no shares")
    variable, n = distribution.visible.variables[i], len(codes)
    drawn = np.stack(
        [
            np.bincount(distribution.impute(codes.copy(), "draw", rng)[:, i], minlength=variable.card) / n
            for _ in range(n_draws)
        ]
    )
    within = (drawn * (1 - drawn)).mean(axis=0) / n
    between = (1 + 1 / n_draws) * drawn.var(axis=0, ddof=1)
    total = within + between
    missing = np.divide(between, total, out=np.zeros_like(total), where=total > 0)
    freedom = np.full(variable.card, math.inf)
    np.divide(n_draws - 1, missing**2, out=freedom, where=missing > 0)
    return PooledMargin(
        *(variable.name, variable.levels, drawn.mean(axis=0), np.sqrt(total), missing, freedom),
        n_draws=int(n_draws),
        n_rows=n,
    )
