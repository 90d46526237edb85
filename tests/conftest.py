"""Fixtures for all tests."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skipping import summary

# Two processes run the tests. Threads that wait for each other by spinning would take the cores from the other one.
os.environ.setdefault("GOMP_SPINCOUNT", "0")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test named after an address in memory: two processes would call it by two names and run nothing."""
    if moving := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"these tests have another name in every process; give them ids: {moving}")


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the thousands of tests collected, which stay to the end anyway."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say which tests did not run for want of a browser or a database server: ``-q`` shows no reasons."""
    for line in summary(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(line, yellow=True)


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
