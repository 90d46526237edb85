"""How much of a model's information is explained by each order of interaction.

Let p_k be the projection of the model p on the family of its parts of order up to k: the distribution in that family
whose expectations are those of p (Amari 2001). Then

    KL(p || uniform) = sum_k [ H(p_{k-1}) - H(p_k) ],      H(p_k) = log Z_k - theta_k . eta,

and the k-th part, never negative, is what order k adds to all lower ones. p_0 is uniform and the last p_k is p.

The parts of order up to k are all functions of single variables, the model's terms of order up to k, and the
lower-order parts of its larger terms. A function such as ``x1 x2`` on 0/1 units, or an indicator of three levels, does
not sum to 0, so that a pair term stands for main effects too; without those the result would depend on the basis. A
model with all terms of its sets of variables and of their subsets has the same parts in every basis; a sparser one has
the same first part and the same sum, and its basis says which lower orders it holds. p_1 has independent variables with
the marginals of p:

    log |X| - H(p_1) = sum_i [ log |X_i| - H(x_i) ].
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from fullspan.engine.dual.table import DualTable
from fullspan.learn.base.phase import Known
from fullspan.learn.likelihood.phases import Free
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.model.algebra.basis import Basis, Term, local_row
from fullspan.model.loglinear import LogLinear

MAX_STATES, MAX_TERMS = 1 << 22, 1500
"""States, and functions below the highest order, up to which the projections are found within seconds."""


def information_by_order(model: LogLinear) -> dict[int, float] | None:
    """Nats per row explained by each order of interaction; None if the model is too large to project, truncated or an
    average.

    Time: a few Newton steps for each order but the first and last, each a rebuild of the dual table.

    Examples
    --------
    >>> from fullspan.model.algebra.basis import Basis
    >>> from fullspan.data.space import Space
    >>> basis = Basis("walsh", (2, 2))
    >>> log_z = math.log(4 * np.cosh(0.5))
    >>> pair = LogLinear(Space.of_cards((2, 2)), basis, (((0, 1), (1, 1)),), np.array([0.5]), log_z)
    >>> {order: round(nats, 4) for order, nats in information_by_order(pair).items()}
    {1: 0.0, 2: 0.1109}
    """
    if model.kind != LogLinear.kind or model.basis.n_states > MAX_STATES:
        return None
    if not model.terms:
        return {}
    basis, top = model.basis, max(map(len, model.terms))
    weights = dict.fromkeys(itertools.islice(_lower_parts(basis, model.terms), sum(basis.cards) + MAX_TERMS), 0.0)
    if top > 2 and len({*weights, *(term for term in model.terms if len(term) < top)}) > MAX_TERMS:
        return None
    weights |= {term: float(value) for term, value in zip(model.terms, model.theta, strict=True)}
    parts, before = {}, math.log(basis.n_states)
    for order, value in _entropies(model, weights, top).items():
        # A projection found to 1e-8 may be off by as much.
        parts[order] = max(before - value, 0.0)
        before = value
    return parts


def _entropies(model: LogLinear, weights: dict[Term, float], top: int) -> dict[int, float]:
    """``H(p_k)`` for each order k that the model has, and order 1."""
    basis = model.basis
    sizes, theta = np.array([len(term) for term in weights]), np.array(list(weights.values()))
    indices = np.array([basis.index(term) for term in weights], dtype=np.int64)
    table = DualTable(basis, np.float64)
    table.set_theta(dict(zip(indices.tolist(), theta.tolist(), strict=True)))
    eta = table.eta[indices].copy()
    known = dict(zip(weights, eta.tolist(), strict=True))
    # p_1 has independent variables: a closed form. The last is the model itself.
    entropy = {1: sum(_entropy_of_one(basis, i, known) for i in range(len(basis.cards)))}
    for order in sorted(set(sizes.tolist()) - {1, top}):
        own = sizes <= order
        likelihood = Likelihood(Free(table, indices[own]), Known(eta[own]))
        entropy[order] = solve(likelihood, theta[own].copy(), tol=1e-8, max_iter=100).value
    if top > 1:
        entropy[top] = model.log_z - float(theta @ eta)
    return entropy


def _lower_parts(basis: Basis, terms: tuple[Term, ...]) -> Iterator[Term]:
    """All functions of single variables, and the parts of terms that are left if other factors are averaged."""
    yield from (((i, j),) for i, card in enumerate(basis.cards) for j in range(1, card))
    seen: set[Term] = set()
    for term in terms:
        fixed = [f for f in term if local_row(basis, *f).mean() == 0]
        loose = [f for f in term if f not in fixed]
        for left in range(max(2 - len(fixed), 0), len(loose)):
            for some in itertools.combinations(loose, left):
                part = tuple(sorted((*fixed, *some)))
                if part not in seen:
                    seen.add(part)
                    yield part


def _entropy_of_one(basis: Basis, i: int, eta: dict[Term, float]) -> float:
    """Entropy of one variable from the expectations of its functions."""
    means = [1.0, *(eta[((i, j),)] for j in range(1, basis.cards[i]))]
    # Row 0 of the matrix is the constant, so that p sums to 1.
    p = np.linalg.solve(basis.local(i).astype(np.float64), means)
    p = p[p > 0]
    return -float(p @ np.log(p))
