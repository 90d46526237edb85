"""Fixtures for all tests."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import signal
import zlib
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
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What one process compiles, the other one waits for and loads from the cache they share, instead of compiling it.

    Numba stays unimported until the first kernel is needed, as for a user.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ or os.name != "posix":
        yield
        return
    from fullspan.model.algebra import jit

    file = os.open(tmp_path_factory.getbasetemp().parent / "compiling", os.O_RDWR | os.O_CREAT)
    at_first = jit._spare_the_collector

    @functools.cache
    def prepare() -> None:
        at_first()
        _compile_in_turn(file)

    jit._spare_the_collector = prepare
    yield


def _compile_in_turn(file: int) -> None:
    """Lock one byte of the file, which stands for a kernel and its types, while these are compiled.

    Kernels call each other in one direction, so that no two processes wait for each other; where bytes coincide and
    they would, the system refuses the lock, and both compile.
    """
    import fcntl

    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compile_here = Dispatcher.compile

    def compile_once(self: Any, sig: Any) -> Any:
        place = zlib.crc32(f"{self.py_func.__module__}.{self.py_func.__qualname__}{sig}".encode())
        with global_compiler_lock:  # first: locks of files do not tell the threads of a process apart
            with contextlib.suppress(OSError):
                fcntl.lockf(file, fcntl.LOCK_EX, 1, place)
            try:
                return compile_here(self, sig)
            finally:
                with contextlib.suppress(OSError):
                    fcntl.lockf(file, fcntl.LOCK_UN, 1, place)

    Dispatcher.compile = compile_once


@pytest.fixture(scope="session", autouse=True)
def heard_interrupts() -> Iterator[None]:
    """Ctrl-C is heard by the tests and the commands they start, also where the suite runs in the background of a shell.

    Such a shell has its jobs ignore interrupts, and what is ignored stays so in every child.
    """
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, old)
