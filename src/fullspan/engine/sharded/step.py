"""The fused step on one device of several: update the pairs (z, z xor y) in place and look for the best candidates.

    eta'_z = (eta_z + c eta_{z xor y}) / (1 + c eta_y)

Blocks are visited in pairs (b, b xor block(y)). If y has top bits, each pair is exchanged with the partner device
first, so that a shard travels once, in pieces; if not, nothing travels. A block is looked at with logarithms, in double
precision, only if the bound of some term in it exceeds the best so far of its part of the table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from fullspan.engine.sharded.shards import AXIS, Shards
from fullspan.engine.sharded.transform import Array, first_block, get, pair, put, swapped


class Data(NamedTuple):
    """``d_y = clip(table_y * unit, low, high)``: counts stay integers."""

    table: Any
    unit: Any
    low: Any
    high: Any


class Tariff(NamedTuple):
    """``by_order[order] + cost``, both sums of a part per block, held by its device, and a part per place."""

    block_orders: Any
    block_costs: Any
    by_order: Any
    orders: Any
    costs: Any


class Move(NamedTuple):
    """The move's own numbers: blocks and places that it exchanges, factors, and what a candidate must exceed."""

    block: Any
    place: Any
    c: Any
    scale: Any
    floor: Any
    l1: Any


class Best(NamedTuple):
    """Net gain, block over all devices (or -1) and place of the best candidate of each part of a shard."""

    gains: Any
    blocks: Any
    places: Any


def step(shards: Shards, top: int, eta: Array, data: Data, tariff: Tariff, move: Move) -> tuple[Array, Best]:
    """One step along a term whose top bits are ``top``; the candidates of all devices, on each of them."""
    order = jnp.arange(shards.size, dtype=jnp.int32) ^ move.place

    def visit(unit: Array, carry: tuple[Array, Best]) -> tuple[Array, Best]:
        blocks = jnp.stack(pair(unit, move.block)) if shards.blocks > 1 else unit[None]
        rows = jnp.stack([get(carry[0], b) for b in blocks])
        partners = swapped(shards, rows, top) if top else rows
        partners = jnp.where(move.block == 0, partners, partners[::-1])[:, order]
        # <1> stays 1 exactly.
        constant = (first_block(shards) + blocks[:, None] == 0) & (jnp.arange(shards.size) == 0)
        new = jnp.where(constant, 1, move.scale * (rows + move.c * partners))

        def look(i: Array, carry: tuple[Array, Best]) -> tuple[Array, Best]:
            eta, best = carry
            return put(eta, new[i], blocks[i]), _consider(shards, new[i], blocks[i], data, tariff, move, best)

        found: tuple[Array, Best] = lax.fori_loop(0, len(rows), look, carry)
        return found

    floor = jnp.full(shards.parts, move.floor, jnp.float64)
    none = jnp.full(shards.parts, -1, jnp.int32)
    eta, best = lax.fori_loop(0, -(-shards.blocks // 2), visit, (eta, Best(floor, none, none)))
    return eta, Best(*(lax.all_gather(values, AXIS, tiled=True) for values in best))


def _consider(shards: Shards, eta: Array, b: Array, data: Data, tariff: Tariff, move: Move, best: Best) -> Best:
    """The best of its part after a look at block ``b``: bound before logarithm."""
    part = b * shards.parts // shards.blocks
    d = jnp.clip(get(data.table, b) * data.unit, data.low, data.high)
    order = tariff.block_orders[b]
    x, target = eta, d.astype(eta.dtype)
    e = jnp.maximum(jnp.abs(target - x) - move.l1.astype(x.dtype), 0)
    price = tariff.by_order[order + tariff.orders] + tariff.block_costs[b] + tariff.costs
    # In the table's precision, and a little too low: what rounding might hide is looked at in double precision.
    bar = (0.99 * (best.gains[part] + price)).astype(x.dtype)
    possible = (e * e > bar * (1 - x * x - 1e-5)) & (price < jnp.inf)

    def look(best: Best) -> Best:
        net = jnp.where(possible, term_gain(d, eta.astype(jnp.float64), move.l1) - price, -jnp.inf)
        place = jnp.argmax(net).astype(jnp.int32)
        found = Best(net[place], first_block(shards) + b, place)
        old = Best(*(values[part] for values in best))
        # The lowest index wins, as on one CPU, in whatever order the blocks are visited.
        tie = (found.gains == old.gains) & (old.blocks > found.blocks)
        better = (found.gains > old.gains) | tie
        return Best(*(v.at[part].set(jnp.where(better, new, v[part])) for v, new in zip(best, found, strict=True)))

    found: Best = lax.cond(possible.any(), look, lambda best: best, best)
    return found


def term_gain(d: Array, eta: Array, l1: Array) -> Array:
    """Gain of moving spins from eta to d, or under an L1 penalty to d moved back by ``l1`` towards eta."""
    target = jnp.where(d > eta, jnp.maximum(d - l1, eta), jnp.minimum(d + l1, eta))
    q, m = jnp.clip((1 + target) / 2, 0, 1), (1 + eta) / 2
    return _part(q, m) + _part(1 - q, 1 - m)


def _part(q: Array, m: Array) -> Array:
    # Both branches of `where` are computed: the logarithm must be finite in the one not taken.
    positive = jnp.where(q > 0, q, 1.0)
    return jnp.where(q > 0, q * jnp.log(positive / jnp.maximum(m, 1e-300)), 0.0)
