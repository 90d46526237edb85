"""Where arrays live and which library computes on them: one code for all, by the array-API standard.

Whatever is done with layers is written with the functions of the standard, taken from ``device.xp``: NumPy on the
processor, CuPy or PyTorch on a graphics card. The standard has no random numbers, so a device brings its own. On the
processor the loops that matter are compiled (:mod:`fullspan.engine.sampling.layers.fused`), with the same results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.model.units import Blocks


class Device:
    """Arrays of a library that keeps to the array-API standard.

    Parameters
    ----------
    xp : the namespace.
    dtype : name of the floating type.
    uniform : ``uniform(shape, dtype)`` gives random numbers of [0, 1).
    place : the library's device, None for its default.
    to_numpy : brings an array back.
    """

    name = "generic"

    def __init__(
        self,
        xp: Any,
        dtype: str,
        uniform: Callable[[tuple[int, ...], Any], Any],
        place: Any = None,
        to_numpy: Callable[[Any], NDArray[Any]] = np.asarray,
    ) -> None:
        self.xp, self.dtype, self.uniform, self.place = xp, getattr(xp, dtype), uniform, place
        self.to_numpy = to_numpy

    def array(self, values: Any) -> Any:
        """An array of this device, in its floating type."""
        host = np.array(values, dtype=np.float64 if self.dtype == self.xp.float64 else np.float32)
        return self.xp.asarray(host, device=self.place) if self.place is not None else self.xp.asarray(host)

    def index(self, values: NDArray[Any]) -> Any:
        """Positions, truth values or small integers as an array of this device."""
        return self.xp.asarray(values, device=self.place) if self.place is not None else self.xp.asarray(values)

    def bits(self, values: NDArray[np.int8]) -> Any:
        """Units as small integers on this device."""
        return self.index(values)

    def cast(self, values: Any, dtype: Any) -> Any:
        """Values in another type."""
        return self.xp.astype(values, dtype)

    def joined(self, parts: list[Any]) -> Any:
        """Columns side by side."""
        return self.xp.concat(parts, axis=1)

    def running_sum(self, values: Any) -> Any:
        """Sums along the last of three axes up to each entry."""
        return self.xp.cumulative_sum(values, axis=2)

    def states(self, units: Any) -> Any:
        """Units that are 0 or 1 in the type in which this device multiplies them: floating numbers, if no other."""
        return self.cast(units, self.dtype)

    def coins(self, means: Any) -> Any:
        """Units that are 1 with a given probability, else 0."""
        return self.states(self.uniform(tuple(means.shape), self.dtype) < means)

    def totals(self, x: Any) -> Any:
        """Sums over the rows, in the floating type."""
        return self.xp.sum(x, axis=0)

    def synchronise(self) -> None:
        """Wait until all work is done."""

    # -- layers ------------------------------------------------------------------------------------------------

    def mean(self, blocks: Blocks, raw: Any, bias: Any, scale: float = 1.0) -> Any:
        """Probabilities (m, n) that units are on, of their input ``scale raw + bias``."""
        return self._by_block(blocks, raw * scale + bias, self._mean)

    def draw(self, blocks: Blocks, raw: Any, bias: Any, scale: float = 1.0) -> Any:
        """Units (m, n), 0 or 1, drawn with the probabilities of :meth:`mean`."""
        return self._by_block(blocks, raw * scale + bias, self._draw)

    def log_sum(self, blocks: Blocks, raw: Any, bias: Any, scale: float = 1.0) -> Any:
        """(m,) log of the sum over all states of a layer: softplus of single units, log-sum-exp of groups."""
        xp, inputs = self.xp, raw * scale + bias
        total = xp.zeros_like(inputs[:, 0])
        for start, stop, size in blocks:
            part = inputs[:, start:stop]
            if size == 1:
                total = total + xp.sum(xp.log1p(xp.exp(-xp.abs(part))) + xp.maximum(part, part * 0), axis=1)
            else:
                part, top = self._grouped(part, size)
                total = total + xp.sum(xp.log(xp.sum(xp.exp(part - top), axis=2)) + top[:, :, 0], axis=1)
        return total

    def _by_block(self, blocks: Blocks, inputs: Any, function: Callable[[Any, int], Any]) -> Any:
        parts = [function(inputs[:, start:stop], size) for start, stop, size in blocks]
        return parts[0] if len(parts) == 1 else self.joined(parts)

    def _mean(self, inputs: Any, size: int) -> Any:
        xp = self.xp
        if size == 1:
            # The logistic function, without overflow.
            return xp.tanh(inputs * 0.5) * 0.5 + 0.5
        part, top = self._grouped(inputs, size)
        weights = xp.exp(part - top)
        return xp.reshape(weights / xp.sum(weights, axis=2, keepdims=True), inputs.shape)

    def _draw(self, inputs: Any, size: int) -> Any:
        xp = self.xp
        means = self._mean(inputs, size)
        if size == 1:
            return self.coins(means)
        shape = (inputs.shape[0], inputs.shape[1] // size, size)
        below = self.running_sum(xp.reshape(means, shape))
        # Times the last sum, which rounding has left a little off 1.
        u = xp.reshape(self.uniform(shape[:2], self.dtype), (*shape[:2], 1)) * below[:, :, -1:]
        chosen = xp.sum(self.cast(below <= u, xp.int64), axis=2, keepdims=True)
        levels = xp.reshape(self.index(np.arange(size)), (1, 1, size))
        last = xp.minimum(chosen, chosen * 0 + (size - 1))
        return xp.reshape(self.states(last == levels), inputs.shape)

    def _grouped(self, inputs: Any, size: int) -> tuple[Any, Any]:
        part = self.xp.reshape(inputs, (inputs.shape[0], inputs.shape[1] // size, size))
        return part, self.xp.max(part, axis=2, keepdims=True)

    # -- products and steps ------------------------------------------------------------------------------------

    def product(self, x: Any, weights: Any) -> Any:
        """``x weights``: what units, drawn or expected, send to a neighbouring layer."""
        return x @ weights

    def contrast(self, a: Any, b: Any, c: Any, d: Any) -> Any:
        """``a' b / rows − c' d / rows``: the difference of mean products of units in two phases."""
        return (a.T @ b) * (1 / a.shape[0]) - (c.T @ d) * (1 / c.shape[0])

    def ascend(
        self, w: Any, velocity: Any, gradient: Any, lowered: tuple[Any, Any], rate: float, momentum: float, decay: float
    ) -> tuple[Any, Any]:
        """Weights and velocity after v ← momentum v + rate (gradient − left right − decay w), w ← w + v.

        ``lowered`` is the pair (left, right) of shapes (n, 2) and (2, m). Arrays may be changed in place.
        """
        velocity = velocity * momentum + (gradient - lowered[0] @ lowered[1] - w * decay) * rate
        return w + velocity, velocity
