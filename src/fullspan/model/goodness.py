"""How well a model fits a table: likelihood, deviance, Pearson's statistic, information criteria, residuals.

With counts n(x), fitted counts m(x) = N p(x), k weights and c cells,

    G2 = 2 sum n ln(n/m),    X2 = sum (n - m)^2 / m,    df = c - 1 - k,    AIC = -2L + 2k,    BIC = -2L + k ln N.

On the boundary, where cells have m = 0 in the limit, c counts the cells on the face and k the weights that the data
still determine; the usual chi-squared approximation then holds for that smaller table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array

LEAST_EXPECTED = 5.0
"""Expected count of a cell below which the chi-squared approximation is doubtful."""


@dataclass(frozen=True)
class Goodness:
    """Measures of fit.

    Attributes
    ----------
    log_likelihood : of all rows, of what they say (open cells are summed over).
    n_parameters : weights that the data determine.
    aic, bic : information criteria.
    g2, pearson : deviance and Pearson's statistic against the saturated model; NaN where rows have open cells.
    df : degrees of freedom; below 1 where the model is saturated or has hidden units in excess.
    nominal_df : the same by counting all cells and all weights, boundary or not, as R's ``loglin`` does.
    p_value, pearson_p_value : upper tails of chi-squared; NaN without degrees of freedom.
    n_cells : cells of the table of observed variables that can be positive.
    """

    log_likelihood: float
    n_parameters: int
    aic: float
    bic: float
    g2: float
    pearson: float
    df: int
    nominal_df: int
    p_value: float
    pearson_p_value: float
    n_cells: int


def goodness(
    counts: Array, log_prob: Array, n_parameters: int, n_cells: int, nominal_df: int, complete: bool = True
) -> Goodness:
    """Measures of fit from the counts of the distinct rows seen and their log-probabilities.

    Cells that were not seen have n = 0: they add nothing to G2, and their m to X2, so neither needs a table.
    """
    total = float(counts.sum())
    likelihood = float(counts @ log_prob)
    df = n_cells - 1 - n_parameters
    g2 = pearson = math.nan
    if complete:
        g2 = max(2 * float(counts @ (np.log(counts / total) - log_prob)), 0.0)
        pearson = max(float(np.sum(counts * np.exp(np.log(counts) - math.log(total) - log_prob))) - total, 0.0)
    return Goodness(
        log_likelihood=likelihood,
        n_parameters=n_parameters,
        aic=2 * n_parameters - 2 * likelihood,
        bic=n_parameters * math.log(total) - 2 * likelihood,
        g2=g2,
        pearson=pearson,
        df=df,
        nominal_df=nominal_df,
        p_value=_upper_tail(g2, df),
        pearson_p_value=_upper_tail(pearson, df),
        n_cells=n_cells,
    )


def _upper_tail(statistic: float, df: int) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(df, statistic)) if df > 0 and not math.isnan(statistic) else math.nan


def residuals(counts: Array, fitted: Array, kind: str = "pearson") -> Array:
    """Residuals of cells: ``"raw"`` n - m, ``"pearson"`` (n - m) / sqrt(m), ``"deviance"`` with squares that sum to G2.

    A cell with m = 0 has n = 0 as well on the model's support, and the residual 0.
    """
    difference = counts - fitted
    if kind == "raw":
        return np.asarray(difference)
    positive = fitted > 0
    if kind == "pearson":
        out = np.zeros_like(difference)
        out[positive] = difference[positive] / np.sqrt(fitted[positive])
        return out
    if kind == "deviance":
        part = np.zeros_like(difference)
        seen = (counts > 0) & positive
        part[seen] = counts[seen] * np.log(counts[seen] / fitted[seen])
        return np.asarray(np.sign(difference) * np.sqrt(np.maximum(2 * (part - difference), 0.0)))
    raise ValueError(f"kind is {kind!r}; choose 'raw', 'pearson' or 'deviance'")
