"""Progress of a long fit, told on standard error: one live line on a terminal, plain lines in a log file."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from fullspan.model.fitted import StepLike

TERMINAL_SECONDS, LOG_SECONDS = 0.1, 5.0
"""Least time between two reports on a terminal and elsewhere."""


class Reporter:
    """Tells how far a fit is; call it with each step, and :meth:`close` it at the end.

    Nothing is written before the first interval has passed, so that a quick fit stays silent.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream.isatty()
        self.interval = TERMINAL_SECONDS if self.live else LOG_SECONDS
        self._last = time.monotonic()
        self._width = 0

    def say(self, text: str) -> None:
        """Say what is going on, on a terminal only."""
        if self.live:
            self._write(text)

    def __call__(self, progress: StepLike) -> None:
        now = time.monotonic()
        if now - self._last >= self.interval:
            self._last = now
            self._write(
                f"{progress.seconds:6.1f} s  {progress.move:<7}  {progress.n_terms} terms  "
                f"cost {progress.cost:.5f} nats/row"
            )

    def models(self, done: int, n: int, seconds: float) -> None:
        """Tell how many of ``n`` models are done."""
        now = time.monotonic()
        if now - self._last >= self.interval:
            self._last = now
            self._write(f"{seconds:6.1f} s  {done:,} of {n:,} models")

    def _write(self, line: str) -> None:
        if self.live:
            self.stream.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            self.stream.write(line + "\n")
        self.stream.flush()

    def close(self) -> None:
        """Wipe the live line."""
        if self.live and self._width:
            self.stream.write("\r" + " " * self._width + "\r")
            self.stream.flush()
            self._width = 0
