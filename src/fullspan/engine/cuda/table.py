"""The dual table on one GPU: eta and d live there, a step is one pass over eta.

Walsh functions are moved by a kernel that updates pairs in place and compares each with its data in the same pass: ten
bytes per state in single precision, for one step of the published search or two. 0/1 functions of two-valued variables
have a kernel of their own. Other bases move through the distribution, a transform there and back. After each step one
small copy brings what the next decision needs: the best candidates, and eta at the terms in use.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.cuda.data import DeviceData
from fullspan.engine.cuda.device import Kernels, compiled, cupy, struct
from fullspan.engine.cuda.leap import Leap, Leaps
from fullspan.engine.cuda.transform import C_NAMES, LARGEST_CARD, Transform
from fullspan.engine.dual.cells import GatheredLookUps
from fullspan.engine.dual.layout import Layout
from fullspan.engine.dual.partition import log_partition
from fullspan.engine.protocol import Candidates, Prices
from fullspan.errors import FullspanError
from fullspan.model.algebra.basis import Basis, Term

_SOURCES = ("terms.cu", "pass.cu", "steps.cu", "search.cu")
_THREADS = 256
_PER_MULTIPROCESSOR = 3
"""Blocks of threads that one multiprocessor holds of the kernel for a step."""
_AHEAD = 1
"""Visits for which a thread has asked in advance."""
_TILE_STATES = 1024
_FUSED_STATES = 1 << 13
"""States from which the fused kernel serves; smaller tables move through the distribution."""
_EMPTY = "the dual table has no data to compare with: call set_data and set_prices first"
_SUMMED_STATES = 1 << 26
"""States visited at a time when log Z is summed in double precision."""
_REPORTED_CANDIDATES = 64
"""Candidates reported."""


class CudaTable(GatheredLookUps):
    """Engine that holds eta and d on a GPU; see :class:`fullspan.engine.dual.table.DualTable` for the attributes.

    ``eta`` and ``d`` are copied from the device when asked for as a whole; :meth:`eta_at` brings a few.
    """

    knows_floor = True

    def __init__(self, basis: Basis, dtype: Any = np.float32) -> None:
        if max(basis.cards, default=1) > LARGEST_CARD:
            raise FullspanError(
                f"a variable has {max(basis.cards)} levels; on a GPU at most {LARGEST_CARD} are possible: "
                "merge levels, or use device='cpu'"
            )
        self._cp = cupy()
        self.basis, self.dtype, self.layout = basis, np.dtype(dtype), Layout.of(basis)
        # Kernels count by fours at least, so that 32 bits reach up to 2^34 states.
        self._place = "unsigned" if basis.n_states <= 1 << 34 else "u64"
        self.theta: dict[int, float] = {}
        self.log_z = math.log(basis.n_states)
        self._transform = Transform(basis, self.dtype)
        self._fused = self._transform.all_walsh and basis.n_states >= _FUSED_STATES
        self._union = basis.zero_one and max(basis.cards, default=2) <= 2
        self._processors = int(self._cp.cuda.Device().attributes["MultiProcessorCount"])
        self._can_leap = False
        most = -(-basis.n_states // (_THREADS * (16 if self._fused else 1)))
        self._blocks = max(1, min(_PER_MULTIPROCESSOR * self._processors, most))
        self._eta = self._cp.zeros(basis.n_states, self.dtype)
        self._bar = self._cp.zeros(self._blocks, np.float64)
        self._ended = self._cp.zeros(1, np.uint32)
        self._watch: NDArray[np.int64] = np.zeros(0, np.int64)
        self._seen: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None
        self._make_room(512)
        if self._fused:
            self._tiles = self._cp.zeros(basis.n_states // _TILE_STATES, np.float32)  # smallest price of each
        self._leaps: Leaps | None = None
        self._data: DeviceData | None = None
        self._prices: Any = None
        self._known_d: dict[int, float] = {}
        self._kernels = self._module(self.dtype)
        self._fill()

    def _module(self, data: np.dtype[Any]) -> Kernels:
        names = f"-DREAL={C_NAMES[self.dtype.char]}", f"-DDATA={C_NAMES[data.char]}"
        return compiled(_SOURCES, *names, f"-DAHEAD={_AHEAD}", f"-DPLACE={self._place}")

    def _launch(self, name: str, blocks: int, *arguments: Any) -> None:
        self._kernels[name]((blocks,), (_THREADS,), arguments)

    def _launch_pass(self, name: str, *arguments: Any) -> None:
        """A kernel that goes over the table of Walsh functions, with room for what each thread has asked for."""
        kernel, room = self._kernels[name], self._room()
        if kernel.max_dynamic_shared_size_bytes < room:
            kernel.max_dynamic_shared_size_bytes = room
        kernel((self._blocks,), (_THREADS,), arguments, shared_mem=room)

    @property
    def _loaded(self) -> DeviceData:
        if self._data is None:
            raise FullspanError(_EMPTY)
        return self._data

    def _room(self) -> int:
        """Bytes of shared memory for what the threads of a block have asked for."""
        return int(16 * _AHEAD * _THREADS * (self.dtype.itemsize + self._loaded.table.itemsize))

    def _fit_blocks(self) -> None:
        """As many blocks of threads as the device holds at once: those of a search wait for each other."""
        kernel, room = self._kernels["search_walsh"].kernel, self._room()
        held = self._cp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.ptr, _THREADS, room)
        self._can_leap = held > 0
        blocks = min(self._blocks, max(held, 1) * self._processors)
        if blocks < self._blocks:
            self._blocks = blocks
            self._make_room(self._watched.size)

    def _make_room(self, n_watched: int) -> None:
        """Buffers for what travels after a step: gains, indices, eta and d of the candidates, eta of terms in use."""
        m = self._blocks
        self._report = self._cp.full(4 * m + n_watched, -1, np.int64)
        self._on_host = self._cp.cuda.alloc_pinned_memory(self._report.nbytes)
        self._host = np.frombuffer(self._on_host, np.int64, self._report.size)
        self._found, self._values = self._report[m : 2 * m], self._report[2 * m :]
        self._watched = self._cp.zeros(n_watched, np.int64)
        self._best = [struct(self._bar, shared, self._report, self._found) for shared in (0, 1)]

    # -- data and prices --------------------------------------------------------------------------------------

    def set_data(self, index: NDArray[np.int64], weights: NDArray[np.float64], pseudo: float = 0.0) -> None:
        """Load the data; counts of Walsh functions stay integers, see :class:`DeviceData`."""
        self._data = None  # free the old tables before the new ones are made
        self._data = DeviceData(self._transform, index, weights, pseudo, self._eta if self._fused else None)
        if self._data.spent:
            self._fill()
        self._kernels = self._module(self._data.table.dtype)
        self._known_d.clear()
        if self._fused:
            self._fit_blocks()

    def set_prices(self, prices: Prices) -> None:
        """Fix what appending each term costs, in nats per row."""
        tables = self.layout.price_tables(prices)
        arrays = [self._cp.asarray(array) for array in tables]
        self._prices = struct(*arrays, int(tables.orders.size)), arrays
        if self._fused:
            least = tables.least[tables.block_orders] + tables.block_costs
            self._tiles[:] = self._cp.asarray(np.nextafter(least.astype(np.float32), np.float32(-np.inf)))

    # -- moving -----------------------------------------------------------------------------------------------

    def _step(self, index: int, c: float, scale: float, floor: float, l1: float) -> Candidates:
        if self._prices is None:
            raise FullspanError(_EMPTY)
        real, y, zero_one = self.dtype.type, np.uint64(index), np.int32(self.basis.zero_one)
        look, prices, size = self._watch_terms(), self._prices[0], self.basis.n_states
        table = self._eta, self._loaded.datum
        if index and (self._fused or self._union):
            best = self._best[1]
            last = np.int32(self._blocks)
            self._launch("floor_after", 1, *table, y, c, l1, zero_one, floor, prices, best, last)
        else:
            best = self._best[0]
            self._bar.fill(floor)
        if self._fused:
            step = y, real(c), real(scale), l1
            self._launch_pass("step_walsh", *table, self._tiles, *step, prices, best, look, np.int64(size))
        elif self._union:
            groups = np.int64(size >> index.bit_count())
            step = y, real(c), real(scale), l1
            self._launch("step_monomial", self._blocks, *table, *step, prices, best, look, groups)
        else:
            if index:
                self._move_through_p(self.basis.term(index), c)
            self._launch("scan_table", self._blocks, *table, l1, zero_one, prices, best, look, np.int64(size))
        return self._look()

    def leap(
        self, y: NDArray[np.int64], theta: NDArray[Any], price: NDArray[Any], d: NDArray[Any], epsilon: float, most: int
    ) -> Leap | None:
        """Up to ``most`` steps of the published search, after a scan or a move.

        The terms in use come as arrays; ``theta`` of the table is left to the caller. None if this table has to be
        moved step by step.
        """
        if not self._can_leap:
            return None
        if self._leaps is None or len(y) + most > self._leaps.room or most > self._leaps.most:
            self._leaps = Leaps(self._cp, max(512, 2 * (len(y) + most)), most, self._blocks)
        self._leaps.load(y, theta, price, d)
        argument, size = self._leaps.argument(epsilon, most), np.int64(self.basis.n_states)
        table = self._eta, self._loaded.datum, self._tiles, self._prices[0]
        self._launch_pass("search_walsh", *table, self._best[1], argument, size)
        done = self._leaps.done()
        self.log_z += done.growth
        self._seen = None
        self._known_d.update((step.index, step.d) for step in done.taken if step.move == "append")
        return done

    def _watch_terms(self) -> NDArray[np.void]:
        """The terms in use, whose eta the kernel is to bring along."""
        n, m = len(self.theta), self._blocks
        watch = np.fromiter(self.theta, np.int64, n)
        if n != self._watch.size or not np.array_equal(watch, self._watch):
            if n > self._watched.size:
                before = self._report[: 2 * m].copy()
                self._make_room(2 * n)
                self._report[: 2 * m] = before
            self._watch = watch
            self._watched[:n].set(watch)
        return struct(self._watched, n, self._values, self._ended)

    def _look(self) -> Candidates:
        """One small copy: the best candidates, and eta at them and at the terms in use."""
        n, m = self._watch.size, self._blocks
        self._report.get(out=self._host)
        indices, values = self._host[m : 2 * m], self._host.view(np.float64)
        order = np.flatnonzero(indices >= 0)
        if order.size > 1:
            order = order[np.lexsort((indices[order], -values[order]))][:_REPORTED_CANDIDATES]
        chosen = indices[order]
        self._seen = (
            np.concatenate((self._watch, chosen)),
            np.concatenate((values[4 * m : 4 * m + n], values[2 * m + order])),
        )
        self._known_d.update(zip(chosen.tolist(), values[3 * m + order].tolist(), strict=True))
        return Candidates(chosen, values[order])

    def _move_through_p(self, term: Term, c: float) -> None:
        """Multiply p by ``1 + c Phi_y`` between two transforms."""
        cp, order = self._cp, len(term)
        self._transform.invert(self._eta)
        phi = np.zeros((order, 256))
        for row, (i, j) in zip(phi, term, strict=True):
            row[: self.basis.cards[i]] = self.basis.local(i)[j]
        own = [i for i, _ in term]
        arguments = (cp.asarray(self._strides[own]), cp.asarray(self._cards[own]), cp.asarray(phi.astype(self.dtype)))
        self._transform.tilt(self._eta, *arguments, order, c)
        self._transform.times(self._eta, 1.0 / float(self._eta.sum(dtype=np.float64)))
        self._transform.analyse(self._eta)
        self._eta[0] = 1

    # -- rebuilding -------------------------------------------------------------------------------------------

    def _fill(self) -> None:
        self._eta.fill(0)
        if self.theta:
            places = self._cp.asarray(np.fromiter(self.theta, np.int64, len(self.theta)))
            values = self._cp.asarray(np.fromiter(self.theta.values(), np.float64, len(self.theta)))
            self._transform.scatter(self._eta, places, values)
            self._transform.synthesise(self._eta)
        if self.theta or not self._transform.all_walsh:
            self.log_z = self._transform.exp_analysed(self._eta)
        else:  # the uniform distribution has no other expectation than that of the constant
            self.log_z = math.log(self.basis.n_states)
        self._eta[0] = 1
        self._seen = None

    def log_partition(self) -> float:
        """log Z in double precision, whatever the table holds."""
        if self.dtype == np.float64:
            return self.log_z
        return log_partition(self.basis, self.theta, self._sum_run, _SUMMED_STATES)

    def _sum_run(self, basis: Basis, places: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
        distinct, inverse = np.unique(places, return_inverse=True)
        energies = self._cp.zeros(basis.n_states)
        energies[self._cp.asarray(distinct)] = self._cp.asarray(np.bincount(inverse, weights, len(distinct)))
        transform = Transform(basis, np.dtype(np.float64))
        transform.synthesise(energies)
        return transform.log_sum_exp(energies)

    # -- look-ups ---------------------------------------------------------------------------------------------

    @property
    def eta(self) -> NDArray[Any]:
        """The whole table, copied from the device."""
        return np.asarray(self._eta.get())

    @property
    def d(self) -> NDArray[Any] | None:
        """The data's expectations, copied from the device."""
        return None if self._data is None else self.d_at(np.arange(self.basis.n_states)).astype(self.dtype)

    def eta_at(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Expectations of the model; those of terms in use and candidates came with the last step."""
        if self._seen is not None and indices.ndim == 1:
            places, values = self._seen
            if indices.size == 1:
                hit = np.flatnonzero(places == indices[0])
                if hit.size:
                    return values[hit[:1]].copy()
            elif np.array_equal(indices, places[: indices.size]):
                return values[: indices.size].copy()
        return self._gathered(indices)

    def d_at(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Expectations of the data; they do not change, and those of terms once asked for are remembered."""
        if indices.ndim == 1 and indices.size <= 4096:
            missing = [y for y in indices.tolist() if y not in self._known_d]
            if missing:
                self._known_d.update(zip(missing, self._gathered_d(np.array(missing)).tolist(), strict=True))
            return np.array([self._known_d[y] for y in indices.tolist()])
        return self._gathered_d(indices)

    def _gathered(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        places, out = self._cp.asarray(indices.ravel()), self._cp.empty(indices.size)
        if indices.size:
            self._launch("eta_at", -(-indices.size // _THREADS), self._eta, places, np.int64(indices.size), out)
        return np.asarray(out.get()).reshape(indices.shape)

    def _gathered_d(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        places, out = self._cp.asarray(indices.ravel()), self._cp.empty(indices.size)
        if indices.size:
            self._launch("d_at", -(-indices.size // _THREADS), self._loaded.datum, places, np.int64(indices.size), out)
        return np.asarray(out.get()).reshape(indices.shape)
