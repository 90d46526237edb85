"""Fixtures for all tests."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
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


@pytest.fixture(scope="session", autouse=True)
def heard_interrupts() -> Iterator[None]:
    """Ctrl-C is heard by the tests and the commands they start, also where the suite runs in the background of a shell.

    Such a shell has its jobs ignore interrupts, and what is ignored stays so in every child.
    """
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, old)
