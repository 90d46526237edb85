"""Hidden Chow–Liu trees (Liu & Van den Broeck 2021), learned by em with exact passes.

Every variable gets a K-valued hidden node, and the nodes are joined as the variables are in the Chow–Liu tree. An
iteration replaces all tables by expected counts under the present ones, s pseudo-rows added to each distribution:

    pi(z) <- (N_z + s/K) / (N + s),    A_i[z, z'] <- (N_zz' + s/K) / (N_z + s),
    E_i[z, x] <- (N_zx + s q_i(x)) / (N_z + s)

with q_i the shares of levels in the data. The likelihood, with the logarithm of this Dirichlet prior, never falls.
Rows held out stop the iteration, and choose between starts, numbers of states and smoothings. Of the best runs a
mixture is kept if the rows held out are likelier under it: a mixture of trees of the same shape is again such a tree,
whose states are those of all, with transitions that never leave a part.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.engine.elimination.trees import Counts, TreeEngine
from fullspan.engine.sampling.layers.device import Device, device
from fullspan.errors import FullspanError
from fullspan.learn.base.column_order import ColumnOrder
from fullspan.learn.base.em import Alternated, Expected, Stop, alternate
from fullspan.learn.base.progress import History, Interrupted, Watch
from fullspan.learn.trees.chow_liu import fit_chow_liu
from fullspan.learn.trees.on_device import EmOnDevice, RowsOnDevice
from fullspan.learn.trees.starts import level_shares, start
from fullspan.model.hidden_tree import FittedTree, HiddenTree
from fullspan.model.record import StepLike


@dataclass(frozen=True)
class TreeOptions:
    """How a hidden tree is learned.

    Attributes
    ----------
    n_states, smoothing : states of a node and pseudo-rows of a distribution; of several, the best on rows held out.
    restarts : runs from different starts for each of these.
    mixture : whether the runs may be mixed.
    tol : a run ends when ``patience`` iterations in a row gain less, in nats per row, on the rows held out (without
        any, on the rows learned from).
    max_iter : maximum number of iterations of a run; None for no limit.
    max_seconds : no iteration is begun after this time; None for no limit.
    seed : of the starts.
    device : ``"cpu"``, or ``"cuda"`` for a graphics card, where numbers are single ones throughout.
    dtype : of the messages while learning on the processor; its scores are always in double precision.
    """

    n_states: int | Sequence[int] = 16
    smoothing: float | Sequence[float] = 0.3
    restarts: int = 2
    mixture: bool = True
    tol: float = 1e-4
    patience: int = 4
    max_iter: int | None = 1000
    max_seconds: float | None = None
    seed: Any = None
    device: str = "cpu"
    dtype: Any = np.float32
    max_memory: int | None = None

    def choices(self) -> list[tuple[int, float]]:
        """All pairs of a number of states and a smoothing.

        Raises
        ------
        FullspanError : one of them is out of range, or there is none.
        """
        states = list(self.n_states) if isinstance(self.n_states, Iterable) else [self.n_states]
        smoothing = list(self.smoothing) if isinstance(self.smoothing, Iterable) else [self.smoothing]
        for k in states:
            if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
                raise FullspanError(f"n_states has {k!r}; whole numbers of at least 1 are needed, such as 16")
        for s in smoothing:
            if not isinstance(s, int | float) or not 0 <= s < math.inf:
                raise FullspanError(f"smoothing has {s!r}; finite numbers of pseudo-rows, at least 0, are needed")
        if not states or not smoothing:
            raise FullspanError("n_states and smoothing need at least one value each")
        return [(int(k), float(s)) for k in states for s in smoothing]


class Rows:
    """Counted rows as the passes read them, missing cells in one code beyond the levels."""

    def __init__(self, empirical: Empirical) -> None:
        states, most = empirical.states, max(empirical.space.cards)
        small = np.uint8 if most < 256 else np.int32
        self.columns = np.ascontiguousarray(np.where(states < 0, most, states).T, dtype=small)
        self.weights, self.total = empirical.counts, empirical.total

    def mean(self, tree: HiddenTree, dtype: Any = np.float64) -> float:
        """Mean log-likelihood of the rows, in nats."""
        return float(self.weights @ TreeEngine(tree, dtype=dtype).log_likelihood(self.columns)) / self.total


def maximised(tree: HiddenTree, counts: Counts, smoothing: float, shares: Array) -> HiddenTree:
    """The tree of greatest likelihood for expected counts, with the prior of ``smoothing`` pseudo-rows."""
    k, root = tree.n_states, int(tree.order[0])
    prior = _shares(counts.root + smoothing / k, tree.prior)
    transitions = _shares(counts.edges + smoothing / k, tree.transitions)
    # The root has no parent; what the passes gather there are the states of the root, for the prior.
    transitions[root] = 0.0
    emissions = _shares(counts.cells + smoothing * shares[:, None, :], tree.emissions)
    return HiddenTree(tree.space, tree.parents, prior, transitions, emissions)


def _shares(counts: Array, otherwise: Array) -> Array:
    """Counts divided by their sums along the last axis; what has no count keeps its table."""
    sums = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), otherwise))


def log_prior(tree: HiddenTree, smoothing: float, shares: Array) -> float:
    """Logarithm of the Dirichlet prior of :func:`maximised`, up to a constant, in nats."""
    if smoothing == 0:
        return 0.0
    k, others = tree.n_states, tree.order[1:]
    # A level without a row has no pseudo-count and probability 0, whose logarithm is not part of the prior.
    seen = np.broadcast_to(shares[:, None, :] > 0, tree.emissions.shape)
    weights = np.broadcast_to(shares[:, None, :], tree.emissions.shape)[seen]
    even = float(np.log(tree.prior).sum() + np.log(tree.transitions[others]).sum()) / k
    return smoothing * (even + float(weights @ np.log(tree.emissions[seen])))


@dataclass(frozen=True)
class Run:
    """One run of em: its best tree, what that reached on the rows that decide, how it ended, its steps."""

    tree: HiddenTree
    score: float
    status: str
    smoothing: float
    history: tuple[StepLike, ...]


class Learner:
    """Runs of em on one table, and what they share."""

    def __init__(self, train: Empirical, valid: Empirical | None, options: TreeOptions, watch: Watch | None) -> None:
        self.empirical, self.options, self.history = train, options, History(watch)
        self.train, self.valid = Rows(train), None if valid is None else Rows(valid)
        self.shares = level_shares(train)
        self.made = 0
        self.place = None if options.device == "cpu" else device(options.device, "float32", np.random.default_rng(0))
        self._there = {} if self.place is None else {id(rows): self._moved(rows, self.place) for rows in self._rows}

    @property
    def _rows(self) -> list[Rows]:
        return [rows for rows in (self.train, self.valid) if rows is not None]

    @staticmethod
    def _moved(rows: Rows, place: Device) -> RowsOnDevice:
        return RowsOnDevice(rows.columns, rows.weights, place)

    def _em_there(self, smoothing: float) -> EmOnDevice:
        assert self.place is not None
        valid = None if self.valid is None else self._there[id(self.valid)]
        return EmOnDevice(self.place, self._there[id(self.train)], valid, smoothing, self.shares)

    def log_likelihood(self, tree: HiddenTree, rows: Rows) -> Array:
        """log p of each row, where the learning is."""
        if self.place is None:
            return TreeEngine(tree).log_likelihood(rows.columns)
        em = self._em_there(0.0)
        return em.log_likelihood(em.put(tree), self._there[id(rows)])

    def mean(self, tree: HiddenTree, rows: Rows) -> float:
        """Mean log-likelihood of the rows, in nats."""
        return float(rows.weights @ self.log_likelihood(tree, rows)) / rows.total

    def run(self, tree: HiddenTree, smoothing: float) -> Run:
        """Em from a tree until it no longer gains; an interruption ends it early."""
        options, steps = self.options, self.history.steps
        self.made, first = self.made + 1, len(steps)

        def report(now: Any, expected: Expected[Any], done: int) -> None:
            words = self._words(now.n_states, -expected.value)
            self.history.record("em", now.n_states, -expected.data.objective, words)
            if self.is_late:
                raise Interrupted

        stop = Stop(gain=options.tol, patience=options.patience, max_iter=options.max_iter)
        found: Alternated[Any, Any]
        if self.place is None:
            found = alternate(Em(self, smoothing), tree, stop, report)
        else:
            em = self._em_there(smoothing)
            there = alternate(em, em.put(tree), stop, report)
            found = Alternated(em.tree(there.model), there.expected, there.status, there.trace)
        status = "max_iter" if found.status == "iteration limit" else found.status
        status = "time limit" if status == "interrupted" and self.is_late else status
        score = -math.inf if found.expected is None else -found.value
        return Run(found.model, score, status, smoothing, tuple(steps[first:]))

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return self.history.is_late(self.options.max_seconds)

    def _words(self, n_states: int, value: float) -> str:
        planned = len(self.options.choices()) * self.options.restarts
        rows = "learned from" if self.valid is None else "held out"
        return f"run {self.made} of {planned}  {n_states} hidden states  rows {rows} {value:.5f} nats"

    def runs(self, chow_liu_tree: HiddenTree) -> list[Run]:
        """All runs, best first; an interruption leaves out those to come."""
        rng = np.random.default_rng(self.options.seed)
        found: list[Run] = []
        for k, smoothing in self.options.choices():
            for r in range(self.options.restarts):
                # Starts from rows and from noise in turns: neither is the better one on all data.
                tree = start(self.empirical, chow_liu_tree, k, rng, from_rows=r % 2 == 0)
                found.append(self.run(tree, smoothing))
                if found[-1].status in ("interrupted", "time limit"):
                    return sorted(found, key=lambda run: -run.score)
        return sorted(found, key=lambda run: -run.score)

    def mixed(self, runs: Sequence[Run]) -> tuple[HiddenTree, float]:
        """The best run, or the even mixture of the first m, whichever the rows held out find likeliest."""
        assert self.valid is not None
        logs = np.array([self.log_likelihood(run.tree, self.valid) for run in runs])
        # Even shares of the first m, for every m in one pass: fitted shares would have to be held in the transitions.
        sums = np.logaddexp.accumulate(logs, axis=0) - np.log(np.arange(1, len(runs) + 1))[:, None]
        values = sums @ self.valid.weights / self.valid.total
        m = int(np.argmax(values)) + 1
        return mixture([run.tree for run in runs[:m]]), float(values[m - 1])


@dataclass(frozen=True)
class Completed:
    """Expected counts under a tree, and its mean log-likelihood of the rows learned from, the prior's part included."""

    counts: Counts
    objective: float


