"""Plans are made, and refused, before anything is allocated."""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from fullspan.data import Empirical, Space
from fullspan.engine import memory, planner
from fullspan.engine.planner import MAX_SECONDS, Plan, plan, table_seconds
from fullspan.errors import TooLargeError
from fullspan.learn.search import Options, fit_search
from fullspan.model.algebra import Basis


def test_the_plan_counts_two_tables() -> None:
    small = plan(Basis("walsh", (2,) * 10), 100, max_memory=1 << 30)
    large = plan(Basis("walsh", (2,) * 24), 100, max_memory=1 << 30)
    assert small.dtype == np.float64
    assert large.dtype == np.float32
    assert 2 * 4 * 2**24 < large.n_bytes < 2.5 * 4 * 2**24 + (200 << 20)


def test_many_rows_need_double_precision() -> None:
    assert plan(Basis("walsh", (2,) * 20), 1e8, max_memory=1 << 30).dtype == np.float64
    assert plan(Basis("walsh", (2,) * 20), 1e8, "float32", 1 << 30).dtype == np.float32
    assert plan(Basis("walsh", (2,) * 20), 1e3, "float64", 1 << 30).dtype == np.float64


def test_forty_variables_are_refused_with_numbers_and_a_remedy_and_no_allocation() -> None:
    rows = np.random.default_rng(0).integers(2, size=(50, 40))
    data = Empirical.from_codes(rows, space=Space.of_cards((2,) * 40))
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError) as refusal:
            fit_search(data, Options(max_memory=1 << 30, basis="walsh"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    message = str(refusal.value)
    assert "2^40 states in float32 needs 8.23e+03 GiB; 1 GiB may be used" in message
    assert "the 26 with the fewest levels would fit" in message
    assert "float32 (half" not in message
    assert peak < 10 << 20


def test_the_remedy_offers_single_precision_where_it_would_help() -> None:
    with pytest.raises(TooLargeError, match=r"use dtype='float32' \(half the memory\), or keep fewer variables"):
        plan(Basis("walsh", (2,) * 24), 100, "float64", 100 << 20)


def test_sizes_that_are_no_power_of_two_are_written_out() -> None:
    with pytest.raises(TooLargeError, match="a dual table of 14,348,907 states"):
        plan(Basis("indicator", (3,) * 15), 100, max_memory=1 << 20)
    with pytest.raises(TooLargeError, match=r"a dual table of about 2\^79 states .* needs 2\^\d+ bytes"):
        plan(Basis("indicator", (3,) * 50), 100, max_memory=1 << 20)


def test_the_default_limit_is_most_of_the_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000 << 20)
    assert memory.budget() == int(0.8 * (1000 << 20))
    assert memory.budget(5) == 5
    with pytest.raises(TooLargeError, match=r"0\.781 GiB may be used"):
        planner.plan(Basis("walsh", (2,) * 28), 100)


def test_free_memory_is_the_systems_or_the_containers(tmp_path: Path) -> None:
    assert memory.available_bytes() > 0
    assert memory._container_bytes(tmp_path) is None
    (tmp_path / "memory.current").write_text("300\n")
    for limit, free in (("1000", 700), ("200", 0), ("max", None)):
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        assert memory._container_bytes(tmp_path) == free


def test_few_rows_take_at_most_a_gibibyte_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit grows with the rows, never beyond what is free; a limit that is given counts as it is."""
    monkeypatch.setattr(memory, "available_bytes", lambda: 10 << 30)
    assert memory.budget_for(148) == memory.budget_for(9_999) == 1 << 30
    assert memory.budget_for(40_000) == 40_000 * (100 << 10)
    assert memory.budget_for(10**9) == memory.budget() == 8 << 30
    assert memory.budget_for(148, max_memory=20 << 30) == 20 << 30
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 29)
    assert memory.budget_for(148) == memory.budget() < 1 << 29


def test_the_predicted_seconds_grow_with_states_and_rows() -> None:
    """Within a factor of five of what was measured: 26 columns 5.5 s, 30 columns 103 s, 100,000 rows, idle cores."""

    def seconds(cards: tuple[int, ...], rows: float, device: str = "cpu") -> float:
        return table_seconds(Plan(math.prod(cards), np.dtype(np.float32), 0, device), cards, rows)  # type: ignore[arg-type]

    assert 5.5 / 5 < seconds((2,) * 26, 1e5) < 5.5 * 5
    assert 103 / 5 < seconds((2,) * 30, 1e5) < 103 * 5
    assert seconds((2,) * 24, 1e6) < MAX_SECONDS < seconds((2,) * 28, 1e5)
    assert seconds((2,) * 26, 100) == seconds((2,) * 26, 1000) < seconds((2,) * 26, 10_000)
    assert seconds((3,) * 12, 100) > seconds((4,) * 9 + (2,), 100)
    assert seconds((2,) * 34, 1e5, "cuda") < MAX_SECONDS
