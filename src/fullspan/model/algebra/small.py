"""Up to which size NumPy serves a table instead of compiled kernels."""

from __future__ import annotations

from fullspan.model.algebra.bits import transform_bits

SMALL, MIDDLE = 1 << 12, 1 << 17
"""Numbers in a table up to which NumPy serves instead of kernels, always and where no kernels are kept."""


def is_small(n_numbers: int) -> bool:
    """Whether NumPy serves a table: its passes cost less than compiling a kernel would.

    Kernels of the dual table have a twin in NumPy, which is the readable form of them. Up to 2^12 numbers NumPy serves
    always. Up to 2^17 it serves where no compiled code is kept, until it has taken as long as compiling would have.
    The two differ by rounding alone.
    """
    if n_numbers <= SMALL or n_numbers > MIDDLE:
        return n_numbers <= SMALL
    # Every table uses this kernel: where it is kept, the others are.
    return bool(transform_bits.serves_plain(n_numbers, MIDDLE))  # type: ignore[attr-defined]
