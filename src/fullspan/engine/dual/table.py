"""The dual table: the expectations eta of all basis functions, updated in place (Numba, all cores).

Two tables of |X| numbers are held, eta of the model and d of the data; p itself is never needed while learning.
Moving one term costs one pass, in which every candidate is compared as well; large Walsh tables make two moves in one
pass (modules ``pending``, ``deferred``). Rounding accumulates; a rebuild from theta removes it, in the same memory, and
reports how large it was. A table belongs to one thread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.dual import deferred, lookup, mixed, monomial, pending, plain, walsh
from fullspan.engine.dual.cells import Rebuilt
from fullspan.engine.dual.deferred import Bounds
from fullspan.engine.dual.layout import Fibres, Layout
from fullspan.engine.dual.partition import exp_normalised, log_partition
from fullspan.engine.dual.pending import Pending
from fullspan.engine.dual.scan import Move, PriceTables, block_peaks
from fullspan.engine.protocol import Candidates, Prices
from fullspan.errors import FullspanError
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.algebra.bits import is_small

FIBRE_ENTRIES = 1 << 20
"""Entries of a fibre above which a step goes through the distribution instead of a per-core copy."""
DEFERRED_BYTES = 1 << 25
"""Bytes of a Walsh table from which moves are pending for a while: it is larger than a core's share of any cache."""
READ_BLOCKS_SHARE = 0.25
"""Share of a table's blocks that may be read to look at blocks with moves pending; beyond, the moves are made."""
PLAIN_ENTRIES = 1 << 20
"""Entries of a table that NumPy visits at a time."""


