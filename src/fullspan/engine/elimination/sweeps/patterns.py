"""Many clamped patterns in one call: what they need, and log Z of each. See ``batches``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.elimination.sweeps.batches import add_constants, swept
from fullspan.engine.elimination.sweeps.pattern_rows import Patterns, static_products
from fullspan.engine.elimination.sweeps.program import Clamps, Program
from fullspan.engine.elimination.sweeps.slices import Slices
from fullspan.engine.elimination.sweeps.tables import Factors
from fullspan.model.algebra import jit

_CHUNK_BYTES = 1 << 20
"""Bytes of messages that the patterns of one chunk may take: they should stay in the cache."""
_CHUNKS = (8, 256)
"""Fewest and most patterns worked on together."""


def rows_bytes(program: Program) -> int:
    """Bytes of the messages of the smallest chunk, on all cores."""
    return 8 * _CHUNKS[0] * jit.cores() * int(program.messages[-1])


def sweep(
    table_starts: Ints, program: Program, slices: Slices, links: Clamps, factors: Factors, logs: Array, values: Ints
) -> tuple[Array, NDArray[np.bool_]]:
    """log Z of all patterns (N, clamped), without the tops of the factors that have a free variable.

    Parameters
    ----------
    table_starts : where each of the log tables ``logs`` begins, which ``factors`` were made of.

    Returns
    -------
    log_z, undone : (N,) each; numbers of the patterns marked are too far apart to be swept together.
    """
    n = len(values)
    log_z, undone = np.zeros(n), np.full(n, len(program.axes) > 1)
    if not n:
        return log_z, undone
    patterns = _patterns(table_starts, program, slices, links, factors, values)
    if len(program.axes) > 1 and not factors.is_log.any():
        chunk = int(np.clip(_CHUNK_BYTES // (8 * max(1, int(program.messages[-1]))) // 8 * 8, *_CHUNKS))
        cores = min(jit.cores(), -(-n // chunk))
        failed = np.zeros(-(-n // chunk), dtype=np.bool_)
        jit.on_cores(swept, cores, program, factors, slices, patterns, chunk, cores, log_z, failed)
        undone[:] = np.repeat(failed, chunk)[:n]
    alone = np.flatnonzero(program.homes < 0)
    jit.on_cores(add_constants, -(-n // _CHUNKS[1]), alone, patterns, logs, _CHUNKS[1], log_z)
    return log_z, undone


def _patterns(
    table_starts: Ints,
    program: Program,
    slices: Slices,
    links: Clamps,
    factors: Factors,
    values: Ints,
) -> Patterns:
    counts = np.bincount(links.factors, minlength=len(table_starts) - 1)
    return Patterns(
        np.concatenate([[0], np.cumsum(counts)]),
        links.slots,
        links.strides,
        links.cards,
        table_starts,
        np.ascontiguousarray(values.T),
        static_products(program, factors, slices),
    )
