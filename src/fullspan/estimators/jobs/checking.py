"""How far a model is from the best predictor: the estimator and a stack of models, on rows that neither has seen."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.tables.resampling import held_out
from fullspan.errors import FullspanError
from fullspan.estimators.inputs.tables import checked_table

AVERAGE = 16
"""``average=`` of the best predictor."""
SHARE, SECONDS = 0.2, 60.0
"""Share of the rows that is held out, and seconds that the best predictor may take by elimination."""
_CLEAR_ERRORS = 2.0
"""Paired errors from which on a difference is one."""


@dataclass(frozen=True)
class Check:
    """Two models learned from the same part of the rows, on the others.

    Attributes
    ----------
    log_likelihood, best : mean log-likelihood of the held-out rows in nats, under the estimator and the best predictor.
    behind, error : mean of the second minus the first, row by row, and the error of that.
    n_rows : rows held out.
    """

    log_likelihood: float
    best: float
    behind: float
    error: float
    n_rows: float

    @property
    def is_behind(self) -> bool:
        """Whether the best predictor is ahead by more than chance."""
        return self.behind > _CLEAR_ERRORS * self.error

    def lines(self, command: str) -> list[str]:
        """What is said of it; ``command`` fits the best predictor."""
        rows = f"on {self.n_rows:,.0f} held-out rows, learned from the others"
        found = [
            f"checked {rows}: {self.log_likelihood:.4f} nats per row, the best predictor {self.best:.4f} "
            f"({self.behind:+.4f}, paired error {self.error:.4f})"
        ]
        if self.is_behind:
            return [*found, f"to predict rather than to read: {command}"]
        return [*found, "no more than chance apart: this model predicts as well"]

    def facts(self) -> dict[str, float]:
        """The numbers, as JSON holds them."""
        return asdict(self)


def check(
    estimator: Any, X: Any, sample_weight: Any = None, random_state: int = 0, max_seconds: float = SECONDS
) -> Check:
    """Compare an estimator with the best predictor on a fifth of the rows, both learned from the others.

    The estimator's own model, if it is fitted, has seen the rows: the same estimator is learned anew.

    Parameters
    ----------
    X : the table, as for ``fit``.
    sample_weight : as for ``fit``.
    random_state : of the rows held out and of the best predictor.
    max_seconds : for the best predictor by elimination.

    Raises
    ------
    FullspanError : the rows are too few to hold some out, or the estimator does not learn from counted rows.
    """
    from sklearn.base import clone

    if not hasattr(estimator, "_counted_table"):
        raise FullspanError(
            f"{type(estimator).__name__} does not learn from counted rows; score held-out rows with fullspan compare"
        )
    data: Empirical = clone(estimator).set_params(verbose=False)._counted_table(checked_table(X), sample_weight)
    train, rest = held_out(data, SHARE, np.random.default_rng(random_state))
    if rest is None:
        raise FullspanError(f"{data.total:g} rows are too few to hold some out")
    own = clone(estimator).set_params(verbose=False)
    best = best_predictor(estimator, random_state, max_seconds)
    log, log_best = (_scored(one, train, rest) for one in (own, best))
    behind, error = paired(rest, log_best, log)
    share = rest.counts / rest.total
    return Check(float(share @ log), float(share @ log_best), behind, error, rest.total)


def best_predictor(estimator: Any, random_state: int = 0, max_seconds: float = SECONDS) -> Any:
    """The estimator of the best predictor, not yet fitted, which treats missing cells as another one does."""
    from fullspan.estimators.full_span import FullSpan

    return FullSpan(
        average=AVERAGE, max_seconds=max_seconds, random_state=random_state, missing=estimator.missing, verbose=False
    )


def paired(rows: Empirical, first: Array, second: Array) -> tuple[float, float]:
    """Mean of the first log-likelihoods minus the second, row by row, and the error of that."""
    share, difference = rows.counts / rows.total, first - second
    mean = float(share @ difference)
    spread = math.sqrt(float(share @ (difference - mean) ** 2))
    return mean, spread / math.sqrt(max(rows.total - 1, 1.0))


def _scored(estimator: Any, train: Empirical, rest: Empirical) -> Any:
    """Log-likelihoods of the rows of ``rest`` under what the estimator learns from ``train``."""
    from fullspan.estimators.registry import distribution_of

    return distribution_of(estimator._learn(train, None)).log_prob(rest.states.astype(np.int64))
