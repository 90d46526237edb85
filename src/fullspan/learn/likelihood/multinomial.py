"""One output from complete inputs, with a ridge that treats all levels alike, chosen by held-out likelihood.

    log p(y | x) = w_0(y) + sum_A w_A(x_A, y) - log Z(x),      sets A of up to order - 1 inputs
    minimise     sum_r n_r [ -log p(y_r | x_r) ] + (penalty / 2) sum_A |w_A|^2

Every w_A sums to zero over each of its variables, and is held by its coordinates in an orthonormal basis of such
functions. So the penalty, which is in rows and not per row, depends neither on the basis of the model nor on which
level comes first; with pairs it is that of logistic regression on indicators of all levels, with ``C = 1 / penalty``.
The base rates w_0 are all but free. Order and penalty are those with the largest likelihood of rows left out, in
stratified folds that a fixed seed draws.

Where few of many inputs matter, the penalty of a set A is instead divided by the mean square of its weights in that
fit, relative to all sets: an adaptive ridge. It is taken where rows left out are clearly more likely.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.algebra.local_bases import contrasts as orthonormal

PENALTIES = tuple(10.0 ** (k / 2) for k in range(5, -9, -1))
"""Penalties that are tried, the strongest first: each fit starts from the one before."""
FOLDS, FEW_ROWS = 5, 1000
"""Folds; twice as many where there are fewer rows than that, for the choice is noisy there."""
ORDERS = (2, 3)
MAX_WEIGHTS = 1200
"""Weights up to which a higher order is tried."""
MAX_CELLS = 20_000_000
"""Cells of the matrix of features up to which a higher order is tried."""
_BASE_RATES = 1e-3
"""Penalty of the base rates: a level that is not among the rows keeps a finite weight."""
_WORTH_RATIO = 0.98
"""Share of the log-loss of a lower order that a higher one has to stay below: fewer terms are easier to read."""
_ROUGH_TOLERANCE = 1e-5
"""Largest derivative left in a fit of cross-validation."""
_GIVE_UP = 2
"""Penalties in a row that are worse than the best before the smaller ones are left out."""
_CLEARLY = 2.0
"""Standard errors of the difference in held-out log-loss from which on an adaptive ridge is taken."""
_SMALLEST = 1e-3
"""Mean square of weights, relative to that of all sets, below which the penalty of a set grows no more."""


class Tried(NamedTuple):
    """Held-out log-loss of one choice, in nats per row, its standard error over the rows, and whether it adapts."""

    order: int
    penalty: float
    log_loss: float
    error: float
    adaptive: bool = False


@dataclass(frozen=True)
class Choice:
    """The order and penalty that were chosen, all that were tried, and the penalty of the fit that scales the others.

    ``scaled_by`` is None where all sets have the same penalty.
    """

    order: int
    penalty: float
    tried: tuple[Tried, ...]
    scaled_by: float | None = None


def contrasts(card: int) -> Array:
    """(card, card - 1) orthonormal columns that sum to zero (Helmert)."""
    return np.asarray(orthonormal(card)[1:].T)


def sets_of(n_inputs: int, order: int) -> list[tuple[int, ...]]:
    """The sets of inputs whose tables have weights, the empty one first."""
    return [s for size in range(min(order - 1, n_inputs) + 1) for s in itertools.combinations(range(n_inputs), size)]


def n_features(cards: Sequence[int], order: int) -> int:
    """Columns of the matrix of features."""
    return sum(math.prod(cards[i] - 1 for i in s) for s in sets_of(len(cards), order))


def scales(weights: Array, cards: Sequence[int], order: int) -> Array:
    """(d,) penalty of each feature relative to that of its order, by the weights (d, K - 1) of a fit."""
    sizes = [math.prod(cards[i] - 1 for i in s) for s in sets_of(len(cards), order)]
    squares = np.add.reduceat((weights**2).mean(axis=1), np.cumsum([0, *sizes])[:-1][np.array(sizes) > 0])
    kept = np.array([size for size in sizes if size])
    squares /= kept
    mean = float(squares[1:].mean()) if len(squares) > 1 else 0.0
    return np.repeat(mean / (squares + _SMALLEST * mean) if mean > 0 else np.ones(len(squares)), kept)


def features(inputs: Ints, cards: Sequence[int], order: int) -> Array:
    """(m, d) products of contrasts of each set of inputs, one set after the other."""
    own = [contrasts(card)[inputs[:, i]] for i, card in enumerate(cards)]
    columns = []
    for s in sets_of(len(cards), order):
        block = np.ones((len(inputs), 1))
        for i in s:
            block = (block[:, :, None] * own[i][:, None, :]).reshape(len(inputs), -1)
        columns.append(block)
    return np.concatenate(columns, axis=1)


@dataclass
class Multinomial:
    """Fits of one matrix of features: counts (m, K) of each level of the output in each distinct row of inputs."""

    x: Array
    counts: Array
    scales: Array | None = None

    def __post_init__(self) -> None:
        self.h = contrasts(self.counts.shape[1])
        self.rows = self.counts.sum(axis=1)

    def objective(self, w: Array, penalty: float) -> tuple[float, Array]:
        """The penalised log-loss of all rows and its gradient, both over the number of rows."""
        weights = w.reshape(self.x.shape[1], -1)
        log_p = self.log_prob(weights)
        ridge = penalty * (np.ones(len(weights)) if self.scales is None else self.scales)[:, None]
        # The first feature is the constant: shares of the output's levels are not pulled towards each other.
        ridge[0] = min(_BASE_RATES, penalty)
        residual = (self.rows[:, None] * np.exp(log_p) - self.counts) @ self.h
        total = float(self.rows.sum())
        value = -float(np.sum(self.counts * log_p)) + 0.5 * float(np.sum(ridge * weights**2))
        gradient = self.x.T @ residual + ridge * weights
        return value / total, np.asarray(gradient.ravel() / total)

    def log_prob(self, weights: Array) -> Array:
        """(m, K) ``log p(y | x)``."""
        scores = (self.x @ weights) @ self.h.T
        scores -= scores.max(axis=1, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))

    def fit(self, penalty: float, start: Array, tol: float, max_iter: int) -> tuple[Array, int, bool]:
        """The weights (d, K - 1), iterations, and whether no derivative is above ``tol``."""
        from scipy.optimize import minimize

        # A rough fit of cross-validation may end when the objective does; the final one must not.
        stop = {"gtol": tol, "ftol": 0.0 if tol < 1e-6 else 1e-9, "maxiter": max_iter, "maxfun": 2 * max_iter}
        found = minimize(
            self.objective,
            start.ravel(),
            args=(penalty,),
            jac=True,
            method="L-BFGS-B",
            options={**stop, "maxcor": 20},
        )
        converged = bool(np.abs(found.jac).max(initial=0.0) <= max(10 * tol, 1e-5))
        return found.x.reshape(start.shape), int(found.nit), converged


def choose(
    inputs: Ints,
    cards: Sequence[int],
    counts: Array,
    orders: Sequence[int],
    seen: Callable[[Tried, int], object] = lambda _tried, _weights: None,
) -> Choice:
    """Order and penalty by held-out log-loss: ``counts`` (m, K) of the output's levels in each distinct row of inputs.

    ``seen`` hears of every choice that was tried, with its number of weights. An interrupt ends the trials: the best so
    far is taken. Time: folds × (orders + 1) × penalties fits, each from the one before.
    """
    parts = folds(counts)
    tried: list[_Held] = []

    def follow(order: int, scaled_by: float | None) -> None:
        x = features(inputs, cards, order)
        fits = _fits(x, counts, parts)
        start = np.zeros((x.shape[1], counts.shape[1] - 1))
        if scaled_by is not None:
            for fit in fits:
                fit.scales = scales(fit.fit(scaled_by, start, _ROUGH_TOLERANCE, 300)[0], cards, order)
        for found in _along_the_path(fits, x, counts, parts, order):
            tried.append(found)
            seen(found.tried, start.size)

    try:
        for order in orders:
            follow(order, None)
        best = _plain(tried).tried
        follow(best.order, best.penalty)
    except KeyboardInterrupt:
        if not tried:
            raise
    plain = _plain(tried)
    adaptive = min((t for t in tried if t.tried.adaptive), key=lambda t: t.tried.log_loss, default=plain)
    every = tuple(t.tried for t in tried)
    if adaptive is not plain and _clearly_better(adaptive, plain, parts):
        return Choice(adaptive.tried.order, adaptive.tried.penalty, every, plain.tried.penalty)
    return Choice(plain.tried.order, plain.tried.penalty, every)


class _Held(NamedTuple):
    """A choice, and in each fold the log probabilities of all levels in the rows that were left out."""

    tried: Tried
    log_p: list[Array]


def _plain(tried: Sequence[_Held]) -> _Held:
    """The best of the lowest order, or of a higher one that is better by far; all sets have one penalty."""
    alike = [t for t in tried if not t.tried.adaptive]
    orders = sorted({t.tried.order for t in alike})
    each = [min((t for t in alike if t.tried.order == order), key=lambda t: t.tried.log_loss) for order in orders]
    best, *higher = each
    for other in higher:
        # Of two that are about as good the one with fewer terms, which people have to read.
        if other.tried.log_loss < _WORTH_RATIO * best.tried.log_loss:
            best = other
    return best


def _clearly_better(one: _Held, other: _Held, parts: Array) -> bool:
    """Whether the rows left out are more likely by more than chance explains, row by row."""
    n = mean = square = 0.0
    for part, a, b in zip(parts, one.log_p, other.log_p, strict=True):
        rows = part[part.sum(axis=1) > 0]
        n += float(rows.sum())
        mean += float(np.sum(rows * (a - b)))
        square += float(np.sum(rows * (a - b) ** 2))
    mean /= n
    return mean > _CLEARLY * math.sqrt(max(square / n - mean**2, 0.0) / n)


def _fits(x: Array, counts: Array, parts: Array) -> list[Multinomial]:
    """One for each fold, of the rows outside it."""
    kept = [(counts - part).sum(axis=1) > 0 for part in parts]
    return [Multinomial(x[k], (counts - part)[k]) for part, k in zip(parts, kept, strict=True)]


def _along_the_path(fits: Sequence[Multinomial], x: Array, counts: Array, parts: Array, order: int) -> Iterator[_Held]:
    """Held-out log-losses of one order from the strongest penalty on, until they get worse."""
    starts = [np.zeros((x.shape[1], counts.shape[1] - 1)) for _ in fits]
    best, worse, total = math.inf, 0, float(counts.sum())
    for penalty in PENALTIES:
        losses, log_ps = np.zeros(2), []
        for k, (fit, part) in enumerate(zip(fits, parts, strict=True)):
            starts[k], _, _ = fit.fit(penalty, starts[k], _ROUGH_TOLERANCE, 300)
            held = part.sum(axis=1) > 0
            log_p = Multinomial(x[held], part[held]).log_prob(starts[k])
            losses += [-np.sum(part[held] * log_p), np.sum(part[held] * log_p**2)]
            log_ps.append(log_p)
        mean = losses[0] / total
        error = math.sqrt(max(losses[1] / total - mean**2, 0.0) / total)
        yield _Held(Tried(order, penalty, float(mean), error, fits[0].scales is not None), log_ps)
        worse = 0 if mean < best - 1e-5 else worse + 1
        best = min(best, mean)
        # Log-loss has one minimum along the path, but for noise.
        if worse > _GIVE_UP:
            return


def folds(counts: Array) -> Array:
    """(folds, m, K) the counts of each fold: the rows of each level are dealt out in turn, in random order.

    Weights that are no whole numbers are not divided: all rows alike stay together.
    """
    rng = np.random.default_rng(0)
    n_folds = FOLDS if counts.sum() >= FEW_ROWS else 2 * FOLDS
    out = np.zeros((n_folds, *counts.shape))
    place = 0
    for level in range(counts.shape[1]):
        rows = rng.permutation(np.flatnonzero(counts[:, level] > 0))
        for r in rows.tolist():
            n = float(counts[r, level])
            if not n.is_integer():
                out[place % n_folds, r, level] = n
                place += 1
                continue
            each, rest = divmod(int(n), n_folds)
            out[:, r, level] += each
            for _ in range(rest):
                out[place % n_folds, r, level] += 1
                place += 1
    return out


def weights_of_terms(
    basis: Basis, inputs: Sequence[int], output: int, order: int, weights: Array, terms: Sequence[Term]
) -> Array:
    """The weights (d, K - 1) as those of terms of a basis: the same conditional distribution.

    A table is turned into coefficients variable by variable: ``f = sum_j c_j phi_j`` has ``c = f phi^-1``.
    """
    found: dict[Term, float] = {}
    inverse = {i: np.linalg.inv(basis.local(i).astype(np.float64)) for i in (*inputs, output)}
    start = 0
    for s in sets_of(len(inputs), order):
        variables = [inputs[i] for i in s]
        shape = [basis.cards[i] - 1 for i in variables]
        stop = start + math.prod(shape)
        table: Any = weights[start:stop].reshape(*shape, weights.shape[1])
        for axis, i in enumerate((*variables, output)):
            change = contrasts(basis.cards[i]).T @ inverse[i]
            table = np.moveaxis(np.tensordot(table, change, axes=(axis, 0)), -1, axis)
        for cell in np.ndindex(table.shape):
            if cell[-1]:
                pairs = zip((*variables, output), cell, strict=True)
                term = tuple(sorted((i, j) for i, j in pairs if j))
                found[term] = found.get(term, 0.0) + float(table[cell])
        start = stop
    return np.array([found[term] for term in terms])


def matrix_of_terms(basis: Basis, inputs: Sequence[int], output: int, order: int, terms: Sequence[Term]) -> Array:
    """(k, k) coordinates of each term, as a row: the ridge is the square of ``theta @ matrix``, base rates apart."""
    index = {s: k for k, s in enumerate(sets_of(len(inputs), order))}
    sizes = [math.prod(basis.cards[inputs[i]] - 1 for i in s) for s in index]
    starts = np.cumsum([0, *sizes])
    k_out = basis.cards[output] - 1
    own = {i: contrasts(basis.cards[i]).T @ basis.local(i).T for i in (*inputs, output)}
    means = {i: basis.local(i).mean(axis=1) for i in inputs}
    place = {i: k for k, i in enumerate(inputs)}
    out = np.zeros((len(terms), int(starts[-1]), k_out))
    for row, term in enumerate(terms):
        given = [(i, j) for i, j in term if i != output]
        last = own[output][:, dict(term)[output]]
        for size in range(len(given) + 1):
            for chosen in itertools.combinations(given, size):
                block, rest = np.ones(1), math.prod(means[i][j] for i, j in given if (i, j) not in chosen)
                for i, j in chosen:
                    block = np.outer(block, own[i][:, j]).ravel()
                k = index[tuple(place[i] for i, _ in chosen)]
                out[row, starts[k] : starts[k + 1]] += rest * np.outer(block, last)
    return out.reshape(len(terms), -1)
