"""Progress of a long fit: one live line on a terminal, one live cell in a notebook, plain lines in a log file."""

from __future__ import annotations

import html
import sys
import time
from typing import TYPE_CHECKING, Any, Protocol, TextIO

if TYPE_CHECKING:
    from fullspan.model.fitted import StepLike

TERMINAL_SECONDS, NOTEBOOK_SECONDS, LOG_SECONDS = 0.1, 0.25, 5.0
"""Least time between two reports."""


class Place(Protocol):
    """Where progress is told."""

    live: bool
    interval: float

    def write(self, line: str) -> None:
        """Tell how far it is; in a live place this replaces the line before."""

    def wipe(self) -> None:
        """Leave nothing behind, where that is possible."""


class Terminal:
    """One line that is written over."""

    def __init__(self, stream: TextIO) -> None:
        self.live, self.interval = True, TERMINAL_SECONDS
        self.stream, self._width = stream, 0

    def write(self, line: str) -> None:
        """See :class:`Place`."""
        self.stream.write("\r" + line.ljust(self._width))
        self.stream.flush()
        self._width = len(line)

    def wipe(self) -> None:
        """See :class:`Place`."""
        if self._width:
            self.stream.write("\r" + " " * self._width + "\r")
            self.stream.flush()
            self._width = 0


class Log:
    """Whole lines, seldom."""

    def __init__(self, stream: TextIO) -> None:
        self.live, self.interval = False, LOG_SECONDS
        self.stream = stream

    def write(self, line: str) -> None:
        """See :class:`Place`."""
        self.stream.write(line + "\n")
        self.stream.flush()

    def wipe(self) -> None:
        """Lines of a log stay."""


class Notebook:
    """One output of the running cell that is replaced in place."""

    def __init__(self) -> None:
        self.live, self.interval = True, NOTEBOOK_SECONDS
        self._handle: Any = None

    def write(self, line: str) -> None:
        """See :class:`Place`."""
        self._show(f"<code>{html.escape(line)}</code>")

    def wipe(self) -> None:
        """See :class:`Place`."""
        if self._handle is not None:
            self._show("")

    def _show(self, text: str) -> None:
        from IPython.display import HTML, display

        if self._handle is None:
            self._handle = display(HTML(text), display_id=True)
        else:
            self._handle.update(HTML(text))


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


class Reporter:
    """Tells how far a fit is; call it with each step, and :meth:`close` it at the end.

    Nothing is written before the first interval has passed, so that a quick fit stays silent.

    Parameters
    ----------
    stream : a terminal or file; the cell of a notebook if there is one, else standard error, by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.place: Place
        if stream is None and in_notebook():
            self.place = Notebook()
        else:
            out = sys.stderr if stream is None else stream
            self.place = Terminal(out) if out.isatty() else Log(out)
        self.interval = self.place.interval
        self._last = time.monotonic()

    def say(self, text: str) -> None:
        """Say what is going on, where that can be taken back."""
        if self.place.live:
            self.place.write(text)

    def __call__(self, progress: StepLike) -> None:
        now = time.monotonic()
        if now - self._last >= self.interval:
            self._last = now
            expected = getattr(progress, "expected", None)
            of = "" if expected is None else f" of about {expected:.1f} s"
            words = getattr(progress, "words", "") or f"{progress.n_terms} terms  cost {progress.cost:.5f} nats/row"
            self.place.write(f"{progress.seconds:6.1f} s{of}  {progress.move:<7}  {words}")

    def models(self, done: int, n: int, seconds: float) -> None:
        """Tell how many of ``n`` models are done."""
        now = time.monotonic()
        if now - self._last >= self.interval:
            self._last = now
            self.place.write(f"{seconds:6.1f} s  {done:,} of {n:,} models")

    def close(self) -> None:
        """Wipe the live line."""
        self.place.wipe()
