"""The laws of the protocol on 1, 2, 4 and 8 virtual devices, and what travels between them.

Run by ``test_sharded.py`` in a process of its own, because the number of devices is fixed when JAX starts.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy as np
import pytest
import test_engine_contract as contract
from sharded_traffic import traffic

from fullspan.engine.dual import DualTable
from fullspan.engine.sharded import ShardedTable, Shards, program
from fullspan.errors import FullspanError
from fullspan.model.algebra import Basis
from generic import sample, some_prices, tolerance

BLOCK = 16
"""Places of a block, small so that loops over blocks are gone through."""
SPACES: tuple[tuple[tuple[int, ...], Any, int], ...] = (
    ((2,) * 7, np.float32, 1),
    ((2,) * 7, np.float64, 2),
    ((4, 4, 2, 8), np.float32, 4),
    ((2,) * 7, np.float32, 8),
)
every_case = pytest.mark.parametrize(("cards", "dtype", "k"), SPACES, ids=str)


def on(k: int) -> contract.Make:
    return partial(ShardedTable, chosen=jax.devices()[:k], largest_block=BLOCK)


def loaded(make: Any, basis: Basis, dtype: Any) -> Any:
    table = make(basis, dtype)
    index, counts = sample(basis, 1)
    table.set_data(index, np.ceil(3 * counts))
    table.set_prices(some_prices(basis, scale=1e-5))
    return table


def test_there_are_eight_devices() -> None:
    assert len(jax.devices()) == 8


@every_case
def test_the_contract(cards: tuple[int, ...], dtype: Any, k: int) -> None:
    """Every law that the other engines obey."""
    make = on(k)
    assert isinstance(make(Basis("walsh", cards), dtype), contract.Engine)
    contract.test_moves_lead_where_theta_leads(make, "walsh", cards, dtype)
    contract.test_data_are_expectations(make, "walsh", cards, dtype)
    for l1 in (0.0, 0.02):
        contract.test_the_first_candidate_is_the_best(make, "walsh", cards, dtype, l1)
    contract.test_fisher_information_is_the_covariance(make, "walsh", cards, dtype)
    contract.test_marginals_and_their_gains(make, "walsh", cards, dtype)
    with pytest.raises(FullspanError, match="call set_data and set_prices first"):
        make(Basis("walsh", cards), dtype).scan()


@pytest.mark.parametrize("k", [2, 8])
def test_steps_are_those_of_the_cpu(k: int) -> None:
    """The same eta and best candidate after each move, with and without top bits; the same candidates of a scan."""
    basis = Basis("walsh", (2,) * 12)
    one, other = (loaded(make, basis, np.float32) for make in (partial(on(k), largest_block=128), DualTable))
    np.testing.assert_allclose(one.d, other.d, rtol=0, atol=1e-7)
    for bits in [(0,), (11,), (0, 3, 11), (4, 7), (7, 8), (1, 2, 5, 11), (8, 9), (3,)]:
        y = sum(1 << b for b in bits)
        first, second = one.move(y, 0.1 * len(bits)), other.move(y, 0.1 * len(bits))
        assert first.indices[0] == second.indices[0]
        assert first.gains[0] == pytest.approx(second.gains[0], rel=1e-4)
        np.testing.assert_allclose(one.eta, other.eta, rtol=0, atol=1e-6)
    assert one.log_z == pytest.approx(other.log_z, abs=1e-6)
    assert one.log_partition() == pytest.approx(other.log_partition(), abs=1e-12)
    assert one.scan().indices.tolist() == other.scan().indices.tolist()
    assert len(one.scan().indices) == one.shards.n_parts == 4
    assert one.rebuild() == pytest.approx(0, abs=tolerance(np.float32))


@pytest.mark.parametrize(("n", "block"), [(9, 16), (12, 1 << 22)])
def test_what_travels_is_what_was_predicted(n: int, block: int) -> None:
    """A step sends the shard of eta if y has top bits, else nothing; a transform sends it once per top bit."""
    basis = Basis("walsh", (2,) * n)
    table = loaded(partial(on(8), largest_block=block), basis, np.float32)
    shard = 4 * 2**n // 8
    with jax.enable_x64(True):
        for y, predicted in ((1, 0), (0b111 << (n - 6), 0), (1 << (n - 3), shard), ((0b101 << (n - 3)) + 3, shard)):
            top = table.shards.split(y)[0]
            text = program(table.shards, table.mesh, "step", top).lower(*table.step_arguments(y, 0.1, 1.0, 0.0, 0.0))
            sent, others = traffic(text.compile().as_text())
            assert sent == predicted == table.shards.exchanged(y, 4)
            assert others <= 16 * 8 * table.shards.parts  # the best candidate of each part of each device
        text = program(table.shards, table.mesh, "fill").lower(table._eta, table._sparse_theta())
        sent, _ = traffic(text.compile().as_text())
        assert sent == 3 * shard  # once for each top bit


def test_no_second_table_is_needed() -> None:
    """All programs work in place: beside eta and d a device needs a few blocks, as predicted."""
    basis = Basis("walsh", (2,) * 16)
    table = loaded(partial(on(4), largest_block=256), basis, np.float32)
    shard = 4 * 2**16 // 4
    with jax.enable_x64(True):
        for name, arguments, tables in (
            ("step", table.step_arguments(1 << 15, 0.1, 1.0, 0.0, 0.0), 2),
            ("fill", (table._eta, table._sparse_theta()), 1),
            ("analyse", (table._eta,), 1),
            ("scatter", (*table.shards.places(np.arange(99)), np.ones(99, np.int32), np.int32(0)), 1),
        ):
            used = program(table.shards, table.mesh, name, 2).lower(*arguments).compile().memory_analysis()
            peak = used.argument_size_in_bytes + used.output_size_in_bytes + used.temp_size_in_bytes
            assert tables * shard < peak - used.alias_size_in_bytes <= table.shards.n_bytes(4) - (2 - tables) * shard
    assert table.shards.n_bytes(4) < 2.6 * shard


def test_too_many_devices_or_another_basis_are_refused() -> None:
    with pytest.raises(FullspanError, match=r"8 devices cannot share a table of 4 states; use device='cpu'"):
        on(8)(Basis("walsh", (2, 2)), np.float32)
    with pytest.raises(FullspanError, match=r"JAX sees 3 devices; .* so that 2 are left"):
        on(3)(Basis("walsh", (2,) * 5), np.float32)
    for basis in (Basis("monomial", (2,) * 5), Basis("walsh", (2, 3, 4))):
        with pytest.raises(FullspanError, match=r"only Walsh functions can: use basis='walsh' .* or device='cpu'"):
            Shards(basis, 2)
