"""Sweeps over many clamped patterns at once: one program, a row of patterns under every table entry.

Chunks of patterns are shared out to the cores, each of which keeps one set of messages, so memory does not grow with
the number of patterns.
"""

from __future__ import annotations

import numpy as np

from fullspan.engine.elimination.sweeps.batch_backward import backward_chunk
from fullspan.engine.elimination.sweeps.batch_forward import forward_chunk
from fullspan.engine.elimination.sweeps.pattern_rows import space
from fullspan.model.algebra.jit import inlined, parallel, prange, serial


@parallel
def swept(program, factors, slices, patterns, chunk, cores, log_z, marginals, expected):  # type: ignore[no-untyped-def]
    """log Z, and what else has room, for every pattern.

    Parameters
    ----------
    chunk, cores : patterns worked on together, and the most chunks at a time.
    log_z : (N,) filled in, without the tops of the factors and factors all of whose variables are clamped.
    marginals : (N, levels), or of length 0 where they are not wanted.
    expected : (cores, entries), the weighted sum of the factors' marginals; or (cores, 0).

    Returns
    -------
    undone : (chunks,) whether a chunk was left out because its numbers are too far apart.
    """
    n = len(log_z)
    chunks = (n + chunk - 1) // chunk
    undone = np.zeros(chunks, dtype=np.bool_)
    for core in prange(cores):
        rows = space(program, slices, chunk)
        for c in range(core, chunks, cores):
            first = np.int64(c) * chunk
            last = min(first + chunk, n)
            undone[c] = not forward_chunk(program, factors, slices, patterns, rows, first, last, log_z)
            if not undone[c] and (len(marginals) or expected.shape[1]):
                backward_chunk(program, factors, slices, patterns, rows, first, last, marginals, expected[core])
    return undone


@parallel
def add_constants(alone, patterns, logs, chunk, log_z):  # type: ignore[no-untyped-def]
    """Add what factors contribute all of whose variables are clamped, factor by factor along chunks of patterns."""
    n = len(log_z)
    for c in prange((n + chunk - 1) // chunk):
        first = np.int64(c) * chunk
        last, place = min(first + chunk, n), np.empty(chunk, dtype=np.int64)
        for o in range(len(alone)):
            _places(alone[o], patterns, first, last, place)
            for b in range(last - first):
                log_z[first + b] += logs[place[b]]


@serial
def expect_constants(alone, patterns, undone, expected):  # type: ignore[no-untyped-def]
    """Add the weights of all patterns that are done to the entries that they clamp such factors to."""
    n = len(undone)
    place = np.empty(n, dtype=np.int64)
    for o in range(len(alone)):
        _places(alone[o], patterns, 0, n, place)
        for b in range(n):
            if not undone[b]:
                expected[place[b]] += patterns.weights[b]


@inlined
def _places(f, patterns, first, last, place):  # type: ignore[no-untyped-def]
    """The entry of a factor that each pattern clamps it to."""
    place[: last - first] = patterns.table_starts[f]
    for e in range(patterns.links[f], patterns.links[f + 1]):
        codes, stride = patterns.values[patterns.link_slots[e], first:last], patterns.link_strides[e]
        for b in range(last - first):
            place[b] += codes[b] * stride
