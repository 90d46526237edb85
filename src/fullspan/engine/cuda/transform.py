"""Transforms of a table on the GPU, in place: fast for Walsh functions, one variable at a time for any basis."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.cuda.device import compiled, cupy
from fullspan.model.algebra.basis import Basis

_THREADS = 256
_BLOCKS = 132 * 16
"""Blocks of threads of a kernel that strides over the table: plenty for any GPU."""
_REGISTER_BITS = 6
"""Bits transformed in registers."""
C_NAMES = {"f": "float", "d": "double", "i": "int", "h": "short"}
LARGEST_CARD = 256
"""Levels of a variable that the general transform can take."""


def grid(count: int) -> tuple[int]:
    """Enough blocks of threads for ``count`` of them, or for striding."""
    return (max(1, min(-(-count // _THREADS), _BLOCKS)),)


def hadamard(table: Any, factor: float = 1.0) -> None:
    """``t_y <- factor sum_x (-1)^popcount(x & y) t_x`` for a table of a power of two of numbers, integers or not."""
    low = 12 if table.itemsize == 8 else 13  # lowest bits, of a tile that fits shared memory
    kernels = compiled(("hadamard.cu",), f"-DNUMBER={C_NAMES[table.dtype.char]}", f"-DLOW={low}")
    bits = int(table.size).bit_length() - 1
    if bits < low:
        kernels["hadamard_small"]((1,), (_THREADS,), (table, np.int32(bits), table.dtype.type(factor)))
        return
    kernels["hadamard_tiles"]((table.size >> low,), (_THREADS,), (table, table.dtype.type(factor)))
    while low < bits:
        levels = -(-(bits - low) // -(-(bits - low) // _REGISTER_BITS))  # as few passes as can be, of equal size
        count = table.size >> levels
        arguments = (table, np.int32(low), np.int64(count))
        kernels[f"hadamard_{levels}"](grid(count), (_THREADS,), arguments)
        low += levels


class Transform:
    """The three transforms of a basis: from p to eta, from eta to p, from theta to log p."""

    def __init__(self, basis: Basis, dtype: np.dtype[Any]) -> None:
        self.basis, self.dtype = basis, dtype
        self.all_walsh = not basis.kinds.any()
        self._kernels = compiled(("expectations.cu",), f"-DREAL={C_NAMES[dtype.char]}")

    def analyse(self, p: Any) -> None:
        """Replace ``p(x)`` by ``eta_y = sum_x p(x) Phi_y(x)``."""
        if self.all_walsh:
            hadamard(p)
        else:
            self._each(p, lambda phi: phi)

    def invert(self, eta: Any) -> None:
        """Replace ``eta`` by the ``p`` that has it."""
        if self.all_walsh:
            hadamard(eta, 1.0 / eta.size)
        else:
            self._each(eta, np.linalg.inv)

    def synthesise(self, theta: Any) -> None:
        """Replace ``theta_y`` by ``l(x) = sum_y theta_y Phi_y(x)``."""
        if self.all_walsh:
            hadamard(theta)
        else:
            self._each(theta, np.transpose)

    def times(self, table: Any, factor: float) -> None:
        """Multiply a table by a number, in place."""
        arguments = (table, np.int64(table.size), self.dtype.type(factor))
        self._kernels["times"](grid(table.size), (_THREADS,), arguments)

    def scatter(self, table: Any, places: Any, values: Any) -> None:
        """Write values, in double precision, to places of a table."""
        arguments = (table, places, values, np.int64(places.size))
        self._kernels["scatter"](grid(places.size), (_THREADS,), arguments)

    def tilt(self, p: Any, strides: Any, cards: Any, phi: Any, order: int, c: float) -> None:
        """Multiply p by ``1 + c Phi_y``: the digits of y by their strides and levels, the values of its functions."""
        arguments = (p, np.int64(p.size), strides, cards, phi, np.int32(order), self.dtype.type(c))
        self._kernels["tilt"](grid(p.size), (_THREADS,), arguments)

    def exp_analysed(self, table: Any) -> float:
        """Replace l(x) by the expectations of ``p(x) = exp(l(x)) / Z``, with sums in double precision; log Z."""
        z, shift = self._exponentials(table)
        if self.all_walsh:
            hadamard(table, 1.0 / z)
        else:
            self.times(table, 1.0 / z)
            self.analyse(table)
        return shift + float(np.log(z))

    def log_sum_exp(self, table: Any) -> float:
        """``log sum_x exp(l(x))``; the table is spent."""
        z, shift = self._exponentials(table)
        return shift + float(np.log(z))

    def _exponentials(self, table: Any) -> tuple[float, float]:
        """Replace l(x) by exp(l(x) - shift); their sum, and the shift, which is the largest l(x)."""
        (blocks,) = grid(table.size)
        out = cupy().empty(blocks)
        size = np.int64(table.size)
        self._kernels["largest"]((blocks,), (_THREADS,), (table, size, out))
        shift = self.dtype.type(out.max().item())
        self._kernels["exponentials"]((blocks,), (_THREADS,), (table, size, shift, out))
        return float(out.get().sum()), float(shift)

    def _each(self, table: Any, change: Any) -> None:
        kernel = self._kernels["along"]
        for i, (card, stride) in enumerate(zip(self.basis.cards, self.basis.strides, strict=True)):
            matrix: NDArray[Any] = np.ascontiguousarray(change(self.basis.local(i).astype(np.float64)))
            count = table.size // card
            arguments = (
                table,
                cupy().asarray(matrix.astype(self.dtype)),
                np.int32(card),
                np.int64(stride),
                np.int64(count),
            )
            kernel(grid(count), (_THREADS,), arguments)
