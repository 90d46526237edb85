"""A table with moves pending is seen by nobody: everything it answers is as if they had been made."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumeration import Enumeration
from fullspan.engine.dual import Bounds, DualTable, deferred, layout, move_pair, pending, table
from fullspan.engine.dual.octets import _exchange_plain
from fullspan.model.algebra import Basis
from generic import always_compiled, distribution, matrix, sample, some_prices

law = settings(derandomize=True, max_examples=20, deadline=None)
steps = st.lists(st.tuples(st.integers(1, 255), st.floats(-0.7, 0.7)), min_size=1, max_size=12)
BASIS = Basis("walsh", (2, 4, 2, 2, 2, 2, 2))


@pytest.fixture(autouse=True, params=[(4, 2), (16, 4), (32, 3), (1024, 2)], ids=str)
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks smaller than a vector, of a few vectors, and the whole table, with room for some moves."""
    size, room = request.param
    monkeypatch.setattr(layout, "BLOCK_STATES", size)
    monkeypatch.setattr(pending, "PENDING_MOVES", room)
    always_compiled(monkeypatch)
    monkeypatch.setattr(table, "DEFERRED_BYTES", 0)
    monkeypatch.setattr(table, "READ_BLOCKS_SHARE", 1e9)


def loaded(make: Any, dtype: Any = np.float64) -> Any:
    engine = make(BASIS, dtype)
    engine.set_data(*sample(BASIS, 1))
    engine.set_prices(some_prices(BASIS))
    return engine


def made(engine: DualTable) -> Any:
    """What theta says the table should be."""
    return matrix(BASIS) @ distribution(BASIS, engine.theta)


@law
@given(steps=steps)
def test_every_answer_is_that_of_the_moved_table(steps: list[tuple[int, float]]) -> None:
    """Look-ups, moments, marginals, gains and the best candidate equal enumeration's, whatever is pending."""
    engine, plain = loaded(DualTable), loaded(Enumeration)
    rng = np.random.default_rng(len(steps))
    for index, delta in steps:
        found, expected = engine.move(index, delta), plain.move(index, delta)
        assert found.gains[:1] == pytest.approx(expected.gains[:1], abs=1e-9)
        y = np.r_[0, index, rng.integers(BASIS.n_states, size=9)]
        np.testing.assert_allclose(engine.eta_at(y), plain.eta_at(y), rtol=0, atol=1e-12)
        np.testing.assert_allclose(engine.fisher(y), plain.fisher(y), rtol=0, atol=1e-12)
        assert engine.log_z == pytest.approx(plain.log_z, abs=1e-11)
    copied = copy.deepcopy(engine)
    np.testing.assert_allclose(engine.marginal([5, 1]), plain.marginal([5, 1]), rtol=0, atol=1e-12)
    sets = np.array([[0, 3], [6, 2]])
    rows = copied.data_margins(sets)
    gains = copied.margin_gains(sets, rows, np.zeros(2))
    np.testing.assert_allclose(gains, plain.margin_gains(sets, rows, np.zeros(2)), rtol=0, atol=1e-9)
    np.testing.assert_allclose(copied.eta, made(engine), rtol=0, atol=1e-11)


@law
@given(steps=steps)
def test_pending_moves_change_no_number(steps: list[tuple[int, float]]) -> None:
    """In single precision as well the table is that of moves made at once."""
    later = loaded(DualTable, np.float32)
    soon = loaded(DualTable, np.float32)
    soon._defers = False
    for index, delta in steps:
        later.move(index, delta)
        soon.move(index, delta)
        soon.theta, soon.log_z = dict(later.theta), later.log_z
    assert np.abs(later.eta - soon.eta).max() <= 2e-7


@law
@given(steps=steps, floor=st.floats(0, 0.05))
def test_bounds_hold_however_far_they_are_carried(steps: list[tuple[int, float]], floor: float) -> None:
    """max |eta| <= most and max |d - eta| <= gap in every block, after any moves, wherever the scans have looked."""
    engine = loaded(DualTable)
    assert engine.d is not None
    d = engine.d.reshape(-1, engine.layout.size)
    for index, delta in steps:
        engine.move(index, delta, floor)
        eta = made(engine).reshape(d.shape)
        assert isinstance(engine._bounds, Bounds)
        assert (engine._bounds.most >= np.abs(eta).max(axis=1) - 1e-11).all()
        assert (engine._bounds.gap >= np.abs(d - eta).max(axis=1) - 1e-11).all()