@dataclass(frozen=True)
class Em:
    """The two steps of em on a hidden tree; rows held out judge, where there are some."""

    learner: Learner
    smoothing: float

    def complete(self, tree: HiddenTree) -> Expected[Completed]:
        """Expected counts by one pass up and down the tree."""
        own, train = self.learner, self.learner.train
        engine = TreeEngine(tree, dtype=own.options.dtype, max_memory=own.options.max_memory)
        counts, log = engine.expected_counts(train.columns, train.weights)
        mean = float(train.weights @ log + log_prior(tree, self.smoothing, own.shares)) / train.total
        value = mean if own.valid is None else own.valid.mean(tree, own.options.dtype)
        return Expected(-value, Completed(counts, mean))

    def project(self, data: Completed, tree: HiddenTree) -> HiddenTree:
        """The closed-form maximum."""
        return maximised(tree, data.counts, self.smoothing, self.learner.shares)


def mixture(trees: Sequence[HiddenTree]) -> HiddenTree:
    """The even mixture of hidden trees of one shape, as one tree: a state is a part and a state of that part."""
    if len(trees) == 1:
        return trees[0]
    prior = np.concatenate([tree.prior for tree in trees]) / len(trees)
    transitions = np.zeros((len(trees[0].parents), len(prior), len(prior)))
    at = 0
    for tree in trees:
        part = slice(at, at + tree.n_states)
        # Nothing leads from one tree's states to another's: a row belongs to one of them throughout.
        transitions[:, part, part] = tree.transitions
        at += tree.n_states
    emissions = np.concatenate([tree.emissions for tree in trees], axis=1)
    return HiddenTree(trees[0].space, trees[0].parents, prior, transitions, emissions)


