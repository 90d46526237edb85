"""A continuous latent variable, summed over a lattice, learned by the exact likelihood of the mixture.

    p(x) = 1/N sum_j p(x | z_j),      p(x | z) = prod_i p(x_i | x_parent(i), z),      z in [0, 1)^d

A network (module ``decoder``) gives the tables of a tree, the Chow-Liu tree of the rows, for every point z. In the
first part every step shifts the lattice at random, so that what is learned is a function and not N unrelated trees; in
the second the points stay, and move with their shares along the gradient. Rows held out choose the step that is kept;
where they get no likelier, the step is made smaller from there, and learning ends after a few times. The result is a
finite mixture. After Correia, Gala, Quaeghebeur, de Campos & Peharz (2023), continuous mixtures of tractable
probabilistic models (AAAI 37).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data import Empirical
from fullspan.data.canonical import canonical_states
from fullspan.engine.memory import budget, require
from fullspan.engine.sampling.layers.device import Device, device
from fullspan.errors import FullspanError
from fullspan.learn.base.progress import STOPPED, History, Watch
from fullspan.learn.latent.decoder import Parameters, backward, forward, initial
from fullspan.learn.latent.points import lattice, waves
from fullspan.learn.trees.chow_liu import fit_chow_liu
from fullspan.model.algebra import jit
from fullspan.model.algebra.blas import one_core
from fullspan.model.latent_trees import LatentTrees
from fullspan.model.record import StepLike
from fullspan.model.tree_layout import TreeLayout

_FIRST, _SECOND = 0.9, 0.999
"""How long Adam remembers gradients and their squares."""
_WARM_STEPS = 50
"""Steps in which the rate grows to its full size."""
_SHRINK, _CUTS = 0.3, 3
"""Factor on the rate where held-out rows get no likelier, and how often, in each part."""
_HELD_NUMBERS = 1 << 22
"""Numbers of a block of rows under all points."""
_EPOCHS, _LEAST_STEPS, _MOST_STEPS = 100, 400, 6000
"""Passes over the rows where no number of steps is given, and the bounds on their number."""
_TIMED, _WANTED_STEPS, _LEAST_POINTS = 3, 1000, 64
"""Steps that are timed where the time is limited, steps that should fit into it, and points that are kept for them."""
_PIECES = 2
"""Pieces of a batch on the processor, so that cores share it; their number sets the order of sums, the cores do not."""
_MATRIX_CELLS = 1 << 29
"""Cells of the 0/1 matrix of all rows up to which it is made once; else anew for every batch."""


@dataclass(frozen=True)
class LatentOptions:
    """How a latent variable is learned.

    Attributes
    ----------
    points : N, the trees of the finite mixture.
    dimensions, frequencies, hidden : of the torus, of the waves on it, and units of each layer of the network.
    trees : whether variables have their parents in the Chow-Liu tree; never where cells are missing.
    batch, rate, steps : rows of a step, its size, and most steps; None for as many as serve that many rows.
    fixed : share of the steps in which the points stay.
    decay : of the network's weights, relative to the rate.
    evaluations : of the rows held out, over all steps.
    patience : evaluations in a row that find no likelier model, after which the rate falls.
    max_seconds : of learning; None for no limit.
    seed : of the start, the shifts and the order of the rows.
    device, dtype : where arrays are, and of which numbers.
    """

    points: int = 1024
    dimensions: int = 4
    frequencies: int = 2
    hidden: int = 128
    trees: bool = True
    batch: int = 512
    rate: float = 5e-3
    steps: int | None = None
    fixed: float = 0.2
    decay: float = 0.1
    evaluations: int = 100
    patience: int = 5
    max_seconds: float | None = None
    seed: Any = None
    device: str = "cpu"
    dtype: str = "float32"

    def __post_init__(self) -> None:
        for name in ("points", "dimensions", "frequencies", "hidden", "batch", "steps", "evaluations", "patience"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise FullspanError(f"{name} is {value!r}; a whole number of at least 1 is needed")


@dataclass(frozen=True)
class LatentFit:
    """What was learned.

    Attributes
    ----------
    model : the finite mixture.
    validation : mean log-likelihood of the rows that decide, in nats.
    status : ``"converged"``, ``"time limit"``, ``"max_iter"`` or ``"interrupted"``.
    history : an entry for every evaluation.
    """

    model: LatentTrees
    validation: float
    status: str
    history: tuple[StepLike, ...]


def fit_latent(
    train: Empirical, options: LatentOptions | None = None, valid: Empirical | None = None, watch: Watch | None = None
) -> LatentFit:
    """Learn a latent variable; without rows held out those learned from decide. Ctrl-C keeps the best so far.

    Raises
    ------
    FullspanError : an option is out of range, or the device is not there.
    TooLargeError : a step would not fit into memory.
    """
    options = options or LatentOptions()
    learner = _Learner(train, valid, options, watch)
    with learner.at_work():
        learner.keep_to_the_time()
        return learner.run()


class _Rows:
    """Rows as 0/1 matrices, all at once or batch by batch."""

    def __init__(self, data: Empirical, layout: TreeLayout, place: Device) -> None:
        self.data, self.layout, self.place = data, layout, place
        n_columns = layout.n_base + layout.n_pair + layout.n_given
        small = len(data.states) * n_columns <= _MATRIX_CELLS
        self.matrix = place.index(layout.matrix(data.states)) if small else None

    def batch(self, which: NDArray[Any]) -> Any:
        """Some rows as numbers."""
        if self.matrix is None:
            return self.place.array(self.layout.matrix(self.data.states[which]))
        return self.place.cast(self.place.xp.take(self.matrix, self.place.index(which), axis=0), self.place.dtype)


@dataclass
class _State:
    """The network, and the points: their features and the logarithms of their shares, up to a constant."""

    network: Parameters
    points: Parameters
    moments: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    steps: int = 0

    def copied(self) -> tuple[Parameters, Parameters]:
        return ({k: v * 1 for k, v in self.network.items()}, {k: v * 1 for k, v in self.points.items()})


class _Learner:
    def __init__(self, train: Empirical, valid: Empirical | None, options: LatentOptions, watch: Watch | None) -> None:
        self.options, self.history = options, History(watch)
        self.rng = np.random.default_rng(options.seed)
        # The order of the rows is their own, not that of the table.
        order = canonical_states(train)
        self.train = train = replace(train, states=train.states[order], counts=train.counts[order])
        cards, epochs = train.space.cards, _EPOCHS * train.total / options.batch
        self.steps = options.steps or int(min(max(epochs, _LEAST_STEPS), _MOST_STEPS))
        open_cells = not (train.is_complete and (valid is None or valid.is_complete))
        tree = fit_chow_liu(train).model
        self.parents: Ints = tree.parents.copy() if options.trees and not open_cells else np.full(len(cards), -1)
        self.place = device(options.device, options.dtype, np.random.default_rng(0))
        self.layout = TreeLayout(cards, self.parents, open_cells, self.place.index)
        n, p = options.points, self.layout.n_logits
        require(
            8 * (6 * n * p + n * options.batch),
            budget(None),
            f"a step of {n:,} points and {p:,} weights each",
            "take fewer points",
        )
        decide = train if valid is None else valid
        self.rows = _Rows(train, self.layout, self.place)
        self.deciding = self.rows if valid is None else _Rows(decide, self.layout, self.place)
        self.cumulative = np.cumsum(train.counts) / train.total
        bias = self.layout.logits_of(_smoothed(tables_of(train, self.parents)))
        start = initial(2 * options.dimensions * options.frequencies, options.hidden, bias, self.rng)
        self.shift = self.rng.random(options.dimensions)
        self.state = _State({k: self.place.array(v) for k, v in start.items()}, {})
        self._lay_out(n)
        self.best, self.score = self.state.copied(), -math.inf
        self.pool: ThreadPoolExecutor | None = None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Threads for the pieces of a batch, each with a product on one core: threads of BLAS wait for one another."""
        if self.options.device != "cpu":
            yield
            return
        with one_core(), ThreadPoolExecutor(min(jit.cores(), _PIECES)) as self.pool:
            yield

    def _in_pieces(self, do: Callable[[NDArray[Any]], Any], which: NDArray[Any]) -> list[Any]:
        """What is made of the pieces of some rows, in their order."""
        if self.pool is None:
            return [do(which)]
        return list(self.pool.map(do, np.array_split(which, _PIECES)))

    def _features(self, shift: Array) -> Any:
        return self.place.array(waves((self.lattice + shift) % 1.0, self.options.frequencies))

    def _lay_out(self, n: int) -> None:
        """Points with even shares."""
        self.lattice = lattice(n, self.options.dimensions)
        self.state.points = {"f": self._features(self.shift), "w": self.place.array(np.zeros((n, 1)))}

    def keep_to_the_time(self) -> None:
        """Take as many points as let a thousand steps fit into the time, at least 64: better than fewer steps."""
        limit, most, started = self.options.max_seconds, self.options.points, time.perf_counter()
        if limit is None or most <= _LEAST_POINTS:
            return
        batches = self._batches()
        for _ in range(_TIMED):
            self._step(next(batches), 0.0, fixed=False)
        self.place.synchronise()
        each = (time.perf_counter() - started) / _TIMED
        self.state.moments.clear()
        self.state.steps = 0
        left = max(limit - self.history.seconds, 0.0)
        share = left / (min(self.steps, _WANTED_STEPS) * each)
        if share < 1:
            n = max(2 ** int(math.log2(max(most * share, 1.0))), _LEAST_POINTS)
            self.options = replace(self.options, points=n)
            self._lay_out(n)
            self.best = self.state.copied()

    # -- the schedule -----------------------------------------------------------------------------------------------

    def run(self) -> LatentFit:
        options, status = self.options, "max_iter"
        try:
            self._evaluate()
            first = int(self.steps * (1 - options.fixed))
            ended = self._part(first, fixed=False)
            if ended != "time limit":
                self._restore()
                ended = self._part(self.steps - first, fixed=True)
            status = ended
        except STOPPED:
            status = "interrupted"
        self._restore()
        return LatentFit(self._model(), self.score, status, tuple(self.history.steps))

    def _part(self, steps: int, *, fixed: bool) -> str:
        """Steps until they are used up, the time is, or smaller steps do not help either."""
        options, pause = self.options, max(self.steps // self.options.evaluations, 1)
        cuts, idle, mark = 0, 0, self.score
        share = options.fixed if fixed else 1 - options.fixed
        begun, factor = self._spent(), 1.0
        allowed = begun + share if not fixed else 1.0
        batches = self._batches()
        for step in range(steps):
            done = max(step / steps, (self._spent() - begun) / max(allowed - begun, 1e-9))
            if done >= 1:
                return "time limit" if fixed else "max_iter"
            rate = options.rate * factor * 0.5 * (1 + math.cos(math.pi * (done + (0.0 if not fixed else 1.0)) / 2))
            self._step(next(batches), rate * min(1.0, (self.state.steps + 1) / _WARM_STEPS), fixed=fixed)
            if (step + 1) % pause == 0:
                self._evaluate()
                idle, mark = (0, self.score) if self.score > mark else (idle + 1, mark)
                if idle >= options.patience:
                    cuts, idle, factor = cuts + 1, 0, factor * _SHRINK
                    self._restore()
                    if cuts > _CUTS:
                        return "converged"
        return "max_iter"

    def _spent(self) -> float:
        """The share of the time that is over."""
        limit = self.options.max_seconds
        return 0.0 if limit is None else self.history.seconds / limit

    def _batches(self) -> Any:
        """Rows of each step: all in random order, each as often as it was counted, and again."""
        total = max(round(self.train.total), len(self.train.states), 1)
        size = min(self.options.batch, total)
        while True:
            order = self.rng.permutation(total)
            for start in range(0, total - size + 1, size):
                at = (order[start : start + size] + self.rng.random(size)) / total
                yield np.minimum(np.searchsorted(self.cumulative, at, side="right"), len(self.cumulative) - 1)

    # -- one step -------------------------------------------------------------------------------------------------

    def _joint(self, x: Any, numbers: Any, constant: Any) -> Any:
        return x @ numbers.T + constant.T

    def _log_shares(self) -> Any:
        xp, w = self.place.xp, self.state.points["w"]
        w = w - xp.max(w)
        return w - xp.log(xp.sum(xp.exp(w)))

    def _step(self, which: NDArray[Any], rate: float, *, fixed: bool) -> None:
        xp, state, layout = self.place.xp, self.state, self.layout
        f = state.points["f"] if fixed else self._features(self.rng.random(self.options.dimensions))
        t, kept = forward(xp, state.network, f)
        numbers, constant, shares = layout.numbers(xp, t)
        log_shares = self._log_shares()

        def expected(piece: NDArray[Any]) -> tuple[Any, Any]:
            """Expected sums of the rows' numbers (N, R) under each point, and the rows that each point takes (N, 1)."""
            x = self.rows.batch(piece)
            joint = self._joint(x, numbers, constant + log_shares)
            joint = xp.exp(joint - xp.max(joint, axis=1, keepdims=True))
            joint = joint * (1 / (xp.sum(joint, axis=1, keepdims=True) * len(which)))
            return joint.T @ x, xp.sum(joint, axis=0)[:, None]

        pieces = self._in_pieces(expected, which)
        of_numbers, taken = sum(own for own, _ in pieces), sum(own for _, own in pieces)
        found, of_f = backward(xp, state.network, kept, layout.slope(xp, of_numbers, taken, shares))
        state.steps += 1
        self._adam(state.network, found, rate, self.options.decay)
        if fixed:
            self._adam(state.points, {"f": of_f, "w": taken - xp.exp(log_shares)}, rate, 0.0)

    def _adam(self, values: Parameters, slopes: Parameters, rate: float, decay: float) -> None:
        xp, state = self.place.xp, self.state
        for name, slope in slopes.items():
            mean, square = state.moments.get(name, (slope * 0, slope * 0))
            mean = mean * _FIRST + slope * (1 - _FIRST)
            square = square * _SECOND + slope * slope * (1 - _SECOND)
            state.moments[name] = (mean, square)
            unbiased = math.sqrt(1 - _SECOND**state.steps) / (1 - _FIRST**state.steps)
            kept = 1 - rate * decay if name.startswith("w") and name != "w" else 1.0
            values[name] = values[name] * kept + (mean / (xp.sqrt(square) + 1e-8)) * (rate * unbiased)

    # -- rows that decide -----------------------------------------------------------------------------------------

    def _evaluate(self) -> None:
        """Score the rows that decide, and keep the model if it is the best."""
        score = self._score()
        if score > self.score:
            self.best, self.score = self.state.copied(), score
        done = f"{self.state.steps} steps, {self.options.points} points"
        words = f"{done}  rows {'held out' if self.deciding is not self.rows else 'learned from'} {score:.5f} nats"
        self.history.record("ascent", self.options.points, -score, words)

    def _score(self) -> float:
        xp, data = self.place.xp, self.deciding.data
        t, _ = forward(xp, self.state.network, self.state.points["f"])
        numbers, constant, _ = self.layout.numbers(xp, t)
        constant, total = constant + self._log_shares(), 0.0

        def log_sum(piece: NDArray[Any]) -> float:
            joint = self._joint(self.deciding.batch(piece), numbers, constant)
            top = xp.max(joint, axis=1, keepdims=True)
            logs = top[:, 0] + xp.log(xp.sum(xp.exp(joint - top), axis=1))
            return float(data.counts[piece] @ self.place.to_numpy(logs).astype(np.float64))

        step = max(_HELD_NUMBERS // self.options.points, 1)
        for start in range(0, len(data.states), step):
            which = np.arange(start, min(start + step, len(data.states)))
            total += sum(self._in_pieces(log_sum, which))
        return total / data.total

    def _restore(self) -> None:
        self.state.network, self.state.points = ({k: v * 1 for k, v in own.items()} for own in self.best)

    def _model(self) -> LatentTrees:
        t, _ = forward(self.place.xp, self.state.network, self.state.points["f"])
        log_shares = self.place.to_numpy(self._log_shares())[:, 0].astype(np.float64)
        shares = np.maximum(np.exp(log_shares), 1e-12)
        logits = self.place.to_numpy(t).astype(np.float32)
        return LatentTrees(self.train.space, self.parents, shares / shares.sum(), logits)


def tables_of(data: Empirical, parents: Ints) -> list[Array]:
    """Counts of every variable with its parent (levels of the parent, levels), of the rows that show both."""
    found: list[Array] = []
    for i, (p, card) in enumerate(zip(parents.tolist(), data.space.cards, strict=True)):
        own = data.states[:, i].astype(np.int64)
        above = data.states[:, p].astype(np.int64) if p >= 0 else np.zeros(len(own), dtype=np.int64)
        rows, seen = data.space.cards[p] if p >= 0 else 1, (own >= 0) & (above >= 0)
        counts = np.bincount(above[seen] * card + own[seen], data.counts[seen], rows * card)
        found.append(counts.reshape(rows, card).astype(np.float64))
    return found


def _smoothed(tables: list[Array]) -> list[Array]:
    """Conditional probabilities, one pseudo-row spread over each variable's levels for every level of its parent."""
    return [(t + 1.0 / t.shape[1]) / (t.sum(axis=1, keepdims=True) + 1.0) for t in tables]
