"""Exact answers of a tree of hidden nodes about rows: likelihoods, posteriors, draws and expected counts.

The arithmetic is in :mod:`fullspan.engine.elimination.trees.passes`; here are its arrays and their sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.engine.elimination.trees import passes, plain
from fullspan.engine.memory import budget, require
from fullspan.model.algebra import jit
from fullspan.model.algebra.blas import one_core
from fullspan.model.hidden_tree import HiddenTree

_PLAIN_NUMBERS = 1 << 20
"""Numbers in the messages of some rows up to which NumPy serves where no compiled code is kept."""
CHUNK_BYTES = 1 << 26
"""Room for the posteriors or random numbers of rows that are answered together."""


@dataclass(frozen=True)
class Counts:
    """Expected counts of a tree, in rows: of the root's states (K,), of edges (n, K, K), of cells (n, K, C)."""

    root: Array
    edges: Array
    cells: Array

    def mixed(self, other: Counts, share: float) -> Counts:
        """``(1 - share) self + share other``."""
        pairs = ((self.root, other.root), (self.edges, other.edges), (self.cells, other.cells))
        return Counts(*((1 - share) * a + share * b for a, b in pairs))


class TreeEngine:
    """Passes on one tree.

    Parameters
    ----------
    tree : the model.
    allowed : codes that a variable may have where its cell is missing: evidence that narrows it without fixing it.
    dtype : of the messages; float32 is about twice as fast, and right to about 1e-5 nats per row.

    Raises
    ------
    TooLargeError : the messages of a block of rows would not fit into memory.
    """

    def __init__(
        self,
        tree: HiddenTree,
        allowed: Mapping[int, Sequence[int]] | None = None,
        dtype: Any = np.float64,
        max_memory: int | None = None,
    ) -> None:
        n, k, c = tree.emissions.shape
        self.threads = jit.cores()
        width = np.dtype(dtype).itemsize
        require(
            self.threads * (3 * width * n * k * passes.BLOCK_ROWS + 8 * n * k * (k + c)),
            budget(max_memory),
            f"passes on a tree of {n} nodes with {k} states",
            "use fewer states",
        )
        self.tree, self.dtype = tree, np.dtype(dtype)
        possible = tree.emissions.copy()
        for i, codes in (allowed or {}).items():
            possible[i][:, [x for x in range(c) if x not in codes]] = 0.0
        self.levels = np.ascontiguousarray(possible.transpose(0, 2, 1), dtype=dtype)
        # One more level stands for a missing cell, so that the passes need no case of their own for it.
        missing = np.minimum(possible.sum(axis=2, keepdims=True), 1.0)
        self.emission = np.concatenate([tree.emissions, missing], axis=2).astype(dtype)
        self.prior, self.transition = tree.prior.astype(dtype), tree.transitions.astype(dtype)
        self._tree = passes.Arrays(tree.order, tree.parents, self.prior, self.transition, self.emission)

    @property
    def missing(self) -> int:
        """The code of a missing cell in :meth:`columns`."""
        return int(self.emission.shape[2]) - 1

    def columns(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Rows of codes (rows, n), −1 where missing, as the passes read them: by variable, in small integers."""
        small = np.uint8 if self.missing < 256 else np.int32
        return np.ascontiguousarray(np.where(codes < 0, self.missing, codes).T, dtype=small)

    def _pass(self, compiled: Any, in_numpy: Callable[..., None], columns: NDArray[Any], *arguments: Any) -> None:
        """A compiled pass on all cores, or that in NumPy for few rows."""
        n, k, _ = self.emission.shape
        kernel: Any = passes.expected_counts
        with one_core(), np.errstate(divide="ignore"):
            if kernel.serves_plain(n * k * columns.shape[1], _PLAIN_NUMBERS, n_passes=n):
                in_numpy(self._tree, *arguments)
            else:
                jit.on_cores(compiled, self.threads, self._tree, *arguments)

    def log_likelihood(self, columns: NDArray[Any]) -> Array:
        """log p(observed cells) of each row, −inf where it is impossible."""
        out = np.empty(columns.shape[1])
        self._pass(passes.log_likelihoods, plain.log_likelihoods, columns, columns, self.threads, out)
        return out

    def expected_counts(self, columns: NDArray[Any], weights: Array) -> tuple[Counts, Array]:
        """Expected counts of weighted rows under the posterior of the hidden nodes, and the log-likelihood of each row.

        Missing cells are counted for no level.
        """
        n, k, c = self.emission.shape
        edges, cells = np.empty((self.threads, n, k, k)), np.empty((self.threads, n, k, c))
        out = np.empty(columns.shape[1])
        arguments = columns, weights.astype(self.dtype), self.threads, edges, cells, out
        self._pass(passes.expected_counts, plain.expected_counts, columns, *arguments)
        pairs, root = edges.sum(axis=0), int(self.tree.order[0])
        at_root = pairs[root, 0].copy()
        pairs *= self.transition
        return Counts(at_root, pairs, cells.sum(axis=0)[:, :, : c - 1]), out

    def posteriors(self, codes: NDArray[Any]) -> Iterator[tuple[slice, Array, Array]]:
        """Chunks of rows: which, p(x_i = x | the row's cells) as (rows, n, C), and the rows' log-likelihoods."""
        n, c = self.emission.shape[0], self.missing
        for chunk in _chunks(len(codes), 8 * n * c):
            columns = self.columns(codes[chunk])
            out, log = np.empty((columns.shape[1], n, c)), np.empty(columns.shape[1])
            arguments = self.levels, columns, self.threads, out, log
            self._pass(passes.cell_posteriors, plain.cell_posteriors, columns, *arguments)
            yield chunk, out, log

    def completed(self, codes: NDArray[Any], rng: np.random.Generator) -> tuple[NDArray[np.int64], Array]:
        """Rows (rows, n) with missing cells drawn from their joint posterior, and the log-likelihoods of the rows."""
        rows, n = codes.shape
        out, log = np.empty((rows, n), dtype=np.int64), np.empty(rows)
        for chunk in _chunks(rows, 16 * n):
            columns = self.columns(codes[chunk])
            uniform = rng.random((columns.shape[1], 2, n))
            arguments = self.levels, columns, uniform, self.threads, out[chunk], log[chunk]
            with one_core():
                jit.on_cores(passes.completions, self.threads, self._tree, *arguments)
        return out, log


def _chunks(rows: int, row_bytes: int) -> Iterator[slice]:
    step = max(CHUNK_BYTES // row_bytes, 1)
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))
