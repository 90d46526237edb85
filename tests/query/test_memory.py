"""What is free is read from the system and from the container, whichever allows less."""

from __future__ import annotations

import pytest

from fullspan.engine import memory
from fullspan.errors import TooLargeError


def test_the_lower_limit_counts(monkeypatch):
    monkeypatch.setattr(memory, "_system_bytes", lambda: 5000)
    monkeypatch.setattr(memory, "_container_bytes", lambda: 3000)
    assert memory.available_bytes() == 3000
    assert memory.budget() == 2400
    assert memory.budget(77) == 77
    monkeypatch.setattr(memory, "_container_bytes", lambda: None)
    assert memory.available_bytes() == 5000
    monkeypatch.setattr(memory, "_system_bytes", lambda: None)
    assert memory.available_bytes() > 5000


def test_the_container_is_asked(tmp_path):
    assert memory._container_bytes(tmp_path) is None
    (tmp_path / "memory.current").write_text("1000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._container_bytes(tmp_path) is None
    (tmp_path / "memory.max").write_text("4000\n")
    assert memory._container_bytes(tmp_path) == 3000


def test_refusals_give_both_sizes_and_the_way_out():
    memory.require(10, 10, "a table", "use less")
    with pytest.raises(TooLargeError, match=r"a table needs 2 GiB; 1 GiB may be used; use less"):
        memory.require(2 << 30, 1 << 30, "a table", "use less")
    with pytest.raises(TooLargeError, match=r"needs 2\^100 bytes"):
        memory.require(2**100, 1, "a table", "use less")
