"""Transforms of a sharded table, as one device sees them: its blocks in place, one exchange per top bit.

Every function works on the blocks of one device, an array (blocks, size), inside ``shard_map``; loops over blocks
update the carried table in place, so that no second table is needed.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from fullspan.engine.sharded.shards import AXIS, Shards

Array = Any
"""A JAX array, or the tracer of one."""


def swapped(shards: Shards, rows: Array, top: int) -> Array:
    """The same rows of the partner ``device xor top``: one exchange."""
    return lax.ppermute(rows, AXIS, [(i, i ^ top) for i in range(shards.n_devices)])


def pair(unit: Array, mask: Array) -> tuple[Array, Array]:
    """The ``unit``-th pair of blocks (b, b xor mask), or neighbours if ``mask`` is 0."""
    top = jnp.int32(1) << (31 - lax.clz(jnp.maximum(mask, 1)))
    first = (unit // top) * 2 * top + unit % top
    return first, first ^ jnp.where(mask == 0, 1, mask)


def get(table: Array, block: Array) -> Array:
    """One block."""
    return lax.dynamic_index_in_dim(table, block, keepdims=False)


def put(table: Array, row: Array, block: Array) -> Array:
    """The table with one block replaced, in place within a loop."""
    return lax.dynamic_update_index_in_dim(table, row, block, 0)


def put_all(table: Array, rows: Array, blocks: Array) -> Array:
    """The table with some blocks replaced; a loop of its own, so that all are read before any is written."""
    return lax.fori_loop(0, len(rows), lambda i, table: put(table, rows[i], blocks[i]), table)


def walsh_hadamard(row: Array) -> Array:
    """Unnormalised transform of one block: ``T_y = sum_x (-1)^popcount(x & y) row_x``."""
    stride = 1
    while stride < row.size:
        pairs = row.reshape(-1, 2, stride)
        row = jnp.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        stride *= 2
    return row


def analyse(shards: Shards, table: Array, scales: Array | None = None) -> Array:
    """The transform of a whole table, each block times its scale first: within blocks, between them, across devices."""

    def within(b: Array, table: Array) -> Array:
        row = get(table, b)
        return put(table, walsh_hadamard(row if scales is None else row * scales[b].astype(row.dtype)), b)

    def between(i: Array, table: Array) -> Array:
        blocks = jnp.stack(pair(i % (shards.blocks // 2), jnp.int32(1) << (i // (shards.blocks // 2))))
        one, other = get(table, blocks[0]), get(table, blocks[1])
        return put_all(table, jnp.stack([one + other, one - other]), blocks)

    table = lax.fori_loop(0, shards.blocks, within, table)
    n_bits = shards.blocks.bit_length() - 1
    table = lax.fori_loop(0, n_bits * (shards.blocks // 2), between, table)
    for bit in range(shards.n_devices.bit_length() - 1):
        table = _across(shards, table, 1 << bit)
    return table


def _across(shards: Shards, table: Array, top: int) -> Array:
    """The sum of both partners' blocks on the device without the bit, the difference on the other."""
    sign = jnp.where(lax.axis_index(AXIS) & top, -1, 1).astype(table.dtype)

    def exchange(b: Array, table: Array) -> Array:
        row = get(table, b)
        return put(table, swapped(shards, row, top) + sign * row, b)

    return lax.fori_loop(0, shards.blocks, exchange, table)


def first_block(shards: Shards) -> Array:
    """The number of this device's first block, counted over all devices."""
    return (lax.axis_index(AXIS) * shards.blocks).astype(jnp.int32)


def weights_of_block(shards: Shards, block: Array, theta: tuple[Array, Array, Array]) -> Array:
    """``log p + log Z`` over one block from sparse weights at (block, place), in double precision; no exchange.

    With the bits outside the block fixed, a term is its part inside times a sign.
    """
    blocks, places, weights = theta
    odd = lax.population_count(blocks & (first_block(shards) + block)) & 1
    signed = jnp.where(odd == 1, -weights, weights)
    return walsh_hadamard(jnp.zeros(shards.size, weights.dtype).at[places].add(signed))


def sums(shards: Shards, theta: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """Peak of the log-weights and sum of ``exp(. - peak)`` of every block of all devices."""

    def visit(b: Array) -> tuple[Array, Array]:
        energies = weights_of_block(shards, b, theta)
        peak = energies.max()
        return peak, jnp.exp(energies - peak).sum()

    peaks, totals = lax.map(visit, jnp.arange(shards.blocks, dtype=jnp.int32))
    return lax.all_gather(peaks, AXIS, tiled=True), lax.all_gather(totals, AXIS, tiled=True)


def fill(shards: Shards, table: Array, theta: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """eta from theta in the table's memory, with :func:`sums`: synthesis without exchange, one analysis."""

    def visit(b: Array, carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        table, peaks, totals = carry
        energies = weights_of_block(shards, b, theta)
        peak = energies.max()
        p = jnp.exp(energies - peak)
        return put(table, p.astype(table.dtype), b), peaks.at[b].set(peak), totals.at[b].set(p.sum())

    none = jnp.zeros(shards.blocks)
    table, own, totals = lax.fori_loop(0, shards.blocks, visit, (table, none, none))
    peaks, totals = (lax.all_gather(values, AXIS, tiled=True) for values in (own, totals))
    highest = peaks.max()
    log_z = highest + jnp.log((totals * jnp.exp(peaks - highest)).sum())
    table = analyse(shards, table, jnp.exp(own - log_z))
    return with_one(shards, table), peaks, totals


def with_one(shards: Shards, table: Array) -> Array:
    """``eta_0 = 1``, exactly."""
    first = jnp.where(lax.axis_index(AXIS) == 0, jnp.ones((), table.dtype), table[0, 0])
    return table.at[0, 0].set(first)


def scattered(shards: Shards, blocks: Array, places: Array, values: Array, fill_value: Array) -> Array:
    """A table of ``fill_value`` with values added at (block, place); a device keeps those of its own blocks."""
    own = blocks - first_block(shards)
    # One beyond the end, which mode="drop" leaves out: indices below 0 would count from the end.
    mine = jnp.where((own >= 0) & (own < shards.blocks), own, shards.blocks)
    table = jnp.full((shards.blocks, shards.size), fill_value, values.dtype)
    return table.at[mine, places].add(values, mode="drop")


def gathered(shards: Shards, table: Array, blocks: Array, places: Array) -> Array:
    """Entries at (block, place) of the whole table, on every device: each is held by one, the others add 0."""
    own = blocks - first_block(shards)
    mine = (own >= 0) & (own < shards.blocks)
    values = table[jnp.where(mine, own, 0), places].astype(jnp.float64)
    return lax.psum(jnp.where(mine, values, 0.0), AXIS)


def compiled(row: Any, body: Any, specs: tuple[Any, Any], donate: tuple[int, ...] = ()) -> Any:
    """``body`` on every device of the row, with ``specs`` of what comes in and goes out."""
    mapped = jax.shard_map(body, mesh=row, in_specs=specs[0], out_specs=specs[1], check_vma=False)
    return jax.jit(mapped, donate_argnums=donate)
