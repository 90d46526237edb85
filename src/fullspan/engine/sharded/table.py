"""The dual table over several devices and hosts: each holds the shard of eta and d that its number names.

Every process runs the same search on the same counts. What it asks of the table comes back the same on all of them, so
that all take the same decisions. A step moves twelve bytes per state on each device and sends its shard of eta to one
partner, or nothing; a transform sends it once per top bit.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import PartitionSpec
from numpy.typing import NDArray

from fullspan.engine.dual.cells import GatheredLookUps
from fullspan.engine.protocol import Candidates, Prices
from fullspan.engine.sharded import transform
from fullspan.engine.sharded.shards import AXIS, LARGEST_BLOCK, Shards, devices, mesh
from fullspan.engine.sharded.step import Best, Data, Move, Tariff, step
from fullspan.errors import FullspanError
from fullspan.model.algebra.basis import Basis

_LEAST_ROOM = 64
"""Look-ups are padded to a power of two of at least this, so that few programs are compiled."""
_SHARD, _ALL = PartitionSpec(AXIS), PartitionSpec()


@functools.cache
def program(shards: Shards, row: Any, name: str, top: int = 0) -> Any:
    """A program for all devices of the row, compiled at its first call for each type of numbers."""
    at = (_ALL, _ALL, _ALL)
    data, tariff = Data(_SHARD, _ALL, _ALL, _ALL), Tariff(_SHARD, _SHARD, _ALL, _ALL, _ALL)
    bodies: dict[str, tuple[Any, tuple[Any, Any], tuple[int, ...]]] = {
        "step": (functools.partial(step, shards, top), ((_SHARD, data, tariff, _ALL), (_SHARD, _ALL)), (0,)),
        "fill": (functools.partial(transform.fill, shards), ((_SHARD, at), (_SHARD, _ALL, _ALL)), (0,)),
        "sums": (functools.partial(transform.sums, shards), ((at,), (_ALL, _ALL)), ()),
        "analyse": (functools.partial(transform.analyse, shards), ((_SHARD,), _SHARD), (0,)),
        "scatter": (functools.partial(transform.scattered, shards), ((*at, _ALL), _SHARD), ()),
        "gather": (functools.partial(transform.gathered, shards), ((_SHARD, _ALL, _ALL), _ALL), ()),
    }
    body, specs, donated = bodies[name]
    return transform.compiled(row, body, specs, donated)


class ShardedTable(GatheredLookUps):
    """Engine that shares eta and d among devices; see :class:`fullspan.engine.dual.table.DualTable` for the attributes.

    Parameters
    ----------
    basis : Walsh functions of variables with 2, 4, 8, ... levels.
    dtype : float32 or float64 for eta; d is an integer table where the data are counts.
    chosen : devices that share the table; all that JAX sees, over all processes, by default.
    largest_block : places of a block, the piece in which shards travel.
    """

    knows_floor = False

    def __init__(
        self,
        basis: Basis,
        dtype: Any = np.float32,
        chosen: Sequence[Any] | None = None,
        largest_block: int = LARGEST_BLOCK,
    ) -> None:
        found = devices(chosen)
        self.basis, self.dtype = basis, np.dtype(dtype)
        self.shards, self.mesh = Shards(basis, len(found), largest_block), mesh(found)
        self.theta: dict[int, float] = {}
        self.log_z = math.log(basis.n_states)
        self._data: Data | None = None
        self._tariff: Tariff | None = None
        self._filled = True
        self._eta = self._scatter(np.zeros(1, np.int64), np.ones(1, self.dtype), 0.0)

    def _run(self, name: str, *arguments: Any, top: int = 0) -> Any:
        """A program's result; double precision is switched on for it alone."""
        with jax.enable_x64(True):
            return program(self.shards, self.mesh, name, top)(*arguments)

    def _scatter(self, indices: NDArray[np.int64], values: NDArray[Any], fill_value: float) -> Any:
        return self._run("scatter", *self.shards.places(indices), values, values.dtype.type(fill_value))

    # -- data and prices --------------------------------------------------------------------------------------

    def set_data(self, index: NDArray[np.int64], weights: NDArray[np.float64], pseudo: float = 0.0) -> None:
        """Load the data, the same on every process; counts stay integers."""
        total = float(weights.sum())
        # Repeated states are added up here, exactly, and not on the devices in an order of theirs.
        places, inverse = np.unique(index, return_inverse=True)
        counts = np.bincount(inverse, weights, minlength=len(places))
        self._data = None  # free the old table before the new one is made
        # Sums of counts with signs stay below N in size, and integers add up without rounding.
        if bool((counts == np.rint(counts)).all()) and total < 2**31:
            table, unit = self._scatter(places, counts.astype(np.int32), 0.0), 1.0 / (total + pseudo)
        else:
            uniform = pseudo / self.basis.n_states / (total + pseudo)
            table, unit = self._scatter(places, (counts / (total + pseudo)).astype(self.dtype), uniform), 1.0
        least = 0.0 if pseudo else 0.5 / (total + 1.0)
        self._data = Data(self._run("analyse", table), *map(np.float64, (unit, 2 * least - 1, 1 - 2 * least)))

    def set_prices(self, prices: Prices) -> None:
        """Fix what appending each term costs, in nats per row."""
        tables = self.shards.layout.price_tables(prices)
        shared = (self._placed(part, _SHARD) for part in (tables.block_orders, tables.block_costs))
        own = (self._placed(part, _ALL) for part in (tables.by_order, tables.orders, tables.costs))
        self._tariff = Tariff(*shared, *own)

    def _placed(self, values: NDArray[Any], spec: PartitionSpec) -> Any:
        """An array that every process has, shared among the devices or copied to each."""
        sharding = jax.sharding.NamedSharding(self.mesh, spec)
        with jax.enable_x64(True):
            return jax.make_array_from_callback(values.shape, sharding, values.__getitem__)

    # -- moving -----------------------------------------------------------------------------------------------

    def _step(self, index: int, c: float, scale: float, floor: float, l1: float) -> Candidates:
        if self._data is None or self._tariff is None:
            raise FullspanError("the dual table has no data to compare with: call set_data and set_prices first")
        self._filled = self._filled and not c
        self._eta, best = self._run("step", *self.step_arguments(index, c, scale, floor, l1), top=self._top(index))
        return self._candidates(best)

    def step_arguments(self, index: int, c: float, scale: float, floor: float, l1: float) -> tuple[Any, ...]:
        """What the program of a step takes."""
        _, block, place = self.shards.split(index)
        real = self.dtype.type
        move = Move(np.int32(block), np.int32(place), real(c), real(scale), np.float64(floor), np.float64(l1))
        return self._eta, self._data, self._tariff, move

    def _top(self, index: int) -> int:
        return self.shards.split(index)[0]

    def _candidates(self, best: Best) -> Candidates:
        """The best of each part, best first, ties going to the smaller index."""
        gains, blocks, places = (np.asarray(values) for values in best)
        indices = blocks.astype(np.int64) * self.shards.size + places
        found = np.flatnonzero(blocks >= 0)
        order = found[np.lexsort((indices[found], -gains[found]))]
        part = indices[order] // (self.basis.n_states // self.shards.n_parts)
        first = np.sort(np.unique(part, return_index=True)[1])
        return Candidates(indices[order][first], gains[order][first])

    # -- rebuilding -------------------------------------------------------------------------------------------

    def _fill(self) -> None:
        self._eta, peaks, totals = self._run("fill", self._eta, self._sparse_theta())
        self.log_z, self._filled = _log_sum(peaks, totals), True

    def _sparse_theta(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """Blocks, places and weights of the terms in use, padded with weights of 0."""
        room = _room(len(self.theta))
        y, weights = np.zeros(room, np.int64), np.zeros(room)
        y[: len(self.theta)] = np.fromiter(self.theta, np.int64, len(self.theta))
        weights[: len(self.theta)] = np.fromiter(self.theta.values(), np.float64, len(self.theta))
        return *self.shards.places(y), weights

    def log_partition(self) -> float:
        """log Z in double precision, whatever the table holds: summed again unless the table was just filled."""
        return self.log_z if self._filled else _log_sum(*self._run("sums", self._sparse_theta()))

    # -- look-ups ---------------------------------------------------------------------------------------------

    @property
    def eta(self) -> NDArray[Any]:
        """The whole table, copied from the devices."""
        return self.eta_at(np.arange(self.basis.n_states)).astype(self.dtype)

    @property
    def d(self) -> NDArray[Any] | None:
        """The data's expectations, copied from the devices."""
        return None if self._data is None else self.d_at(np.arange(self.basis.n_states)).astype(self.dtype)

    def eta_at(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Expectations of the model at some indices, in double precision, on every process."""
        return self._gather(self._eta, indices)

    def d_at(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Expectations of the data at some indices, in double precision, on every process."""
        assert self._data is not None
        raw = self._gather(self._data.table, indices) * self._data.unit
        return np.where(indices == 0, 1.0, np.clip(raw, self._data.low, self._data.high))

    def _gather(self, table: Any, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        wanted = np.zeros(_room(indices.size), np.int64)
        wanted[: indices.size] = indices.ravel()
        values = np.array(self._run("gather", table, *self.shards.places(wanted)))  # a copy that may be written to
        return values[: indices.size].reshape(indices.shape)


def _room(count: int) -> int:
    return max(_LEAST_ROOM, 1 << (count - 1).bit_length()) if count else _LEAST_ROOM


def _log_sum(peaks: Any, totals: Any) -> float:
    """``log sum_b totals_b exp(peaks_b)``, summed exactly so that the order of blocks plays no part."""
    highs, sums = np.asarray(peaks), np.asarray(totals)
    top = float(highs.max())
    return top + math.log(math.fsum((sums * np.exp(highs - top)).tolist()))
