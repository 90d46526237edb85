"""Counts of many groups to many models: batch after batch, so that memory is bounded and Ctrl-C keeps what is done.

On the CPU a core has a model at a time, on a GPU a block of threads.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullspan.data.tables.grouped import Grouped
from fullspan.engine.memory import budget_for, require
from fullspan.errors import FullspanError
from fullspan.learn.base.progress import STOPPED
from fullspan.learn.many.kernel import CONVERGED, Data, Outcome, Tables, Tariff, search_batch
from fullspan.learn.many.moves import Shape
from fullspan.learn.search.complete import described
from fullspan.learn.search.options import Options
from fullspan.learn.search.penalty import prices
from fullspan.model import Fitted
from fullspan.model.algebra import jit
from fullspan.model.algebra.basis import Basis
from fullspan.model.many import ManyModels

if TYPE_CHECKING:
    from fullspan.engine.cuda.many import ManySearches

_MODEL_BYTES = 4 * 8
"""Bytes per state and model of a batch: eta, d, and the terms in use with their weights."""
_CORE_BYTES = 8 * 8
"""Bytes per state and core: the table being moved, the prices, and what makes them."""
_SECONDS = 0.2
"""Time that a batch should take: between batches progress is reported, and Ctrl-C takes effect."""
_FIRST, _FIRST_ON_GPU = 64, 4096
"""Models of the first batch."""
_WORTH_A_GPU = 1 << 18
"""States of all models together from which a GPU is chosen by itself."""

Watch = Callable[[int, int, float], None]
"""Told after each batch: models done, models in all, seconds."""


@dataclass(frozen=True)
class Searched:
    """Models of the groups done; ``interrupted`` if there were more of them."""

    models: ManyModels
    interrupted: bool


def fit_groups(grouped: Grouped, options: Options, watch: Watch | None = None) -> Searched:
    """The published search for every group, all models of a batch at once.

    Same terms and, to rounding, same weights as ``fit(grouped.empirical(g), options)`` for each g.

    Parameters
    ----------
    options : with ``search="paper"``, ``basis="walsh"``, no ``l1``, in double precision; ``device`` is ``"cpu"``,
        ``"cuda"``, or ``"auto"`` for a GPU if there is one and the tables are large enough together.
    watch : called after each batch; may raise ``KeyboardInterrupt``.

    Raises
    ------
    FullspanError : the options ask for another search.
    TooLargeError : not even one model per core, or one on the GPU, fits into memory; nothing has been allocated.
    FullspanError : a GPU is asked for, and there is none.
    KeyboardInterrupt : before the first batch was done.

    Notes
    -----
    Time is that of all steps, O(|X|) each, divided by the cores; memory is that of a batch, 32 |X| bytes per model.
    """
    _check(options)
    basis = Basis("walsh", grouped.space.cards)
    options = dataclasses.replace(options, device=_device(options, basis.n_states * len(grouped)))
    batch = _Batches(grouped, options, basis)
    interrupted, started = False, time.perf_counter()
    try:
        while batch.done < len(grouped):
            batch.run()
            if watch is not None:
                watch(batch.done, len(grouped), time.perf_counter() - started)
    except STOPPED:
        if not batch.done:
            raise
        interrupted = batch.done < len(grouped)
    return Searched(batch.models(), interrupted)


def fitted_group(grouped: Grouped, models: ManyModels, g: int, options: Options) -> Fitted:
    """One model with standard errors and savings, which come from its counts."""
    known = models.fitted(g)
    full = described(grouped.empirical(g), dataclasses.replace(options, device="cpu"), known.model)
    return dataclasses.replace(
        full, status=known.status, drift=known.drift, settings={**full.settings, "n_steps": int(models.n_steps[g])}
    )


def _check(options: Options) -> None:
    wanted = {"search": "paper", "basis": "walsh", "l1": 0.0, "dtype": "float64"}
    for name, value in wanted.items():
        if getattr(options, name) != value:
            raise FullspanError(f"many models at once need {name}={value!r}, but {getattr(options, name)!r} was given")
    if options.device == "sharded":
        raise FullspanError("many models at once are not shared among devices; choose device='cpu', 'cuda' or 'auto'")


def _device(options: Options, n_states: int) -> Literal["cpu", "cuda"]:
    """Where all models together, of ``n_states`` states each, are searched."""
    if options.device in ("cpu", "cuda"):
        return options.device
    from fullspan.engine.cuda.device import why_not

    return "cuda" if n_states >= _WORTH_A_GPU and why_not() is None else "cpu"


class _Batches:
    """The rooms of a batch, used again and again, and what was found so far."""

    def __init__(self, grouped: Grouped, options: Options, basis: Basis) -> None:
        self.grouped, self.options, self.basis = grouped, options, basis
        self.shape, self.tariff = _shape(basis), _tariff(basis, options)
        self.on_gpu = None if options.device == "cpu" else self._searches()
        if self.on_gpu is None:
            self.most = _models_at_once(basis, len(grouped), int(grouped.n_rows.sum()), options.max_memory)
        else:
            self.most = self.on_gpu.most(len(grouped), options.max_memory)
        self.size, self.done = min(_FIRST if self.on_gpu is None else _FIRST_ON_GPU, self.most), 0
        self.rooms: Tables | None = None
        self.found: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        zeros, whole = np.zeros, np.int64
        n = len(grouped)
        self.out = Outcome(zeros(n, whole), zeros(n, whole), zeros(n, whole), zeros(n), zeros(n), zeros(n), zeros(n))
        self.index = grouped.states.astype(np.int64) @ np.array(basis.strides, dtype=np.int64)

    def run(self) -> None:
        """Search the next batch; the one after it is as long as the time asks for."""
        start, stop = self.done, min(self.done + self.size, len(self.grouped))
        began = time.perf_counter()
        first = self.grouped.starts[start]
        part = slice(first, self.grouped.starts[stop])
        data = Data(
            self.grouped.starts[start : stop + 1] - first,
            self.index[part],
            self.grouped.counts[part],
            self.grouped.totals[start:stop],
        )
        out = self.out.part(start, stop)
        y, theta = self._search(data, out)
        self._refuse_unbounded(out, start)
        self.found.append(_sorted(y, theta, out.n_terms))
        self.done = stop
        seconds = time.perf_counter() - began
        if start:  # the first batch may have waited for the compiler
            self.size = min(self.most, max(1, int(self.size * min(4.0, _SECONDS / max(seconds, 1e-6)))))
        else:
            self.size = min(self.most, 4 * self.size)

    def _search(self, data: Data, out: Outcome) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Search the models of a batch; their terms and weights, a row per model."""
        if self.on_gpu is None:
            rooms = self._rooms(len(data.totals))
            n_models, epsilon = len(data.totals), self.options.epsilon
            jit.on_cores(search_batch, n_models, rooms, data, self.tariff, epsilon, self.shape, out)
            return rooms.y, rooms.theta
        found = self.on_gpu.search(*data)
        for values, known in zip(out, (*found.whole, *found.real), strict=True):
            values[:] = known
        return found.y, found.theta

    def _searches(self) -> ManySearches:
        from fullspan.engine.cuda.many import ManySearches

        return ManySearches(self.basis, self.shape.uniform, *self.tariff, self.options.epsilon)

    def _refuse_unbounded(self, out: Outcome, start: int) -> None:
        bad = np.flatnonzero(~np.isfinite(out.log_z + out.surprise))
        if bad.size:
            g = start + int(bad[0])
            raise FullspanError(
                f"group {self.grouped.groups[g]!r} with counts that sum to {self.grouped.totals[g]:.3g} has no finite "
                "model; scale its counts or weights"
            )

    def _rooms(self, n: int) -> Tables:
        if self.rooms is None or len(self.rooms.eta) < n:
            shape = (n, self.basis.n_states)
            self.rooms = Tables(np.empty(shape), np.empty(shape), np.empty(shape, np.int64), np.empty(shape))
        return self.rooms

    def models(self) -> ManyModels:
        """The models of the batches that are done."""
        done = self.grouped.head(self.done)
        out = self.out.part(0, self.done)
        return ManyModels(
            space=done.space,
            basis=self.basis,
            groups=done.groups,
            starts=np.concatenate([[0], np.cumsum(out.n_terms)]),
            indices=np.concatenate([y for y, _ in self.found]),
            theta=np.concatenate([theta for _, theta in self.found]),
            log_z=out.log_z,
            log_likelihood=-out.surprise,
            entropy=np.log(done.totals) - _sums(done, done.counts * np.log(done.counts)) / done.totals,
            description_length=out.surprise + done.totals * out.price,
            drift=out.drift,
            totals=done.totals,
            n_rows=done.n_rows,
            n_dropped=done.n_dropped,
            n_steps=out.n_steps,
            converged=out.status == CONVERGED,
            settings=dataclasses.asdict(self.options),
        )


