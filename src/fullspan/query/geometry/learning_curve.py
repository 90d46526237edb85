"""Would more rows or more terms help: scores of a model on rows it has seen and rows it has not, as rows are added.

The scores on rows seen fall and those on unseen rows rise towards one limit. The gap between them is what more rows can
still bring, about |B|/2N on each side; how far the limit lies below that of a richer model is what terms can bring.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from fullspan.arrays import Array
from fullspan.errors import BoundaryWarning, FullspanError


@dataclass(frozen=True)
class LearningCurve:
    """Mean log-probabilities in nats per row, by number of rows.

    Attributes
    ----------
    sizes : (m,) rows learned from.
    train, test : (m,) means on these rows, and on the rows held out.
    error : (m,) standard error of ``test`` over the repeats.
    bounds : (m,) ``|B| / 2N``.
    richer : (m,) ``test`` of the richer model, or None.
    """

    sizes: tuple[int, ...]
    train: Array
    test: Array
    error: Array
    bounds: Array
    richer: Array | None = None

    @property
    def from_rows(self) -> float:
        """Nats per row that more rows may bring at most: the gap at the largest size."""
        return float(self.train[-1] - self.test[-1])

    @property
    def from_terms(self) -> float:
        """Nats per row that the richer model brings at the largest size; NaN without one."""
        return float("nan") if self.richer is None else float(self.richer[-1] - self.test[-1])

    @property
    def advice(self) -> str:
        """One sentence: what would help."""
        if not np.isfinite(self.test[-1]):
            return (
                "rows held out are impossible under the fit: use l2= above 0, levels= that name all, or for a "
                "truncated machine unseen= above 0"
            )
        noise = 2 * float(self.error[-1])
        rows = f"more rows: up to {self.from_rows:.4f} nats per row" if self.from_rows > noise else ""
        terms = f"more terms: {self.from_terms:.4f} nats per row at this size" if self.from_terms > noise else ""
        if rows or terms:
            return " and ".join(part for part in (rows, terms) if part)
        advice = (
            "neither more rows nor more terms" if self.richer is not None else "more rows would not help; try terms"
        )
        return f"{advice}: the gap is within its error of {noise:.4f} nats"

    def __repr__(self) -> str:
        head = "    rows  rows seen  held out    error  |B|/2N" + ("    richer" if self.richer is not None else "")
        lines = [head]
        for k, size in enumerate(self.sizes):
            line = f"{size:8,}  {self.train[k]:9.4f}  {self.test[k]:8.4f}  {self.error[k]:7.4f}  {self.bounds[k]:6.4f}"
            lines.append(line + (f"  {self.richer[k]:8.4f}" if self.richer is not None else ""))
        return "\n".join([*lines, self.advice])


def learning_curve(
    estimator: Any,
    X: Any,
    sizes: Sequence[int] | None = None,
    repeats: int = 5,
    test_fraction: float = 0.3,
    richer: Any = None,
    random_state: Any = None,
) -> LearningCurve:
    """Fit clones of an estimator to more and more rows of a table, and score them on rows held out.

    Parameters
    ----------
    estimator : with ``fit``, ``score`` and ``n_terms_``; its ``levels=`` should name all levels, and a truncated
        machine needs ``unseen=`` above 0, or rows held out are impossible.
    X : (rows, columns) array, or a frame of pandas or polars.
    sizes : rows to learn from; by default five, each twice the one before.
    repeats : random splits, over which scores are averaged.
    test_fraction : share of the rows held out.
    richer : an estimator with more terms, to compare with.
    random_state : seed or generator of the splits.

    Raises
    ------
    FullspanError : a size is larger than the rows left to learn from, or below 1; or the table is a file.
    """
    rows, rng = _indexable(X), np.random.default_rng(random_state)
    n_test = round(test_fraction * len(rows))
    chosen = _chosen(sizes, n_test, len(rows) - n_test)
    train, test, more = (np.zeros((repeats, len(chosen))) for _ in range(3))
    n_terms = np.zeros(len(chosen))
    for r in range(repeats):
        order = rng.permutation(len(rows))
        held = _safe_indexing(rows, order[:n_test])
        for k, size in enumerate(chosen):
            part = _safe_indexing(rows, order[n_test : n_test + size])
            fitted = _fitted(estimator, part)
            train[r, k], test[r, k] = fitted.score(part), fitted.score(held)
            n_terms[k] += fitted.n_terms_ / repeats
            if richer is not None:
                more[r, k] = _fitted(richer, part).score(held)
    with np.errstate(invalid="ignore"):  # -inf where a row held out is impossible
        error = test.std(axis=0, ddof=1) / np.sqrt(repeats) if repeats > 1 else np.zeros(len(chosen))
    means = train.mean(axis=0), test.mean(axis=0)
    bounds = n_terms / (2 * np.array(chosen))
    return LearningCurve(tuple(chosen), *means, error, bounds, None if richer is None else more.mean(axis=0))


def _chosen(sizes: Sequence[int] | None, n_test: int, most: int) -> list[int]:
    """The sizes, increasing; by default five, each twice the one before."""
    chosen = sorted({max(most >> k, 1) for k in range(5)}) if sizes is None else sorted(map(int, sizes))
    if not chosen or chosen[0] < 1 or chosen[-1] > most or n_test < 1:
        raise FullspanError(
            f"sizes are {chosen}; whole numbers from 1 to the {most} rows left to learn from are needed"
        )
    return chosen


def _indexable(X: Any) -> Any:
    if isinstance(X, str | os.PathLike):
        raise FullspanError(f"a file was given, {os.fspath(X)!r}; read it first, as with pandas.read_csv")
    return X if hasattr(X, "columns") else np.asarray(X)


def _fitted(estimator: Any, rows: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)  # small samples often lie there; the scores tell
        return clone(estimator).fit(rows)
