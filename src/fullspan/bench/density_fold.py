"""One fold of one set by one method: learn, and score each test row once."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.bench.density_methods import Declined, Settings, all_methods
from fullspan.bench.density_sets import DataSet, read_set
from fullspan.errors import FullspanError


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
    """Log-probabilities of the test rows that say something, seconds of learning and notes; or why there are none."""

    log: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    seconds: float = 0.0
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
    start = time.perf_counter()
    try:
        learned = all_methods()[job.method](split, data.space, job.settings)
        seconds = time.perf_counter() - start
        seen = (split.test >= 0).any(axis=1)
        return Outcome(learned.log_prob(split.test[seen]), seconds, learned.notes)
    except (Declined, FullspanError) as reason:
        return Outcome(declined=str(reason))
    except MemoryError:
        return Outcome(declined="memory did not suffice")
