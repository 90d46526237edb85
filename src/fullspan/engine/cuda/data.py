"""The data's expectations on the GPU: counts stay integers where they can, and as few bytes as can be are read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.cuda.device import compiled, cupy, struct
from fullspan.engine.cuda.transform import Transform, grid, hadamard

_THREADS = 256
_BYTE = 8
"""Bits of counts that lie apart at most."""


class DeviceData:
    """``d = T p_d`` of counted rows, less what never and always happens, which count as half a row in N + 1.

    Counts of Walsh functions are integers, whose transform is exact: of 16 bits for up to 32,767 rows. Beside a table
    in single precision up to eight bits more lie apart, read only where a candidate might win; else counts have 32
    bits.

    Parameters
    ----------
    scratch : table of |X| numbers in whose memory counts may be transformed; ``spent`` says whether that was done.
    """

    def __init__(
        self,
        transform: Transform,
        index: NDArray[np.int64],
        weights: NDArray[np.float64],
        pseudo: float,
        scratch: Any | None,
    ) -> None:
        self._transform, self.rest, self.spent = transform, None, False
        basis, total = transform.basis, float(weights.sum())
        places, inverse = np.unique(index, return_inverse=True)
        counts: NDArray[Any] = np.bincount(inverse, weights, minlength=len(places))
        shift, unit = max(0, int(total).bit_length() - 15), 1.0 / (total + pseudo)
        if transform.all_walsh and bool((counts == np.rint(counts)).all()) and total < 2**31:
            self._count(places, counts, shift, scratch)
        else:
            self._weigh(places, counts * unit, pseudo * unit / basis.n_states)
            unit = 1.0
        least = 0.0 if pseudo else 0.5 / (total + 1.0)
        low, high = (least, 1 - least) if basis.zero_one else (2 * least - 1, 1 - 2 * least)
        rest = 0 if self.rest is None else self.rest
        self.datum = struct(self.table, rest, float(1 << shift), unit, low, high)

    def _count(self, places: NDArray[Any], counts: NDArray[Any], shift: int, scratch: Any | None) -> None:
        cp, size = cupy(), self._transform.basis.n_states
        self.spent = scratch is not None and scratch.itemsize == 4 and 0 < shift <= _BYTE
        if self.spent:
            whole = scratch.view(np.int32)  # type: ignore[union-attr]
            whole.fill(0)
        else:
            whole = cp.zeros(size, np.int32 if shift else np.int16)
        whole[cp.asarray(places)] = cp.asarray(counts.astype(whole.dtype))
        hadamard(whole)
        self.table = whole
        if self.spent:
            self.table, self.rest = cp.empty(size, np.int16), cp.empty(size, np.uint8)
            kernel = compiled(("expectations.cu",), "-DREAL=float")["split_counts"]
            kernel(grid(size), (_THREADS,), (whole, self.table, self.rest, np.int32(shift), np.int64(size)))

    def _weigh(self, places: NDArray[Any], weights: NDArray[Any], everywhere: float) -> None:
        cp, dtype = cupy(), self._transform.dtype
        self.table = cp.full(self._transform.basis.n_states, everywhere, dtype)
        self.table[cp.asarray(places)] += cp.asarray(weights.astype(dtype))
        self._transform.analyse(self.table)
