"""Whether a model in a file sums to 1: its log Z recomputed where that is cheap, or a product of conditionals by form.

A product of factors is a distribution by its form if it has one conditional for each variable, without a circle:

    p(x) = prod_v p(x_v | x_parents(v)),      sum over x_v of each factor = 1,   v the first variable of its scope

Then the sum over all states is 1, whatever their number, and nothing has to be summed to know it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fullspan.model.algebra.basis import Basis, Term, log_sum_exp, small_exponents
from fullspan.model.files.strict_json import Node, shown
from fullspan.model.graph import FactorGraph

_CONDITIONAL_TOLERANCE = 1e-6
"""How far a conditional may be from summing to 1."""
_CHECKED_STATES, _CHECKED_LEVELS = 1 << 16, 1 << 10
"""Sizes up to which log Z is recomputed on reading."""
_LOG_Z_TOLERANCE = 1e-4
"""A table in single precision leaves log Z with an error of about 1e-6."""


def check_log_z(node: Node, basis: Basis, weights: Mapping[Term, float]) -> None:
    """Recompute log Z where that is cheap.

    Raises
    ------
    ModelFileError : the file states another one.
    """
    if basis.n_states > _CHECKED_STATES or max(basis.cards) > _CHECKED_LEVELS:
        return
    # Weights of a crafted file may overflow: the comparison below then fails, as it should.
    with np.errstate(over="ignore", invalid="ignore"):
        expected = log_sum_exp(small_exponents(basis, weights))
    # Written so that NaN is refused too.
    if not abs(expected - node.value) <= _LOG_Z_TOLERANCE * (1 + abs(expected)):
        raise node.refuse(f"{shown(node.value)} does not match the weights, whose log Z is {expected:.6g}")


def check_normalised(node: Node, graph: FactorGraph) -> None:
    """Refuse a graph that is no product of conditionals.

    Raises
    ------
    ModelFileError : variables have no factor or several, one depends on itself, or a conditional does not sum to 1.
    """
    if sorted(scope[0] if scope else -1 for scope in graph.scopes) != list(range(len(graph.space))):
        raise node.refuse("each variable must be the first one of exactly one factor")
    if not _is_acyclic(graph):
        raise node.refuse("a variable depends on itself through others")
    worst = _worst_sum(graph)
    # Not "greater than": a NaN must be refused as well.
    if not abs(worst - 1) <= _CONDITIONAL_TOLERANCE:
        raise node.refuse(f"a factor sums to {worst:.6g} over its first variable, where 1 is expected")


def _is_acyclic(graph: FactorGraph) -> bool:
    """Whether the variables can be put in an order, each after the others of its factor."""
    waits = {scope[0]: len(scope) - 1 for scope in graph.scopes}
    children: dict[int, list[int]] = {}
    for child, *parents in graph.scopes:
        for parent in parents:
            children.setdefault(parent, []).append(child)
    ready, placed = [v for v, n in waits.items() if n == 0], 0
    while ready:
        placed += 1
        for child in children.get(ready.pop(), ()):
            waits[child] -= 1
            if waits[child] == 0:
                ready.append(child)
    return placed == len(waits)


def _worst_sum(graph: FactorGraph) -> float:
    """The sum over the first variable that is farthest from 1; factors of the same size are summed together."""
    starts, sizes = graph.table_starts[:-1], np.diff(graph.table_starts)
    cards = graph.cards[graph.variables[graph.scope_starts[:-1]]]
    worst = 1.0
    for card, size in np.unique(np.stack([cards, sizes], axis=1), axis=0):
        own = starts[(cards == card) & (sizes == size)]
        tables = graph.values[own[:, None] + np.arange(size)].reshape(len(own), card, -1)
        with np.errstate(over="ignore"):
            sums = np.exp(tables).sum(axis=1).ravel()
        found = float(sums[np.abs(sums - 1).argmax()])
        worst = found if abs(found - 1) > abs(worst - 1) else worst
    return worst
