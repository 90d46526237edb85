"""Where the maximum on a truncated space lies at infinity, and on which of its states the limit lives.

Rows of the data are few next to the patterns, and every pattern is itself a state that was hardly ever seen. So it is
common that some weights v have ``v . F(x) = c`` on all states seen and less on all others: then the likelihood rises
for ever along v, and the limit has no state but those seen. The theory is in
:mod:`fullspan.learn.likelihood.boundary.face`.

1. **Certificate.** The shortest v with ``v . F(x) = 1`` on the states seen, by a system of as many equations; if it is
   below 1 elsewhere, the face is the states seen.
2. **Linear program.** Else ``max sum_x s_x`` over ``v . F(x) = c`` on states seen and ``v . F(x) + s_x <= c``,
   ``0 <= s_x <= 1`` on all others: directions may be added, so that one program excludes all that can be.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fullspan.arrays import Array, Mask
from fullspan.engine.truncated import TruncatedEngine
from fullspan.errors import FullspanError
from fullspan.learn.likelihood.boundary import Face

MAX_GRAM = 3000
"""States seen up to which a certificate is looked for."""
MAX_PROGRAM = 2_000_000
"""Ones in the model matrix up to which a linear program is tried."""
_DENSE, _FILLED = 1 << 22, 0.05
"""Cells up to which, and share of ones above which, rows of F are multiplied as dense ones."""
_CLEAR_GAP = 1e-6
"""Least gap, relative to c, by which an excluded state lies below the face."""


@dataclass(frozen=True)
class Gram:
    """Products ``F F'`` of the rows of a few states, factored where they are independent."""

    matrix: Array
    factor: tuple[Array, bool] | None

    @classmethod
    def of(cls, rows: TruncatedEngine) -> Gram:
        from scipy.linalg import cho_factor

        matrix = _products(rows)
        try:
            factor = cho_factor(matrix, lower=True)
        except np.linalg.LinAlgError:
            return cls(matrix, None)
        diagonal = np.diag(factor[0])
        # A factor exists for nearly dependent rows too, but its solutions would be noise.
        return cls(matrix, factor if float(diagonal.min()) > 1e-6 * float(diagonal.max()) else None)

    @cached_property
    def eigen(self) -> tuple[Array, Array]:
        """Positive eigenvalues and their vectors."""
        values, vectors = np.linalg.eigh(self.matrix)
        keep = values > 1e-11 * max(float(values[-1]), 1.0)
        return values[keep], vectors[:, keep]

    @property
    def rank(self) -> int:
        return len(self.matrix) if self.factor is not None else len(self.eigen[0])

    def solve(self, right: Array) -> Array:
        """Least squares."""
        from scipy.linalg import cho_solve

        if self.factor is not None:
            return np.asarray(cho_solve(self.factor, right))
        values, vectors = self.eigen
        return np.asarray(vectors @ ((right @ vectors) / values))


@dataclass(frozen=True)
class Certificate:
    """A face that is the states seen, their rows of F, and the products of these."""

    face: Face
    rows: TruncatedEngine
    gram: Gram


def certified(engine: TruncatedEngine, seen: Mask) -> Certificate | None:
    """The face of the states seen, if the shortest direction shows that it has no others."""
    rows = engine.restricted(seen)
    if seen.all() or len(rows) > min(MAX_GRAM, engine.k) or not np.diff(rows.start).all():
        return None  # v.F(x) is 0 on the state 0, not 1
    gram = Gram.of(rows)
    # Of all v with v.F(x) = 1 on the states seen the shortest one is a combination of their rows.
    v = rows.moments(gram.solve(np.ones(len(rows))))
    values = engine.dot(v)
    gap = 1.0 - float(values.max(where=~seen, initial=-np.inf))
    # A gap of rounding size certifies nothing; nor does a direction that is not constant on the states seen.
    if gap < _CLEAR_GAP or float(np.abs(values - 1.0).max(where=seen, initial=0.0)) > 1e-9 * gap:
        return None
    # 1 is among the combinations of the columns: centring takes one dimension
    return Certificate(Face(v / min(gap, 1.0), len(rows), gram.rank - 1), rows, gram)


def by_program(engine: TruncatedEngine, seen: Mask) -> tuple[Face, Mask]:
    """The face by a linear program, and its states.

    Raises
    ------
    FullspanError : the program does not end, or its answer is lost in rounding.
    """
    from scipy.optimize import linprog
    from scipy.sparse import bmat, csr_matrix, identity

    features = engine.sparse()
    off = np.flatnonzero(~seen)
    k, m = engine.k, len(off)
    minus = csr_matrix(-np.ones((int(seen.sum()), 1)))
    equal = bmat([[features[seen], csr_matrix((minus.shape[0], m)), minus]], format="csr")
    below = bmat([[features[off], identity(m), csr_matrix(-np.ones((m, 1)))]], format="csr")
    cost = np.concatenate([np.zeros(k), -np.ones(m), [0.0]])
    bounds = [(None, None)] * k + [(0.0, 1.0)] * m + [(None, None)]
    found = linprog(cost, below, np.zeros(m), equal, np.zeros(minus.shape[0]), bounds=bounds, method="highs")
    if found.status != 0:
        raise FullspanError(f"the search for states that vanish did not end: {found.message}; use l2= > 0")
    on = np.ones(len(engine), dtype=bool)
    # At the optimum every slack is 0 or 1: directions can be scaled until those that move are at 1.
    on[off[found.x[k : k + m] > 0.5]] = False
    rows = engine.restricted(on)
    rank = _affine_rank(_products(rows)) if len(rows) <= MAX_GRAM else _rank(rows)
    if on.all():
        return Face(np.zeros(k), len(engine), rank), on
    v, c = found.x[:k], float(found.x[-1])
    values = engine.dot(v) - c
    gap = -float(values.max(where=~on, initial=-np.inf))
    if gap < 0.4 or float(np.abs(values).max(where=on, initial=0.0)) > 1e-7:
        raise FullspanError(f"the direction of {k} diverging weights is lost in rounding (gap {gap:.1e}); use l2= > 0")
    return Face(np.where(np.abs(v) > 1e-9, v, 0.0) / min(gap, 1.0), int(on.sum()), rank), on


def _products(rows: TruncatedEngine) -> Array:
    """``F F'``: by dense rows where these are well filled and fit, else by sparse ones."""
    cells = len(rows) * rows.k
    if cells <= _DENSE and len(rows.indices) > _FILLED * cells:
        dense = rows.dense()
        return np.asarray(dense @ dense.T)
    features: Any = rows.sparse()
    return np.asarray((features @ features.T).toarray())


def _affine_rank(gram: Array) -> int:
    """Rank of the centred rows whose products are ``gram``."""
    means = gram.mean(axis=0)
    centred = gram - means - means[:, None] + means.mean()
    values = np.linalg.eigvalsh(centred)
    return int((values > 1e-10 * max(float(values[-1]), 1.0)).sum())


def _rank(rows: TruncatedEngine) -> int:
    features: Any = rows.sparse()
    mean = np.asarray(features.mean(axis=0)).ravel()
    second = (features.T @ features).toarray() / len(rows) - np.outer(mean, mean)
    values = np.linalg.eigvalsh(second)
    return int((values > 1e-10 * max(float(values[-1]), 1e-300)).sum())
