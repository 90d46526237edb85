"""How much each order of interaction explains: the divergence from chance, cut along a hierarchy of term sets.

For ``B_1 in B_2 in ... in B_K`` let P_k be the m-projection of P onto the weights of B_k, and P_0 the uniform
distribution. The triangles are right-angled, so that

    KL(P || P_0) = KL(P_1 || P_0) + KL(P_2 || P_1) + ... + KL(P || P_K)            (Amari 2001)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.errors import FullspanError
from fullspan.model.algebra.basis import Term
from fullspan.query.geometry.manifold import Manifold, Point, divergence


@dataclass(frozen=True)
class Hierarchy:
    """Parts of ``KL(P || uniform)`` in nats.

    Attributes
    ----------
    names : of the levels.
    n_terms : weights up to each level.
    parts : (K,) ``KL(P_k || P_{k-1})``.
    rest : ``KL(P || P_K)``: what no level explains.
    points : the projections P_1, ..., P_K.
    """

    names: tuple[str, ...]
    n_terms: tuple[int, ...]
    parts: Array
    rest: float
    points: tuple[Point, ...]

    @property
    def total(self) -> float:
        """``KL(P || uniform)``, the sum of all parts."""
        return float(self.parts.sum()) + self.rest

    def __repr__(self) -> str:
        rows = [*zip(self.names, map(str, self.n_terms), self.parts.tolist(), strict=True), ("rest", "", self.rest)]
        width = max(len(name) for name, *_ in rows)
        lines = [f"{'level'.ljust(width)}  weights     nats   share"]
        lines += [
            f"{a.ljust(width)}  {b:>7}  {c:7.4f}  {c / self.total if self.total else 0.0:6.1%}" for a, b, c in rows
        ]
        return "\n".join(lines)


def explained(model: Any, source: Any = None, levels: Sequence[Iterable[Term]] | None = None) -> Hierarchy:
    """Cut the divergence of a distribution from the uniform one along levels of terms.

    Parameters
    ----------
    model : a fitted estimator, a model or a :class:`Manifold`, which says which states and terms there are.
    source : the distribution: as :meth:`Manifold.expectations` takes; by default the estimator's data.
    levels : term sets, each holding the one before; by default the model's terms up to order 1, 2, ...

    Raises
    ------
    FullspanError : a level lacks a term of the one before, or the data are not at hand.
    """
    manifold = model if isinstance(model, Manifold) else Manifold.of(model)
    if source is None:
        source = getattr(model, "_empirical", None)
        if source is None:
            raise FullspanError("the data are not at hand; give source=, such as counted rows or probabilities")
    names, sets = _levels(manifold.terms, levels)
    points: list[Point] = []
    for terms in sets:
        level = manifold.with_terms(terms)
        start = None if not points else _extended(points[-1], level)
        points.append(level.at_eta(level.expectations(source), start, tol=1e-11))
    chain = [manifold.with_terms(sets[0]).uniform(), *points]
    parts = np.array([divergence(b, a) for a, b in zip(chain, points, strict=False)])
    rest = max(_negative_entropy(source) - points[-1].phi, 0.0)
    return Hierarchy(names, tuple(len(s) for s in sets), parts, rest, tuple(points))


def _levels(
    terms: tuple[Term, ...], levels: Sequence[Iterable[Term]] | None
) -> tuple[tuple[str, ...], list[tuple[Term, ...]]]:
    if levels is None:
        orders = sorted({len(term) for term in terms})
        sets = [tuple(t for t in terms if len(t) <= order) for order in orders]
        return tuple(f"order {order}" for order in orders), sets
    sets = [tuple(level) for level in levels]
    if not sets:
        raise FullspanError("levels= is empty; at least one set of terms is needed")
    for k, (small, large) in enumerate(itertools.pairwise(sets)):
        if not set(small) <= set(large):
            raise FullspanError(f"level {k + 2} lacks a term of level {k + 1}; each level holds the one before")
    return tuple(f"level {k + 1}" for k in range(len(sets))), sets


def _extended(point: Point, level: Manifold) -> Point:
    weights = dict(zip(point.manifold.terms, point.theta.tolist(), strict=True))
    return level.at([weights.get(term, 0.0) for term in level.terms])


def _negative_entropy(source: Any) -> float:
    """``sum p log p`` of a distribution."""
    if isinstance(source, Point):
        return source.phi
    source = getattr(source, "_empirical", source)
    share = source.counts / source.total if isinstance(source, Empirical) else np.asarray(source, dtype=np.float64)
    share = share[share > 0]
    return math.fsum((share * np.log(share)).tolist())
