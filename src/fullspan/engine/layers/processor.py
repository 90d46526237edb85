"""The processor as a device: NumPy, with compiled loops where units are single."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullspan.engine.layers import fused
from fullspan.engine.layers.device import Device
from fullspan.model.units import Blocks


class Processor(Device):
    """NumPy's arrays; random numbers are fixed by the generator, whatever the number of threads."""

    name = "numpy"

    def __init__(self, dtype: str, rng: np.random.Generator) -> None:
        super().__init__(np, dtype, lambda shape, kind: rng.random(shape, dtype=kind))
        self.rng = rng
        self.real = np.dtype(dtype).type

    def mean(self, blocks: Blocks, raw: Any, bias: Any, scale: float = 1.0) -> Any:
        out = np.empty_like(raw)
        for start, stop, size in blocks:
            if size == 1:
                fused.means(raw, bias, self.real(scale), start, stop, out)
            else:
                out[:, start:stop] = self._mean(raw[:, start:stop] * scale + bias[start:stop], size)
        return out

    def draw(self, blocks: Blocks, raw: Any, bias: Any, scale: float = 1.0) -> Any:
        out = np.empty_like(raw)
        for start, stop, size in blocks:
            if size == 1:
                key = self.rng.integers(2**64, dtype=np.uint64)
                fused.draws(raw, bias, self.real(scale), start, stop, key, out)
            else:
                out[:, start:stop] = self._draw(raw[:, start:stop] * scale + bias[start:stop], size)
        return out

    def log_sum(self, blocks: Blocks, raw: Any, bias: Any, scale: float = 1.0) -> Any:
        total = np.zeros(len(raw))
        for start, stop, size in blocks:
            if size == 1:
                fused.soft_pluses(raw, bias, self.real(scale), start, stop, total)
            else:
                part = raw[:, start:stop] * scale + bias[start:stop]
                total += super().log_sum(((0, stop - start, size),), part, np.zeros_like(bias[start:stop]))
        return total

    def product(self, x: Any, weights: Any) -> Any:
        if not _is_sparse(x):
            return x @ weights
        out = np.empty((len(x), weights.shape[1]), dtype=self.dtype)
        fused.sparse_product(x, weights, out)
        return out

    def contrast(self, a: Any, b: Any, c: Any, d: Any) -> Any:
        if not (_is_sparse(a) and _is_sparse(c)):
            return (a.T @ b) * self.real(1 / len(a)) - (c.T @ d) * self.real(1 / len(c))
        out = np.zeros((a.shape[1], b.shape[1]), dtype=self.dtype)
        fused.sparse_correlation(a, b, self.real(1 / len(a)), out)
        fused.sparse_correlation(c, d, self.real(-1 / len(c)), out)
        return out

    def ascend(
        self, w: Any, velocity: Any, gradient: Any, lowered: tuple[Any, Any], rate: float, momentum: float, decay: float
    ) -> tuple[Any, Any]:
        fused.ascend(w, velocity, gradient, *lowered, self.real(rate), self.real(momentum), self.real(decay))
        return w, velocity


_SPARSE = 0.25
"""Share of entries that are not zero up to which leaving the zeros out is faster than BLAS."""


def _is_sparse(x: Any) -> bool:
    some = x[:: max(1, len(x) // 16)]
    return bool(np.count_nonzero(some) <= _SPARSE * some.size)
