"""What a fit on the dual table will need and where it will run, known before anything is allocated.

How long a search on the dual table will take, roughly, from the number of states and rows alone.

    seconds = states x moves x seconds per state and move,      moves = 10 + 10 log10(rows / 1000), at least 10

Every move of the search passes over both tables a few times. The constants were measured on two cores, idle and loaded
(``benchmarks/bench_memory.py``, and subsets of plants, accidents, alarm and mushroom with 17 to 30 columns and 100 to
100,000 rows), and are right to a factor of about four: enough to choose an engine, not to
be shown as a prediction. Refits take time too, which depends on the terms that are found and not on the states; they
are left out, since elimination has them as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fullspan.display import power_of_two
from fullspan.engine.dual.layout import Layout
from fullspan.engine.memory import budget, require
from fullspan.engine.protocol import Engine
from fullspan.errors import TooLargeError, warn
from fullspan.model.algebra.basis import Basis, is_power_of_two

MAX_SECONDS = 60.0
"""Predicted seconds up to which a search takes the table by itself."""
_SECONDS, _SECONDS_MIXED, _SECONDS_GPU = 1e-8, 3e-8, 5e-11
"""Per state and move: with levels in powers of two, with others, and on a GPU."""
_MOVES, _MOVES_PER_DECADE, _FEW = 10.0, 10.0, 1000.0
"""Moves of a search of up to ``_FEW`` rows, and more for every ten times as many."""


def table_seconds(plan: Plan, cards: tuple[int, ...], n_rows: float) -> float:
    """Rough seconds of a full search on the planned table.

    Examples
    --------
    >>> from fullspan.model.algebra.basis import Basis
    >>> from fullspan.engine.planner import plan
    >>> binary = (2,) * 20
    >>> table_seconds(plan(Basis("walsh", binary), 10_000), binary, 10_000) < 1
    True
    """
    each = _SECONDS if all(is_power_of_two(card) for card in cards) else _SECONDS_MIXED
    moves = _MOVES + _MOVES_PER_DECADE * math.log10(max(n_rows, _FEW) / _FEW)
    return plan.n_states * moves * (_SECONDS_GPU if plan.device == "cuda" else each)


Device = Literal["auto", "cpu", "cuda", "sharded"]
DEVICES: tuple[Device, ...] = ("auto", "cpu", "cuda", "sharded")
Precision = Literal["auto", "float32", "float64"]
PRECISIONS: tuple[Precision, ...] = ("auto", "float32", "float64")

_PER_BLOCK = 36
"""Bytes held per block: its order, its cost, and the bounds on its expectations."""
_FIXED_BYTES = 64 << 20
"""Compiled code, scratch blocks and look-up lists."""
_LARGE, _LARGE_ZERO_ONE = 1 << 18, 1 << 22
"""States above which single precision is chosen, for spins and for 0/1 functions, whose rounding grows faster."""
_SINGLE_ROWS = 1 << 22
"""Rows up to which single precision holds counts well enough."""
_WORTH_A_GPU = 1 << 22
"""States from which a GPU is chosen by itself: smaller tables stay in the caches of the CPU."""
_GPU_FIXED, _GPU_PER_BLOCK, _GPU_SHARE = 1 << 30, 32, 0.98
"""Bytes next to the tables on a GPU, per block of a table, and the part of its free memory that may be used."""


@dataclass(frozen=True)
class Plan:
    """Number type, predicted peak memory (on each of several devices) and device of a fit.

    ``note`` says why a table that is worth a GPU does not get one, where the device was left to choose.
    """

    n_states: int
    dtype: np.dtype[Any]
    n_bytes: int
    device: Literal["cpu", "cuda", "sharded"] = "cpu"
    note: str = ""

    def table(self, basis: Basis) -> Engine:
        """The table, on its device, at the uniform distribution."""
        if self.device == "cuda":
            from fullspan.engine.cuda.table import CudaTable

            return CudaTable(basis, self.dtype)
        if self.device == "sharded":
            from fullspan.engine.sharded.table import ShardedTable

            return ShardedTable(basis, self.dtype)
        from fullspan.engine.dual.table import DualTable

        return DualTable(basis, self.dtype)


def plan(
    basis: Basis,
    total: float,
    precision: Precision = "auto",
    max_memory: int | None = None,
    stepwise: bool = False,
    device: Device = "cpu",
) -> Plan:
    """Plan a fit of two tables over ``basis`` to ``total`` rows, ``stepwise`` or by rebuilding the table each time.

    ``"auto"`` takes single precision for tables of more than 2^18 states (2^22 for steps in the 0/1 basis) and up to
    4 million rows, else double. The device ``"auto"`` is a GPU if there is one, the table is large and fits it; several
    devices are never chosen by themselves, since all processes must be started for it.

    Raises
    ------
    TooLargeError : the tables would not fit; says what is needed, what there is, and the remedy.
    FullspanError : a GPU or JAX is asked for, and there is none, or several devices cannot share this basis.
    """
    large = basis.n_states > (_LARGE_ZERO_ONE if basis.zero_one and stepwise else _LARGE)
    single = precision == "float32" or (precision == "auto" and large and total <= _SINGLE_ROWS)
    dtype: np.dtype[Any] = np.dtype(np.float32 if single else np.float64)
    if device == "sharded":
        return _plan_sharded(basis, dtype, max_memory)
    n_blocks = basis.n_states // Layout.of(basis).size
    on_gpu = _plan_gpu(basis, dtype, n_blocks, max_memory, device)
    if isinstance(on_gpu, Plan):
        return on_gpu
    n_bytes = 2 * basis.n_states * dtype.itemsize + _PER_BLOCK * n_blocks + _FIXED_BYTES
    limit = budget(max_memory)
    require(n_bytes, limit, _table_in_words(basis, dtype), _remedy(basis, dtype, limit))
    return Plan(basis.n_states, dtype, n_bytes, note=on_gpu)


def _plan_gpu(basis: Basis, dtype: np.dtype[Any], n_blocks: int, max_memory: int | None, device: Device) -> Plan | str:
    """The plan on a GPU if one is asked for, or there is one and the table is worth it; else why not, if it is."""
    if device == "cpu" or (device == "auto" and basis.n_states < _WORTH_A_GPU):
        return ""
    from fullspan.engine.cuda.device import free_memory, why_not

    if device == "auto" and (reason := why_not()) is not None:
        return f"the CPU is used: {reason}"
    limit = int(_GPU_SHARE * free_memory())
    limit = limit if max_memory is None else min(limit, max_memory)
    n_bytes = 2 * basis.n_states * dtype.itemsize + _GPU_PER_BLOCK * n_blocks + _GPU_FIXED
    try:
        remedy = "use device='cpu', or " + _remedy(basis, dtype, limit)
        require(n_bytes, limit, f"on the GPU, {_table_in_words(basis, dtype)}", remedy)
    except TooLargeError as error:
        if device == "cuda":
            raise
        warn(f"the CPU is used: {error}")
        return f"the CPU is used: {error}"
    return Plan(basis.n_states, dtype, n_bytes, "cuda")


def _plan_sharded(basis: Basis, dtype: np.dtype[Any], max_memory: int | None) -> Plan:
    """The plan for the devices that JAX sees, over all processes; ``max_memory`` holds for each of them."""
    from fullspan.engine.sharded.shards import Shards, devices, free_memory

    found = devices()
    shards = Shards(basis, len(found))
    limit = free_memory(found) if max_memory is None else max_memory
    n_bytes = shards.n_bytes(dtype.itemsize)
    what = f"on each of {len(found)} devices, its share of {_table_in_words(basis, dtype)}"
    require(n_bytes, limit, what, "start more devices, or " + _remedy(basis, dtype, limit * len(found)))
    return Plan(basis.n_states, dtype, n_bytes, "sharded")


def _table_in_words(basis: Basis, dtype: np.dtype[Any]) -> str:
    return f"a dual table of {power_of_two(basis.n_states)} states in {dtype}"


def _remedy(basis: Basis, dtype: np.dtype[Any], limit: int) -> str:
    states, keep = 1, 0
    for card in sorted(basis.cards):
        states *= card
        if 2 * states * dtype.itemsize + _FIXED_BYTES > limit:
            break
        keep += 1
    remedies = [f"keep fewer variables with columns= (the {keep} with the fewest levels would fit)", "merge levels"]
    if dtype == np.float64:
        remedies.insert(0, "use dtype='float32' (half the memory)")
    return ", or ".join(remedies)
