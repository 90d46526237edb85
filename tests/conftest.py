"""Fixtures for all tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def shared_data() -> Callable[[str], Path]:
    """Path of a real data set kept beside the project; the test is skipped where there is none."""

    def find(name: str) -> Path:
        if not (path := _DATA / name).exists():
            pytest.skip(f"needs the data set {name}, which is not kept in this project")
        return path

    return find
