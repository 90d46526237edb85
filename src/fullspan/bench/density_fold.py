"""One fold of one set by one method: learn, and score each test row once."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fullspan.bench.density_methods import Declined, Settings, all_methods
from fullspan.bench.density_sets import DataSet, read_set
from fullspan.errors import FullspanError
from fullspan.processes import Ended, TookTooLong, Worker


@dataclass(frozen=True)
class Job:
    """What is to be done: the file of a set, the method, which fold of how many, and the settings."""

    path: Path
    method: str
    fold: int
    folds: int
    settings: Settings


@dataclass(frozen=True, eq=False)
class Outcome:
    """Log-probabilities of the test rows that say something, seconds of learning, by the clock and of all processors,
    the largest memory of the process so far in MiB (0 where the system does not say), and notes; or why there are none.
    """

    log: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    seconds: float = 0.0
    processor: float = 0.0
    memory: float = 0.0
    notes: dict[str, Any] = field(default_factory=dict)
    declined: str = ""


@lru_cache(maxsize=1)
def held(path: Path) -> DataSet:
    """The set in a file; the last one is kept."""
    return read_set(path)


def done(job: Job) -> Outcome:
    """Learn and score."""
    data = held(job.path)
    split = list(data.splits(job.folds, job.settings.seed))[job.fold]
    start, used = time.perf_counter(), time.process_time()
    try:
        learned = all_methods()[job.method](split, data.space, job.settings)
        seconds, used = time.perf_counter() - start, time.process_time() - used
        seen = (split.test >= 0).any(axis=1)
        return Outcome(learned.log_prob(split.test[seen]), seconds, used, _largest_memory(), learned.notes)
    except (Declined, FullspanError) as reason:
        return Outcome(declined=str(reason))
    except MemoryError:
        return Outcome(declined="memory did not suffice")


def _largest_memory() -> float:
    """Of this process so far, in MiB; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


class Limited:
    """Does jobs in a process of its own, which is started again after one was stopped."""

    def __init__(self) -> None:
        self.worker = Worker(_learner)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.worker.stop()

    def do(self, job: Job, limit: float | None) -> Outcome:
        """The outcome of a job; a reason to decline if it takes more than ``limit`` seconds, or was killed.

        Raises
        ------
        FullspanError : the process failed by a fault of its own, which it has printed.
        """
        try:
            outcome: Outcome = self.worker.ask(job, limit)
        except TookTooLong:
            self.worker.stop()
            return Outcome(declined=f"more than {limit:g} s for a fold", notes={"limit": limit})
        except Ended as end:
            self.worker.stop()
            if end.code >= 0:
                raise FullspanError(
                    f"{job.method} failed on {job.path.stem}, as printed above; --method leaves it out"
                ) from None
            reason = f"its process was ended by signal {-end.code}" + (", out of memory?" if end.code == -9 else "")
            return Outcome(declined=reason)
        return outcome


def _learner() -> Callable[[Job], Outcome]:
    """What answers in the process; its imports are paid before the first job."""
    return done
