"""Many clamped patterns in one call: what they need, and what comes back. See ``batch``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.elimination.sweeps.batches import add_constants, expect_constants, swept
from fullspan.engine.elimination.sweeps.pattern_rows import Patterns, static_products
from fullspan.engine.elimination.sweeps.program import Clamps, Program
from fullspan.engine.elimination.sweeps.slices import Slices
from fullspan.engine.elimination.sweeps.tables import Factors
from fullspan.model.algebra import jit

_BYTES = 1 << 20
"""Bytes of messages that the patterns of one chunk may take: they should stay in the cache."""
_CHUNKS = (8, 256)
"""Fewest and most patterns worked on together."""


@dataclass(frozen=True, eq=False)
class BatchAnswer:
    """log Z of N patterns, and what was asked for besides: empty arrays where it was not.

    ``undone`` marks patterns whose numbers are too far apart to be swept together; their results are missing.
    """

    log_z: Array
    marginals: Array
    expected: Array
    undone: NDArray[np.bool_]


def rows_bytes(program: Program) -> int:
    """Bytes of the messages of the smallest chunk, on all cores."""
    return 8 * _CHUNKS[0] * jit.cores() * (int(program.messages[-1]) + 2 * program.scratch)


def sweep(
    table_starts: Ints,
    program: Program,
    slices: Slices,
    links: Clamps,
    factors: Factors,
    logs: Array,
    values: Ints,
    weights: Array | None = None,
    marginals: bool = False,
) -> BatchAnswer:
    """Sweep all patterns (N, clamped) in chunks; log Z leaves out the tops of the factors that have a free variable.

    ``logs`` are the log tables, flat, that ``factors`` were made of; ``table_starts`` where each begins.
    """
    n, entries = len(values), int(table_starts[-1])
    answer = BatchAnswer(
        np.zeros(n),
        np.zeros((n if marginals else 0, int(factors.levels[-1]))),
        np.zeros(0 if weights is None else entries),
        np.full(n, len(program.axes) > 1),
    )
    if not n:
        return answer
    patterns = _patterns(table_starts, program, slices, links, factors, values, weights)
    if len(program.axes) > 1 and not factors.is_log.any():
        chunk = int(np.clip(_BYTES // (8 * max(1, int(program.messages[-1]))) // 8 * 8, *_CHUNKS))
        cores = min(jit.cores(), -(-n // chunk))
        gathered = np.zeros((cores, len(answer.expected)))
        undone = swept(program, factors, slices, patterns, chunk, cores, answer.log_z, answer.marginals, gathered)
        answer.expected[:] = gathered.sum(axis=0)
        answer.undone[:] = np.repeat(undone, chunk)[:n]
    alone = np.flatnonzero(program.homes < 0)
    add_constants(alone, patterns, logs, _CHUNKS[1], answer.log_z)
    if weights is not None:
        expect_constants(alone, patterns, answer.undone, answer.expected)
    return answer


def _patterns(
    table_starts: Ints,
    program: Program,
    slices: Slices,
    links: Clamps,
    factors: Factors,
    values: Ints,
    weights: Array | None,
) -> Patterns:
    counts = np.bincount(links.factors, minlength=len(table_starts) - 1)
    return Patterns(
        np.concatenate([[0], np.cumsum(counts)]),
        links.slots,
        links.strides,
        links.cards,
        table_starts,
        np.ascontiguousarray(values.T),
        np.ones(len(values)) if weights is None else weights,
        static_products(program, factors, slices),
    )