def test_a_rebuild_a_jump_and_new_data_see_the_pending_moves() -> None:
    engine = loaded(DualTable)
    for index in (3, 77, 130, 8, 201)[: 2 * pending.PENDING_MOVES - 1]:
        engine.move(index, 0.4)
    assert engine._pending
    assert engine.rebuild() < 1e-12
    engine.move(9, -0.3)
    engine.set_theta({5: 0.25})
    np.testing.assert_allclose(engine.eta, made(engine), rtol=0, atol=1e-12)
    engine.move(70, 0.3)
    engine.set_data(*sample(BASIS, 2))
    plain = Enumeration(BASIS)
    plain.set_data(*sample(BASIS, 2))
    plain.set_prices(some_prices(BASIS))
    plain.set_theta(engine.theta)
    assert engine.scan().gains[0] == pytest.approx(plain.scan().gains[0], abs=1e-10)


def test_what_is_written_to_the_table_is_seen_by_the_next_scan() -> None:
    """Bounds are forgotten when the table is given out."""
    engine, plain = loaded(DualTable), loaded(Enumeration)
    engine.scan()
    plain.set_theta({77: 0.6, 130: -0.5})
    engine.eta[:] = plain.eta
    assert engine.scan().gains[0] == pytest.approx(plain.scan().gains[0], abs=1e-10)


@pytest.mark.parametrize("where", ["scan", "defer", "apply"])
def test_an_interrupt_between_two_kernels_loses_no_move(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is seen between compiled calls: after any of them the table and its pending moves belong together."""
    module = pending if where == "apply" else deferred
    name = "_apply" if where == "apply" else where
    kernel = getattr(module, name)
    engine = loaded(DualTable)
    for index in (3, 77, 130, 8, 201)[: 2 * pending.PENDING_MOVES - 1 if pending.PENDING_MOVES < 4 else 3]:
        engine.move(index, 0.4)

    def interrupted(*arguments: Any) -> Any:
        kernel(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(module, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            engine.move(200, -0.2)
    np.testing.assert_allclose(engine.eta_at(np.arange(BASIS.n_states)), made(engine), rtol=0, atol=1e-12)
    engine.move(41, 0.1)
    np.testing.assert_allclose(engine.eta, made(engine), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 4, 8, 64])
def test_vectors_do_what_their_plain_definitions_say(size: int, dtype: Any) -> None:
    """move_pair and furthest, for every exchange of places, in two blocks and within one."""
    rng = np.random.default_rng(size)
    start, c, scale = rng.normal(size=2 * size).astype(dtype), dtype(0.3), dtype(0.9)
    z = np.arange(2 * size)
    for low in range(size):
        eta = start.copy()
        move_pair(eta, 0, size, size, low, c, scale)
        np.testing.assert_allclose(eta, scale * (start + c * start[z ^ (size + low)]), rtol=0, atol=1e-6)
        if low:
            eta = start.copy()
            move_pair(eta, size, size, size, low, c, scale)
            np.testing.assert_allclose(eta[size:], (scale * (start + c * start[z ^ low]))[size:], rtol=0, atol=1e-6)
            assert (eta[:size] == start[:size]).all()
    lanes, zeros = np.empty(deferred.LANES, dtype), np.zeros(deferred.LANES, dtype)
    assert deferred.furthest(start[:size], start[size:], lanes) == np.abs(start[:size] - start[size:]).max()
    assert deferred.furthest(start[:size], zeros, lanes) == np.abs(start[:size]).max()
    if size >= 8:
        eta = start.copy()
        _exchange_plain(eta, 0, size, c, scale, 5)
        np.testing.assert_allclose(eta[:8], (scale * (start + c * start[z ^ (size + 5)]))[:8], rtol=0, atol=1e-6)


@pytest.mark.parametrize("floor", [-5.0, -np.inf])
def test_a_floor_below_zero_keeps_every_candidate(floor: float) -> None:
    """As many candidates, and the same best one, as where nothing is pending."""
    engine, plain = loaded(DualTable), loaded(Enumeration)
    for index in (3, 77, 130):
        found, expected = engine.move(index, 0.2, floor), plain.move(index, 0.2, floor)
        assert len(found.indices)
        assert found.gains.max() == pytest.approx(expected.gains.max(), abs=1e-9)
