"""How much of a model's information is explained by each order of interaction.

Let p_k be the distribution of the model's terms of order up to k whose expectations are those of the model p itself:
the projection of p on a nested family (Amari 2001). Then

    KL(p || uniform) = sum_k [ H(p_{k-1}) - H(p_k) ],      H(p_k) = log Z_k - theta_k . eta,

and the k-th part, never negative, is what order k adds to all lower ones. p_0 is uniform and the last p_k is p.
"""

from __future__ import annotations

import math

import numpy as np

from fullspan.engine.dual.table import DualTable
from fullspan.learn.likelihood.phases import Free, Known
from fullspan.learn.likelihood.solve import Likelihood, solve
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.loglinear import LogLinear
from fullspan.model.truncated import TruncatedLogLinear

MAX_STATES, MAX_TERMS = 1 << 22, 1500
"""States, and terms below the highest order, up to which the projections are found within seconds."""


def information_by_order(model: LogLinear | TruncatedLogLinear) -> dict[int, float] | None:
    """Nats per row explained by the terms of each order; None if the model is too large to project, truncated or an
    average.

    Time: a few Newton steps for each order but the last, each a rebuild of the dual table.

    Examples
    --------
    >>> from fullspan.algebra.basis import Basis
    >>> from fullspan.space import Space
    >>> basis = Basis("walsh", (2, 2))
    >>> log_z = math.log(4 * np.cosh(0.5))
    >>> pair = LogLinear(Space.of_cards((2, 2)), basis, (((0, 1), (1, 1)),), np.array([0.5]), log_z)
    >>> {order: round(nats, 4) for order, nats in information_by_order(pair).items()}
    {2: 0.1109}
    """
    if isinstance(model, TruncatedLogLinear):
        return None
    orders = sorted({len(term) for term in model.terms})
    lower = sum(len(term) < orders[-1] for term in model.terms) if orders else 0
    if model.basis.n_states > MAX_STATES or lower > MAX_TERMS or isinstance(model, AveragedLogLinear):
        return None
    table = DualTable(model.basis, np.float64)
    indices = np.array(model.indices, dtype=np.int64)
    table.set_theta(dict(zip(model.indices, map(float, model.theta), strict=True)))
    eta = table.eta[indices].copy()
    entropy = {orders[-1]: model.log_z - float(model.theta @ eta)} if orders else {}
    sizes = np.array([len(term) for term in model.terms])
    for order in orders[:-1]:
        own = sizes <= order
        likelihood = Likelihood(Free(table, indices[own]), Known(eta[own]))
        entropy[order] = solve(likelihood, model.theta[own].copy(), tol=1e-8, max_iter=100).value
    parts, before = {}, math.log(model.basis.n_states)
    for order in orders:
        parts[order] = max(before - entropy[order], 0.0)
        before = entropy[order]
    return parts
