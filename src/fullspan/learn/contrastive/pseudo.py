"""Pseudo-likelihood: every variable given all others, whose normalisers are sums over its own levels (Besag 1975).

    f(theta) = - sum_r q_r sum_i log p(x_ri | x_r without i) + l2 |theta|^2 / 2

It is convex, its gradient is exact, and its minimum tends to the true weights as rows grow, as that of the likelihood
does; with few rows it is less precise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.sampling.factors import cell, given_rest
from fullspan.engine.sampling.pairwise import PairTerms
from fullspan.engine.sampling.term_tables import TermTables
from fullspan.model.algebra.jit import on_cores, serial

_PARTS = 16
"""Parts of the rows, each with a gradient of its own, that are worked on at the same time."""


class PseudoLikelihood:
    """Minus the mean log pseudo-likelihood of rows, and its gradient.

    Parameters
    ----------
    form : the terms.
    states, weights : distinct rows (m, n) of codes, and how often each was seen.
    """

    def __init__(self, form: PairTerms | TermTables, states: NDArray[Any], weights: Array) -> None:
        self.form, self.states = form, np.ascontiguousarray(states)
        self.share = weights / weights.sum()

    def value(self, theta: Array) -> float:
        """f without its penalty, in nats per row."""
        return self.value_and_gradient(theta)[0]

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        if isinstance(self.form, PairTerms):
            return self._of_pairs(self.form, theta)
        return self._of_tables(self.form, theta)

    def _of_pairs(self, form: PairTerms, theta: Array) -> tuple[float, Array]:
        """``d f / d b = <p - x>`` and ``d f / d W_ij = <(p_i - x_i) x_j + (p_j - x_j) x_i>``, p_i = P(x_i=1 | rest)."""
        machine = form.target(theta)
        x = self.states.astype(np.float64)
        fields = x @ machine.coupling + machine.bias
        value = float(self.share @ (np.logaddexp(0.0, fields) - x * fields).sum(axis=1))
        # The logistic function by tanh: it cannot overflow.
        excess = (0.5 * (1 + np.tanh(0.5 * fields)) - x) * self.share[:, None]
        cross = excess.T @ x
        return value, form.back(excess.sum(axis=0), cross + cross.T)

    def _of_tables(self, form: TermTables, theta: Array) -> tuple[float, Array]:
        target, graph = form.target(theta), form.graph
        gradients = np.zeros((_PARTS, len(graph.values)))
        values = np.zeros(_PARTS)
        on_cores(
            _tables,
            _PARTS,
            self.states,
            self.share,
            graph.cards,
            target.values,
            graph.variables,
            graph.strides,
            graph.scope_starts,
            graph.table_starts,
            *target.membership,
            values,
            gradients,
        )
        return float(values.sum()), np.asarray(form.design.T @ gradients.sum(axis=0))


def fit_pseudo(
    likelihood: PseudoLikelihood,
    theta: Array,
    l2: float,
    tol: float,
    max_iter: int,
    watch: Callable[[Array, float], None],
) -> tuple[Array, float, int, bool]:
    """Minimise by L-BFGS: the weights, the largest slope left, the iterations, and whether that is below ``tol``."""
    from scipy.optimize import minimize

    def objective(point: Array) -> tuple[float, Array]:
        value, gradient = likelihood.value_and_gradient(point)
        return value + 0.5 * l2 * float(point @ point), gradient + l2 * point

    def note(intermediate_result: Any) -> None:
        watch(np.array(intermediate_result.x), float(intermediate_result.fun))

    # ftol = 0: an objective that has ceased to fall in its last digits may still have a slope above tol.
    options = {"maxiter": max_iter, "maxfun": 2 * max_iter, "maxcor": 20, "ftol": 0.0, "gtol": tol}
    found = minimize(objective, theta, jac=True, method="L-BFGS-B", callback=note, options=options)
    violation = float(np.abs(found.jac).max(initial=0.0))
    return np.asarray(found.x), violation, int(found.nit), violation <= tol


@serial
def _tables(
    begin: int,
    end: int,
    states: NDArray[Any],
    share: Array,
    cards: Ints,
    entries: Array,
    variables: Ints,
    strides: Ints,
    scope_starts: Ints,
    table_starts: Ints,
    bounds: Ints,
    factors: Ints,
    steps: Ints,
    values: Array,
    gradients: Array,
) -> None:
    """Value and gradient by table entries, part by part of the rows."""
    n_parts = len(values)
    most = cards.max()
    for part in range(begin, end):
        logits = np.empty(most)
        gradient = gradients[part]
        # In turns, since rows are sorted and neighbouring ones alike in how long they take.
        for r in range(part, len(states), n_parts):
            x = states[r]
            for v in range(cards.size):
                card = cards[v]
                scopes, member = (variables, strides, scope_starts, table_starts), (bounds, factors, steps)
                given_rest(v, card, x, entries, scopes, member, logits)
                top = logits[:card].max()
                total = 0.0
                for level in range(card):
                    total += np.exp(logits[level] - top)
                values[part] += share[r] * (top + np.log(total) - logits[x[v]])
                for level in range(card):
                    logits[level] = np.exp(logits[level] - top) / total
                for m in range(bounds[v], bounds[v + 1]):
                    place = cell(m, v, x, scopes, member)
                    for level in range(card):
                        gradient[place + level * steps[m]] += share[r] * logits[level]
                    gradient[place + np.int64(x[v]) * steps[m]] -= share[r]
