"""Searches of many small models at once on a GPU, one block of threads for each; see ``many.cu``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.cuda.device import compiled, cupy, free_memory, struct
from fullspan.engine.memory import require
from fullspan.model.algebra.basis import Basis

_THREADS = 256
_STATIC = 2048
"""Bytes of shared memory that are not the tables'."""
_WAVES = 4
"""Models per multiprocessor that have tables in global memory, if they do not fit into shared memory."""
_ROOM, _KEPT = 33, 16
"""Bytes per state of a model that is being searched, and of one whose terms are kept."""
_MEMORY_SHARE = 0.5
"""Part of the free memory that a batch may take."""


@dataclass(frozen=True)
class Found:
    """What was found: terms in use and weights (models, most terms of any), and a number per model of the others."""

    y: NDArray[np.int64]
    theta: NDArray[np.float64]
    whole: NDArray[np.int64]
    """Terms in use, steps, and status, a row each."""
    real: NDArray[np.float64]
    """log Z, surprise, price and drift, a row each."""


class ManySearches:
    """The tables of a basis on the device, shared by all models.

    Parameters
    ----------
    uniform : eta at theta = 0.
    names, factor : price of term y for N rows, ``(names[y] + factor ln(N) / 2) / N``.
    """

    def __init__(
        self, basis: Basis, uniform: NDArray[np.float64], names: NDArray[np.float64], factor: float, epsilon: float
    ) -> None:
        self._cp = cp = cupy()
        self.size, self.epsilon = basis.n_states, epsilon
        phi = np.concatenate([np.asarray(basis.local(i), np.float64).ravel() for i in range(len(basis.cards))])
        whole = [np.array(values, dtype=np.int64) for values in (basis.cards, basis.strides, basis.kinds)]
        self._arrays = [cp.asarray(values) for values in (*whole, phi, uniform, names)]
        shape = (*self._arrays[:4], len(basis.cards), self.size, int(not basis.kinds.any()), self._arrays[4])
        self._shape, self._tariff = struct(*shape), struct(self._arrays[5], float(factor))
        self._kernel = compiled(("terms.cu", "many.cu"), "-DREAL=double", "-DDATA=double")["search_models"]
        device = cp.cuda.Device().attributes
        self._shared = _ROOM * (self.size + 8)
        self._fits = self._shared + _STATIC <= device["MaxSharedMemoryPerBlockOptin"]
        self._blocks = _WAVES * device["MultiProcessorCount"]

    def most(self, n_models: int, max_memory: int | None) -> int:
        """Models of a batch.

        Raises
        ------
        TooLargeError : not even one model fits.
        """
        limit = int(_MEMORY_SHARE * free_memory())
        limit = limit if max_memory is None else min(limit, max_memory)
        scratch = 0 if self._fits else min(n_models, self._blocks) * (_ROOM + 1) * self.size
        what = f"on the GPU, a batch of models of {self.size:,} states"
        require(scratch + _KEPT * self.size, limit, what, "use device='cpu', keep fewer variables or merge levels")
        return int(min(n_models, (limit - scratch) // (_KEPT * self.size)))

    def search(
        self,
        starts: NDArray[np.int64],
        places: NDArray[np.int64],
        counts: NDArray[np.float64],
        totals: NDArray[np.float64],
    ) -> Found:
        """Search every model of a batch; waits for the device."""
        cp, n, size = self._cp, len(totals), self.size
        data = [cp.asarray(np.ascontiguousarray(values)) for values in (starts, places, counts, totals)]
        y, theta = cp.empty((n, size), np.int64), cp.empty((n, size))
        whole, real = cp.zeros((3, n), np.int64), cp.zeros((4, n))
        blocks = n if self._fits else min(n, self._blocks)
        rooms: Any = 0 if self._fits else cp.empty(blocks * (4 * size + (size + 7) // 8))
        shared = self._shared if self._fits else 0
        if self._kernel.max_dynamic_shared_size_bytes < shared:
            self._kernel.max_dynamic_shared_size_bytes = shared
        out = struct(y, theta, *(whole[i] for i in range(3)), *(real[i] for i in range(4)))
        rooms = np.uint64(0) if self._fits else rooms
        arguments = (self._shape, struct(*data), self._tariff, self.epsilon, rooms, np.int64(n), out)
        self._kernel((blocks,), (_THREADS,), arguments, shared_mem=shared)
        on_host = whole.get()
        widest = max(1, int(on_host[0].max(initial=0)))
        return Found(y[:, :widest].get(), theta[:, :widest].get(), on_host, real.get())
