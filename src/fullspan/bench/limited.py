"""Jobs of the density benchmark in a process that is killed when one takes too long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from fullspan.bench.density_fold import Job, Outcome, done
from fullspan.errors import FullspanError
from fullspan.processes import Ended, TookTooLong, Worker


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