def fit_hidden_tree(
    train: Empirical, options: TreeOptions, valid: Empirical | None = None, watch: Watch | None = None
) -> FittedTree:
    """Learn a hidden Chow–Liu tree; ``valid`` are the rows held out, over the same variables.

    Raises
    ------
    FullspanError : an option is out of range.
    TooLargeError : the passes would not fit into memory.
    """
    options.choices()
    order = ColumnOrder(train)
    held_out = None if valid is None else order.data(valid)
    return order.restored(_fit(order.data(train), options, held_out, watch))


def _fit(train: Empirical, options: TreeOptions, valid: Empirical | None, watch: Watch | None) -> FittedTree:
    base = fit_chow_liu(train, max_memory=options.max_memory)
    learner = Learner(train, valid, options, watch)
    runs = learner.runs(base.model)
    best = runs[0]
    tree, score = best.tree, best.score
    if valid is not None and learner.valid is not None:
        tree, score = learner.mixed(runs) if options.mixture else (tree, learner.mean(tree, learner.valid))
    interrupted = any(run.status == "interrupted" for run in runs)
    return FittedTree(
        model=tree,
        log_likelihood=learner.mean(tree, learner.train),
        validation=score if valid is not None else math.nan,
        mutual_information=base.mutual_information,
        **train.provenance(),
        history=best.history,
        status="interrupted" if interrupted else "time limit" if learner.is_late else best.status,
        settings={"chosen": {"n_states": best.tree.n_states, "smoothing": best.smoothing}},
    )
