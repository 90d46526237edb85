"""A process that answers one request after another, and may be killed when one takes too long.

The process leads a group of its own, so that what it has started itself goes with it, and Ctrl-C does not reach it: a
fit that Ctrl-C ended early and well would be taken for a whole one. When the process that asks is gone, however it
ended, the group ends too.
"""

from __future__ import annotations

import contextlib
import multiprocessing as mp
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from fullspan.errors import FullspanError

Answer = Callable[[Any], Any]
"""From a request to its answer; both travel as pickles, between a process and its own child only."""


class TookTooLong(Exception):
    """The process did not answer in time."""


class Ended(Exception):
    """The process ended instead of answering; ``code`` is its exit status, below 0 for a signal."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the process ended with {code}")
        self.code = code


class Worker:
    """Answers requests in a process of its own, which is started when needed, and again after it ended.

    Parameters
    ----------
    make : called once in the process; returns what answers. It and its arguments must be importable there.
    """

    def __init__(self, make: Callable[..., Answer], *arguments: Any) -> None:
        self._make, self._arguments = make, arguments
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._is_ready = False

    @property
    def pid(self) -> int | None:
        """Of the process, if there is one."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process, if there is none, without waiting for it."""
        if self._process is not None and not self._process.is_alive():
            self.stop()
        if self._process is None:
            context = mp.get_context("spawn")
            self._connection, theirs = context.Pipe()
            arguments = (theirs, self._make, self._arguments)
            self._process = context.Process(target=_serve, args=arguments, daemon=True)
            self._process.start()
            # Our copy of the child's end: while it is open, the child's death would not be seen as the end of the pipe.
            theirs.close()
            self._is_ready = False

    def ready(self, seconds: float | None = None) -> None:
        """Wait until the process can answer.

        Raises
        ------
        FullspanError : what ``make`` said.
        TookTooLong : it was not ready in time.
        Ended : it ended; what went wrong is printed.
        """
        self.start()
        if not self._is_ready:
            error = self._received(seconds)
            if error is not None:
                raise FullspanError(error)
            self._is_ready = True

    def ask(self, request: Any, seconds: float | None = None) -> Any:
        """The answer to a request; the time to start does not count.

        Raises
        ------
        TookTooLong : there was none after ``seconds``; the process is still at work until it is stopped.
        Ended : the process ended.
        """
        self.ready()
        assert self._connection is not None
        self._connection.send(request)
        return self._received(seconds)

    def _received(self, seconds: float | None) -> Any:
        assert self._connection is not None
        assert self._process is not None
        # A longer time-out is an error in Python, and means the same.
        forever = seconds is None or seconds > threading.TIMEOUT_MAX
        try:
            if not self._connection.poll(None if forever else seconds):
                raise TookTooLong
            return self._connection.recv()
        except (EOFError, OSError):
            self._process.join()
            raise Ended(self._process.exitcode or 0) from None

    def stop(self) -> None:
        """End the process and all that it has started."""
        if self._process is None or self._connection is None:
            return
        with contextlib.suppress(ProcessLookupError, AttributeError):
            os.killpg(self._process.pid or 0, signal.SIGKILL)
        self._process.kill()  # before it leads a group
        self._process.join()
        self._connection.close()
        self._process = self._connection = None


def _serve(connection: Connection, make: Callable[..., Answer], arguments: tuple[Any, ...]) -> None:
    """The life of the process: make what answers, then answer until the other end is gone."""
    if hasattr(os, "setsid"):
        # A group of its own, so that one signal ends it with all that it has started.
        os.setsid()
    # Ctrl-C in a terminal goes to all processes in the foreground; whoever asks decides what becomes of this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(sys.stderr.fileno(), 1)  # what libraries print is no answer of a command
    requests = queue.SimpleQueue[Any]()
    # A thread, since the end of the asker must be noticed while an answer is being worked out.
    threading.Thread(target=_receive, args=(connection, requests), daemon=True).start()
    try:
        answer = make(*arguments)
    except (FullspanError, OSError) as error:
        connection.send(str(error))
        return
    with contextlib.suppress(BrokenPipeError):
        connection.send(None)
        while True:
            connection.send(answer(requests.get()))


def _receive(connection: Connection, requests: queue.SimpleQueue[Any]) -> None:
    """Take requests as they come; when the asker is gone, end this process with all that it has started."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            requests.put(connection.recv())
    with contextlib.suppress(ProcessLookupError, AttributeError):
        os.killpg(os.getpid(), signal.SIGKILL)
    # Where groups cannot be killed; without cleaning up, since nobody is there to read what is left.
    os._exit(1)