def _sorted(
    y: NDArray[np.int64], theta: NDArray[np.float64], n_terms: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Terms and weights of all models one after the other, each sorted by index."""
    widest = int(n_terms.max(initial=0))
    model, place = np.nonzero(np.arange(widest) < n_terms[:, None])
    indices, weights = y[model, place], theta[model, place]
    order = np.lexsort((indices, model))
    return indices[order], weights[order]


def _sums(grouped: Grouped, values: NDArray[np.float64]) -> Any:
    return np.add.reduceat(values, grouped.starts[:-1])


def _models_at_once(basis: Basis, n_models: int, n_rows: int, max_memory: int | None) -> int:
    """Most models of a batch; one per core at the least."""
    limit, cores = budget_for(n_rows, max_memory), min(jit.cores(), n_models)
    scratch, each = cores * _CORE_BYTES * basis.n_states, _MODEL_BYTES * basis.n_states
    what = f"a batch of {cores} models of {basis.n_states:,} states"
    remedy = "keep fewer variables with columns=, merge levels, use fewer cores, or allow more with max_memory="
    require(scratch + cores * each, limit, what, remedy)
    return int(min(n_models, max(cores, (limit // 2 - scratch) // each)))


def _shape(basis: Basis) -> Shape:
    uniform = np.full(basis.n_states, 1.0 / basis.n_states)
    basis.analyse(uniform)
    cards, strides = np.array(basis.cards, dtype=np.int64), np.array(basis.strides, dtype=np.int64)
    return Shape(cards, strides, basis.kinds, uniform, int(not basis.kinds.any()))


def _tariff(basis: Basis, options: Options) -> Tariff:
    """Prices split into names and weight: with one row the weight costs nothing, and with e² rows one nat."""
    max_order = None if options.max_order is None else min(options.max_order, len(basis.cards))
    bare = prices(basis.cards, 1.0, options.penalty, max_order)
    rows = float(np.exp(2.0))
    orders, names = np.zeros(1, dtype=np.int64), np.zeros(1)
    for card, cost in zip(basis.cards, bare.by_variable, strict=True):
        is_used = (np.arange(card) > 0)[:, None]
        orders, names = (is_used + orders).ravel(), (is_used * cost + names).ravel()
    names = names + bare.by_order[orders]
    names[0] = np.inf
    return Tariff(names, prices(basis.cards, rows, options.penalty).weight * rows)