class DualTable(Rebuilt):
    """Engine that holds eta (and, for learning, d) over all states of ``basis``.

    Parameters
    ----------
    basis : the algebra of the terms.
    dtype : float32 or float64 for both tables.
    n_chunks : parts of the table that each report their best candidate.

    Attributes
    ----------
    d : (|X|,) expectations of the data, or None.
    theta : {index: weight} of the current point.
    log_z : log partition function of the current point.
    """

    knows_floor = False

    def __init__(self, basis: Basis, dtype: Any = np.float64, n_chunks: int = 64) -> None:
        self.basis = basis
        self.dtype = np.dtype(dtype)
        self.layout = Layout.of(basis)
        self.theta: dict[int, float] = {}
        self.log_z = math.log(basis.n_states)
        self.d: NDArray[Any] | None = None
        self._cards = np.array(basis.cards, dtype=np.int64)
        self._strides = np.array(basis.strides, dtype=np.int64)
        self._n_chunks = n_chunks
        self._all_walsh = not basis.kinds.any()
        self._prices: PriceTables | None = None
        self._peaks: NDArray[Any] | None = None
        self._base = self.layout.base(self.dtype)
        self._eta = np.zeros(basis.n_states, dtype=self.dtype)
        self._defers = self._all_walsh and self._eta.nbytes >= DEFERRED_BYTES
        self._pending = Pending.none(self.dtype)
        self._bounds: Bounds | None = None
        self._spread()

    @property
    def eta(self) -> NDArray[Any]:
        """(|X|,) expectations ``<Phi_y>`` of the model, all moves made; ``eta[0] = 1``.

        The caller may write to it until the next move or scan, and takes it anew after these.
        """
        # Whoever takes the table may write to it, which the bounds would not know of.
        self._bounds = None
        return self._settled()

    def _settled(self) -> NDArray[Any]:
        """The table with all moves made, to be read only."""
        pending.apply(self._eta, self._pending, self.layout.size)
        return self._eta

    # -- data and prices --------------------------------------------------------------------------------------

    def set_data(self, index: NDArray[np.int64], weights: NDArray[np.float64], pseudo: float = 0.0) -> None:
        """Load the empirical distribution: ``d = T p_d`` from distinct state indices and their weights.

        ``pseudo`` rows are added, spread evenly over all states; call this before the first move. Without them,
        events that never or always happen in the data are counted as half a row in N + 1.
        """
        total = float(weights.sum())
        d = np.zeros(self.basis.n_states, dtype=self.dtype)
        np.add.at(d, index, weights.astype(self.dtype))
        self.basis.analyse(d)
        d *= self.dtype.type(1.0 / (total + pseudo))
        if pseudo:
            # Before the first move the table is that of the uniform distribution: it need not be made twice.
            uniform = self.eta if not self.theta else DualTable(self.basis, self.dtype).eta
            share = self.dtype.type(pseudo / (total + pseudo))
            # In parts, or `share * uniform` would be a third table.
            for start in range(0, d.size, PLAIN_ENTRIES):
                d[start : start + PLAIN_ENTRIES] += share * uniform[start : start + PLAIN_ENTRIES]
        else:
            # Half a row in N + 1. An event at 0 or 1 would have an infinite optimum.
            least = self.dtype.type(0.5 / (total + 1.0))
            lower, upper = (least, 1 - least) if self.basis.zero_one else (2 * least - 1, 1 - 2 * least)
            np.clip(d, lower, upper, out=d)
        d[0] = 1
        self.d, self._peaks, self._bounds = d, None, None

    def set_prices(self, prices: Prices) -> None:
        """Fix what appending each term costs, in nats per row."""
        tables = self._prices = self.layout.price_tables(prices)
        if is_small(self.basis.n_states):
            orders, costs = tables.block_orders[:, None] + tables.orders, tables.block_costs[:, None] + tables.costs
            self._price_list = (tables.by_order[orders] + costs).ravel()

    # -- moving -----------------------------------------------------------------------------------------------

    def _step(self, index: int, c: float, scale: float, floor: float, l1: float) -> Candidates:
        if self.d is None or self._prices is None:
            raise FullspanError("the dual table has no data to compare with: call set_data and set_prices first")
        if is_small(self.basis.n_states):
            return self._step_plain(index, c, scale, floor, l1)
        gains, indices = np.empty(self._n_chunks), np.empty(self._n_chunks, dtype=np.int64)
        if self._peaks is None:
            self._peaks = block_peaks(self.d, self._base)
        move = self._move(c, scale, floor, l1)
        if self._defers:
            self._step_later(index, move, self._prices, gains, indices)
        elif self._all_walsh:
            walsh.step(self._eta, self.d, self._peaks, index, move, self._prices, gains, indices)
            self._eta[0] = 1
        else:
            self._step_in_fibres(self.basis.term(index), move, self._prices, gains, indices)
            self._eta[0] = 1
        found = np.flatnonzero(indices >= 0)
        # By gain, then by index: the same order whatever the chunks.
        order = found[np.lexsort((indices[found], -gains[found]))]
        return Candidates(indices[order], gains[order])

    def _step_plain(self, index: int, c: float, scale: float, floor: float, l1: float) -> Candidates:
        """A step of a small table, in NumPy."""
        assert self.d is not None
        if c:
            self._eta += self.dtype.type(c) * plain.times_term(self.basis, self._eta, self.basis.term(index))
            self._eta *= self.dtype.type(scale)
            self._eta[0] = 1
        found = plain.best_by_chunk(self._eta, self.d, self._price_list, self._chunks, floor, l1, self.basis.zero_one)
        return Candidates(*found)

    @cached_property
    def _chunks(self) -> Ints:
        """The chunk that each term is in."""
        blocks, chunks = np.arange(self.layout.n_blocks), self._n_chunks
        return np.repeat(((blocks + 1) * chunks - 1) // self.layout.n_blocks, self.layout.size)

    def _step_later(self, index: int, move: Move, prices: PriceTables, gains: Array, indices: Ints) -> None:
        """A step of a large Walsh table, whose moves are pending for a while."""
        assert self.d is not None
        assert self._peaks is not None
        if self._bounds is None:
            self._bounds = Bounds.unknown(self._peaks)
        if self._pending.length[0] >= pending.PENDING_MOVES:  # an interrupt came before they were made
            self._settled()
        crowd = deferred.defer(self._bounds, self._pending, index, move, prices) if index else 0
        length = int(self._pending.length[0])
        if length >= pending.PENDING_MOVES or crowd << length > self.layout.n_blocks * READ_BLOCKS_SHARE:
            self._settled()
        deferred.scan(self._eta, self.d, self._bounds, self._pending, move, prices, gains, indices)

    def _step_in_fibres(self, term: Term, move: Move, prices: PriceTables, gains: Array, indices: Ints) -> None:
        """A step in any other basis, a fibre of blocks at a time."""
        assert self.d is not None
        assert self._peaks is not None
        fibres, digits = self.layout.fibres(term)
        # A term on many high variables has a few huge fibres, of which each core would need a copy.
        if not self.basis.zero_one and len(digits) * self.layout.size > FIBRE_ENTRIES:
            self._move_through_p(term, move.c)
            # What is left is the scan: a move by nothing along the constant.
            term, move = (), self._move(0.0, 1.0, move.floor, move.l1)
            fibres, digits = self.layout.fibres(term)
        if self.basis.zero_one:
            joint = self._joint(term, digits, fibres)
            monomial.step(self._eta, self.d, fibres, joint, move, prices, gains, indices)
        else:
            modes = self._modes(term)
            mixed.step(self._eta, self.d, self._peaks, self._base, fibres, modes, move, prices, gains, indices)

    def _move(self, c: float, scale: float, floor: float, l1: float) -> Move:
        return Move(self.dtype.type(c), self.dtype.type(scale), float(floor), float(l1))

    def _joint(self, term: Term, digits: NDArray[np.int64], fibres: Fibres) -> monomial.Joint:
        """Where the 0/1 products with ``term`` are found."""
        high = np.array([j for i, j in term if i >= self.layout.n_low], dtype=np.int64)
        agrees = ((digits == 0) | (digits == high)).all(axis=1)
        top = int(np.flatnonzero((digits == high).all(axis=1))[0])
        places = np.arange(self.layout.size)
        source, keep = places.copy(), np.ones(self.layout.size, dtype=bool)
        for i, j in term:
            if i < self.layout.n_low:
                digit = places // self.basis.strides[i] % self.basis.cards[i]
                source += (j - digit) * self.basis.strides[i]
                keep &= (digit == 0) | (digit == j)
        source[~keep] = 0
        return monomial.Joint(agrees, int(fibres.offsets[top]), source, keep.astype(self.dtype))

    def _modes(self, term: Term) -> NDArray[np.int64]:
        """Rows (stride within a fibre, card, component, kind), one per variable of ``term``."""
        rows, stride = [], self.layout.size
        for i, j in term:
            card, kind = self.basis.cards[i], int(self.basis.kinds[i])
            if i < self.layout.n_low:
                rows.append((self.basis.strides[i], card, j, kind))
            else:
                rows.append((stride, card, j, kind))
                stride *= card
        return np.array(rows, dtype=np.int64).reshape(-1, 4)

    def _move_through_p(self, term: Term, c: float) -> None:
        """A step along a term of very many states: multiply p by ``1 + c Phi_y`` between two transforms."""
        self.basis.invert(self.eta)
        shape = tuple(reversed(self.basis.cards))
        phi = np.ones((1,) * len(shape), dtype=self.dtype)
        for i, j in term:
            axis = len(shape) - 1 - i
            along = [-1 if a == axis else 1 for a in range(len(shape))]
            phi = phi * self.basis.local(i)[j].astype(self.dtype).reshape(along)
        p = self.eta.reshape(shape)
        np.multiply(p, 1 + self.dtype.type(c) * phi, out=p)
        # Two transforms of float32 lose digits; the sum in double precision keeps the total at 1.
        p /= p.sum(dtype=np.float64)
        self.basis.analyse(self.eta)

    # -- rebuilding -------------------------------------------------------------------------------------------

    def _spread(self) -> None:
        """The uniform distribution: ``eta_y = prod_i mean(phi_{y_i})``, one write per state where that is not 0."""
        self.eta[0] = 1
        for i, stride in enumerate(self.basis.strides):
            for j, mean in enumerate(self.basis.local(i).mean(axis=1)):
                if j and mean:
                    np.multiply(self.eta[:stride], self.dtype.type(mean), out=self.eta[j * stride : (j + 1) * stride])

    def _fill(self) -> None:
        # The moves are in theta already.
        self._pending.length[0] = 0
        self.eta[:] = 0
        places = np.fromiter(self.theta, dtype=np.int64, count=len(self.theta))
        self.eta[places] = np.fromiter(self.theta.values(), dtype=np.float64, count=len(self.theta))
        self.basis.synthesise(self.eta)
        self.log_z = float(exp_normalised(self.eta))
        self.basis.analyse(self.eta)
        self.eta[0] = 1

    def log_partition(self) -> float:
        """log Z in double precision, whatever the table holds."""
        return self.log_z if self.dtype == np.float64 else log_partition(self.basis, self.theta)

    # -- look-ups ---------------------------------------------------------------------------------------------

    def eta_at(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Expectations of the model at some indices, in double precision."""
        return pending.current(self._eta, indices, self._pending).astype(np.float64)

    def _one(self, index: int) -> float:
        # Asked at every step: without moves pending it is a plain look-up.
        return super()._one(index) if self._pending else float(self._eta[index])

    def d_at(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Expectations of the data at some indices, in double precision."""
        assert self.d is not None
        return self.d[indices].astype(np.float64)

    def digits(self, indices: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Digit rows (k, n) of term indices."""
        return np.asarray(indices, dtype=np.int64)[:, None] // self._strides % self._cards

    def second_moments(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        """``<Phi_y Phi_z>`` for indices ``left`` and ``right``: a few look-ups each."""
        places = lookup.single_places(self.basis, left, right)
        return lookup.products(self.basis, self._eta, left, right) if places is None else self.eta_at(places)

    def marginal(self, variables: Sequence[int]) -> NDArray[np.float64]:
        """p(x_A), flat with the first variable fastest: ``prod |X_i|`` look-ups."""
        return np.asarray(lookup.margins(self.basis, self._settled(), np.array([variables], dtype=np.int64))[0])

    def data_margins(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Margins p_d(x_A) of the data for each row of ``sets`` (m, |A|), padded with zeros to the longest."""
        assert self.d is not None
        return lookup.margins(self.basis, self.d, sets)

    def margin_gains(
        self, sets: NDArray[np.int64], data: NDArray[np.float64], least: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """``KL(p_d(x_A) || p(x_A))`` for each row of ``sets`` (m, |A|), or 0 where that is surely below ``least``."""
        eta = self._settled()
        if is_small(eta.size):
            return plain.divergences(data, plain.margin_tables(eta, self.basis, sets, data.shape[1]), least)
        return np.asarray(lookup.margin_gains(eta, data, least, sets, self._cards, self._strides, self.basis.kinds))
