"""The worker process: answers, time limits, processes that end, and errors at the start."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from fullspan.errors import FullspanError
from fullspan.processes import Ended, TookTooLong, Worker


def waiter(unit: float) -> Callable[[float], float]:
    """Sleeps as many units as asked, and says how many; below 0 it kills itself."""

    def answer(request: float) -> float:
        if request < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(unit * request)
        return request

    return answer


def refused(name: str) -> Callable[[float], float]:
    raise FullspanError(f"{name} cannot be opened")


@pytest.fixture
def worker() -> Iterator[Worker]:
    found = Worker(waiter, 0.001)
    yield found
    found.stop()


def test_requests_are_answered_by_one_process_until_one_takes_too_long(worker: Worker) -> None:
    """Stopping it costs the one request; the next is answered by another process."""
    assert [worker.ask(n) for n in (1, 2, 3)] == [1, 2, 3]
    first = worker.pid
    with pytest.raises(TookTooLong):
        worker.ask(60_000, 0.05)
    worker.stop()
    assert worker.pid is None
    assert worker.ask(4, float("inf")) == 4
    assert worker.pid != first


def test_a_process_that_ends_says_how_and_is_started_again(worker: Worker) -> None:
    """While it has a request, that is an error; between two requests nobody notices."""
    with pytest.raises(Ended) as end:
        worker.ask(-1)
    assert end.value.code == -signal.SIGKILL
    assert worker.ask(1) == 1
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    assert worker._process is not None
    worker._process.join(10)
    assert worker.ask(2) == 2


def test_what_cannot_be_made_is_an_error() -> None:
    worker = Worker(refused, "model.fsm")
    with pytest.raises(FullspanError, match=r"model\.fsm cannot be opened"):
        worker.ready(60.0)
    worker.stop()
