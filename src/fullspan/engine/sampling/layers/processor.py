"""The processor as a device: NumPy, with compiled loops where units are single and sums of rows for drawn units."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.sampling.layers import fused, plain
from fullspan.engine.sampling.layers.arrays import Device
from fullspan.model.units import Blocks

_PLAIN_NUMBERS = 1 << 16
"""Numbers up to which NumPy serves, always, so that a fit does not depend on whether compiled code is kept."""
_LISTING_SHARE = 0.3
"""Share of ones from which on listing the sums of every four rows pays."""


def _loops(n_numbers: int) -> ModuleType:
    """The loops in NumPy for few numbers, else the compiled ones."""
    return plain if n_numbers <= _PLAIN_NUMBERS else fused


class Processor(Device):
    """NumPy's arrays; random numbers are fixed by the generator, whatever the number of threads.

    Drawn units are int8, and products with them are sums (see ``bits``); expected units are
    floating numbers, multiplied by BLAS.
    """

    name = "numpy"

    def __init__(self, dtype: str, rng: np.random.Generator) -> None:
        super().__init__(np, dtype, lambda shape, kind: rng.random(shape, dtype=kind))
        self.rng = rng
        self.real = np.dtype(dtype).type

    def states(self, units: Any) -> Any:
        return units.view(np.int8) if units.dtype == np.bool_ else units.astype(np.int8, copy=False)

    def totals(self, x: Any) -> Any:
        if x.dtype != np.int8:
            return x.sum(axis=0)
        if x.size <= _PLAIN_NUMBERS:
            return x.sum(axis=0, dtype=self.dtype)
        counts = np.empty(x.shape[1], dtype=np.int32)
        fused.ones(x, counts)
        return counts.astype(self.dtype)

    def mean(self, blocks: Blocks, raw: Any, bias: Any, scale: float = 1.0) -> Any:
        out = np.empty_like(raw)
        for start, stop, size in blocks:
            if size == 1:
                _loops(raw.size).means(raw, bias, self.real(scale), start, stop, out)
            else:
                out[:, start:stop] = self._mean(raw[:, start:stop] * scale + bias[start:stop], size)
        return out

    def draw(self, blocks: Blocks, raw: Any, bias: Any, scale: float = 1.0) -> Any:
        out = np.empty(raw.shape, dtype=np.int8)
        for start, stop, size in blocks:
            if size == 1:
                keys = self.rng.integers(2**32, size=2, dtype=np.uint32)
                _loops(raw.size).draws(raw, bias, self.real(scale), start, stop, keys[0], keys[1], out)
            else:
                out[:, start:stop] = self._draw(raw[:, start:stop] * scale + bias[start:stop], size)
        return out

    def log_sum(self, blocks: Blocks, raw: Any, bias: Any, scale: float = 1.0) -> Any:
        total = np.zeros(len(raw))
        for start, stop, size in blocks:
            if size == 1:
                _loops(raw.size).soft_pluses(raw, bias, self.real(scale), start, stop, total)
            else:
                part = raw[:, start:stop] * scale + bias[start:stop]
                total += super().log_sum(((0, stop - start, size),), part, np.zeros_like(bias[start:stop]))
        return total

    def product(self, x: Any, weights: Any) -> Any:
        if x.dtype == np.int8 and x.size <= _PLAIN_NUMBERS:
            return x.astype(self.dtype) @ weights
        return self._sums(x, weights) if x.dtype == np.int8 else x @ weights

    def contrast(self, a: Any, b: Any, c: Any, d: Any) -> Any:
        b, d = b * self.real(1 / len(a)), d * self.real(-1 / len(c))
        if a.dtype != np.int8 or c.dtype != np.int8:
            return a.T @ b + c.T @ d
        if a.size + c.size <= _PLAIN_NUMBERS:
            return a.T.astype(self.dtype) @ b + c.T.astype(self.dtype) @ d
        from fullspan.engine.sampling.layers import bits

        first, second = bits.whole_words(a), bits.whole_words(c)
        where = np.empty((8 * first.shape[1], len(a) + len(c)), dtype=np.uint32)
        counts = np.zeros(len(where), dtype=np.int64)
        bits.list_columns(first, 0, where, counts)
        bits.list_columns(second, len(a), where, counts)
        out = np.empty((a.shape[1], b.shape[1]), dtype=self.dtype)
        bits.sum_ones(where, counts, np.concatenate([b, d]), out)
        return out

    def _sums(self, x: NDArray[np.int8], weights: Any) -> Any:
        """``x weights`` of drawn units."""
        from fullspan.engine.sampling.layers import bits

        words, counts = bits.whole_words(x), np.empty(len(x), dtype=np.int64)
        out = np.empty((len(x), weights.shape[1]), dtype=self.dtype)
        if np.count_nonzero(words.view(np.bool_)) <= _LISTING_SHARE * x.size:
            where = np.empty((len(x), 8 * words.shape[1]), dtype=np.uint32)
            bits.list_ones(words, where, counts)
            bits.sum_ones(where, counts, weights, out)
        else:
            where = np.empty((len(x), 2 * words.shape[1] + 1), dtype=np.uint32)
            bits.list_fours(words, where, counts)
            bits.sum_fours(where, counts, weights, out)
        return out

    def ascend(
        self, w: Any, velocity: Any, gradient: Any, lowered: tuple[Any, Any], rate: float, momentum: float, decay: float
    ) -> tuple[Any, Any]:
        numbers = self.real(rate), self.real(momentum), self.real(decay)
        _loops(w.size).ascend(w, velocity, gradient, *lowered, *numbers)
        return w, velocity
