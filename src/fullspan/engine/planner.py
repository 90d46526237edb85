"""What a fit on the dual table will need, known before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fullspan.algebra.basis import Basis
from fullspan.engine.dual.layout import Layout
from fullspan.engine.memory import budget, require

Precision = Literal["auto", "float32", "float64"]
PRECISIONS: tuple[Precision, ...] = ("auto", "float32", "float64")

_PER_BLOCK = 12
"""Bytes held per block: its order and its cost."""
_FIXED = 64 << 20
"""Compiled code, scratch blocks and look-up lists."""
_LARGE, _LARGE_ZERO_ONE = 1 << 18, 1 << 22
"""States above which single precision is chosen, for spins and for 0/1 functions, whose rounding grows faster."""
_EXACT = 1 << 22
"""Rows up to which single precision holds counts well enough."""


@dataclass(frozen=True)
class Plan:
    """Number type and predicted peak memory of a fit."""

    n_states: int
    dtype: np.dtype[Any]
    n_bytes: int


def plan(
    basis: Basis,
    total: float,
    precision: Precision = "auto",
    max_memory: int | None = None,
    stepwise: bool = False,
) -> Plan:
    """Plan a fit of two tables over ``basis`` to ``total`` rows, ``stepwise`` or by rebuilding the table each time.

    ``"auto"`` takes single precision for tables of more than 2^18 states (2^22 for steps in the 0/1 basis) and up to
    4 million rows, else double.

    Raises
    ------
    TooLargeError : the tables would not fit; says what is needed, what there is, and the way out.
    """
    large = basis.n_states > (_LARGE_ZERO_ONE if basis.zero_one and stepwise else _LARGE)
    single = precision == "float32" or (precision == "auto" and large and total <= _EXACT)
    dtype: np.dtype[Any] = np.dtype(np.float32 if single else np.float64)
    n_blocks = basis.n_states // Layout.of(basis).size
    n_bytes = 2 * basis.n_states * dtype.itemsize + _PER_BLOCK * n_blocks + _FIXED
    limit = budget(max_memory)
    require(n_bytes, limit, f"a dual table of {_power(basis.n_states)} states in {dtype}", _remedy(basis, dtype, limit))
    return Plan(basis.n_states, dtype, n_bytes)


def _remedy(basis: Basis, dtype: np.dtype[Any], limit: int) -> str:
    states, keep = 1, 0
    for card in sorted(basis.cards):
        states *= card
        if 2 * states * dtype.itemsize + _FIXED > limit:
            break
        keep += 1
    ways = [f"keep fewer variables with columns= (the {keep} with the fewest levels would fit)", "merge levels"]
    if dtype == np.float64:
        ways.insert(0, "use dtype='float32' (half the memory)")
    return ", or ".join(ways)


def _power(n: int) -> str:
    power = f"2^{n.bit_length() - 1}"
    return power if n & (n - 1) == 0 else f"{n:,}" if n < 10**12 else f"about {power}"
