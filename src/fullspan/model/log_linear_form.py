"""Factors as a log-linear model: ``sum_f g_f(x_f) = sum_y theta_y Phi_y(x)`` plus a constant.

The terms of a factor are those inside its scope, so nothing grows: a table of m entries gives at most m - 1 terms.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fullspan.data.space import cell_in_words
from fullspan.errors import FullspanError
from fullspan.model.algebra.basis import Basis, BasisName, Term, expand
from fullspan.model.graph import FactorGraph, Scope
from fullspan.model.loglinear import LogLinear

MAX_TERMS, MAX_CARD = 1 << 20, 1 << 10
"""Most entries of all factors together, and most levels of a variable: the transform of one is a matrix."""
_ROUNDING = 1e-14
"""Weights below this part of the largest log factor are rounding."""


def log_linear_form(graph: FactorGraph, log_z: float, basis: BasisName = "walsh") -> LogLinear:
    """The log-linear model with the distribution of ``graph``, whose log partition function is ``log_z``.

    Raises
    ------
    FullspanError : a factor forbids a state, or there are too many entries or levels.
    """
    _check(graph)
    functions = Basis(basis, graph.space.cards)
    weights: dict[Term, float] = {}
    for scope, table in zip(graph.scopes, graph.tables, strict=True):
        order = sorted(range(len(scope)), key=scope.__getitem__)
        variables = [scope[a] for a in order]
        cube = expand(functions, variables, table.transpose(order))
        for digits in np.ndindex(cube.shape):
            term = tuple((i, j) for i, j in zip(variables, digits, strict=True) if j)
            weights[term] = weights.get(term, 0.0) + float(cube[digits])
    constant = weights.pop((), 0.0)
    least = _ROUNDING * max((float(np.abs(table).max()) for table in graph.tables), default=0.0)
    kept = {term: weight for term, weight in sorted(weights.items()) if abs(weight) > least}
    return LogLinear(graph.space, functions, tuple(kept), np.array(list(kept.values())), log_z - constant)


def _check(graph: FactorGraph) -> None:
    entries = sum(table.size for table in graph.tables)
    if entries > MAX_TERMS:
        raise FullspanError(f"the factors have {entries:,} entries; a model file holds up to {MAX_TERMS:,} terms")
    card = max(graph.space.cards)
    if card > MAX_CARD:
        name = graph.space.names[graph.space.cards.index(card)]
        raise FullspanError(f"{name!r} has {card:,} levels; a log-linear form is known for up to {MAX_CARD:,}")
    for scope, table in zip(graph.scopes, graph.tables, strict=True):
        if not math.isfinite(float(table.min())):
            names = ", ".join(graph.space.names[i] for i in scope)
            raise FullspanError(
                f"the factor over {names} forbids {_lowest(graph, scope, table)}, and "
                "a log-linear model has finite weights, which forbid nothing; keep the network as it is (.uai)"
            )


def _lowest(graph: FactorGraph, scope: Scope, table: NDArray[np.float64]) -> str:
    """The state of least weight, in words."""
    state = np.unravel_index(int(np.argmin(table)), table.shape)
    return cell_in_words([graph.space.variables[i] for i in scope], state)
