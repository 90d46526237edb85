"""A process that does jobs one after the other and is killed when one takes too long: ``-m fullspan.bench.limited``.

Jobs come in and outcomes go out as pickles, between a process and its own child only. The child leads a group of
processes, so that what it has started itself goes with it, and Ctrl-C does not reach it: fits that would end early and
well are not taken for whole ones. When the process that gives the jobs is gone, however it ended, the group ends too.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import select
import signal
import subprocess
import sys
import threading
from typing import Any, Self

from fullspan.bench.density_fold import Job, Outcome, done
from fullspan.errors import FullspanError


class Worker:
    """Does jobs in a process of its own, which is started when it is needed, and again after one was stopped."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def do(self, job: Job, limit: float | None) -> Outcome:
        """The outcome of a job; a reason to decline if it takes more than ``limit`` seconds, or was killed.

        Raises
        ------
        FullspanError : the process failed by a fault of its own, which it has printed.
        """
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        pickle.dump(job, process.stdin)
        process.stdin.flush()
        timeout = None if limit is None or limit > threading.TIMEOUT_MAX else limit
        ready, _, _ = select.select([process.stdout], [], [], timeout)
        if not ready:
            self.stop()
            return Outcome(declined=f"more than {limit:g} s for a fold", notes={"limit": limit})
        try:
            outcome: Outcome = pickle.load(process.stdout)
        except EOFError:
            return self._ended(job, process.wait())
        return outcome

    def _ended(self, job: Job, code: int) -> Outcome:
        self.stop()
        if code >= 0:
            raise FullspanError(f"{job.method} failed on {job.path.stem}, as told above; --method leaves it out")
        return Outcome(declined=f"its process was ended by signal {-code}" + (", out of memory?" if code == -9 else ""))

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.stop()  # it was killed between two jobs
        if self._process is None:
            command = [sys.executable, "-m", "fullspan.bench.limited"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
            assert self._process.stdout is not None
            try:
                pickle.load(self._process.stdout)  # a word when everything is imported, which no job has to pay for
            except EOFError as error:
                self.stop()
                raise FullspanError("the process that learns could not be started, as told above") from error
        return self._process

    def stop(self) -> None:
        """End the process and all that it has started."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self._process = None


def main() -> None:
    """Do jobs until there are no more; what libraries print goes to standard error."""
    out: Any = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    jobs = queue.SimpleQueue[Job]()
    threading.Thread(target=_receive, args=(jobs,), daemon=True).start()
    answer: Outcome | str = "ready"
    with contextlib.suppress(BrokenPipeError):
        while True:
            pickle.dump(answer, out)
            out.flush()
            answer = done(jobs.get())


def _receive(jobs: queue.SimpleQueue[Job]) -> None:
    """Take jobs as they come; when the giver is gone, end this process with all that it has started."""
    with contextlib.suppress(EOFError):
        while True:
            jobs.put(pickle.load(sys.stdin.buffer))
    with contextlib.suppress(ProcessLookupError):
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main()
