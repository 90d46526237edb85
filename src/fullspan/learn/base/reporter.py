"""Progress of a long fit: one live line on a terminal, one live cell in a notebook, plain lines in a log file."""

from __future__ import annotations

import contextlib
import html
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

if TYPE_CHECKING:
    from fullspan.model.record import StepLike

TERMINAL_SECONDS, NOTEBOOK_SECONDS, LOG_SECONDS = 0.1, 0.25, 5.0
"""Least time between two reports."""
LIVE_PATIENCE, LOG_PATIENCE = 0.5, 60.0
"""Seconds after which a live line is written again without news, and most seconds between such lines of a log."""
PREPARING = "preparing (code is compiled on first use)"
MINING = "finding frequent patterns (code is compiled on first use)"
_JOIN_SECONDS = 2.0
Follower = Callable[["StepLike | None"], None]
_FOLLOWERS: ContextVar[tuple[Follower, ...]] = ContextVar("followers", default=())


class Place(Protocol):
    """Where progress is shown."""

    live: bool
    interval: float

    def write(self, line: str) -> None:
        """Show how far the fit is; in a live place this replaces the line before."""

    def wipe(self) -> None:
        """Leave nothing behind, where that is possible."""


class Terminal:
    """One line that is written over."""

    def __init__(self, stream: TextIO) -> None:
        self.live, self.interval = True, TERMINAL_SECONDS
        self.stream, self._width = stream, 0

    def write(self, line: str) -> None:
        """See :class:`Place`."""
        line = line[: shutil.get_terminal_size().columns - 1]  # a line that wraps cannot be written over
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


class Nowhere:
    """Shows nothing, for a fit that is followed in silence."""

    def __init__(self) -> None:
        self.live, self.interval = False, LOG_SECONDS

    def write(self, line: str) -> None:
        """See :class:`Place`."""

    def wipe(self) -> None:
        """See :class:`Place`."""


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
    """Shows the progress of a fit; call it with each step, :meth:`say` what happens between steps, and close it.

    A thread rewrites the line with the elapsed time when nothing was reported for half a second: the table is being
    read, code is being compiled, or the learner is silent. So the line moves from the first second on. A log gets a
    line every 5 s at most; without news they come at increasing distances, up to a minute. No total time is shown: it
    cannot be predicted within a factor of two before the fit.

    The fit goes on whatever happens to the stream: once writing fails, nothing more is shown, and while the thread is
    blocked in writing, nobody waits for it.

    Parameters
    ----------
    stream : a terminal or file; the cell of a notebook if there is one, else standard error, by default.
    clock : monotonic seconds.
    beats : whether to start the thread, which calls :meth:`beat`.
    place : where to show it, instead of a stream.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        beats: bool = True,
        place: Place | None = None,
    ) -> None:
        self.place: Place
        self._followers = _FOLLOWERS.get()
        if place is not None:
            self.place = place
        elif stream is None and in_notebook():
            self.place = Notebook()
        else:
            out = sys.stderr if stream is None else stream
            self.place = Terminal(out) if out.isatty() else Log(out)
        self.interval, self._clock = self.place.interval, clock
        self._last = clock()
        self._line, self._pause = _phase(PREPARING, self._last), self._patience
        self._lock, self._closed, self._gone = threading.Lock(), threading.Event(), False
        self._thread = threading.Thread(target=self._run, name="fullspan-progress", daemon=True) if beats else None
        if self._thread is not None:
            self._thread.start()

    def say(self, text: str) -> None:
        """Show what is happening, with the seconds it takes: at once on a live line, in a log if it lasts."""
        for follow in self._followers:
            follow(None)
        now = self._clock()
        self._news(_phase(text, now))
        if self.place.live:
            self._write(now)

    def __call__(self, progress: StepLike) -> None:
        for follow in self._followers:
            follow(progress)
        words = getattr(progress, "words", "") or f"{progress.n_terms} terms  cost {progress.cost:.5f} nats/row"
        self._report(progress.seconds, f"{progress.move:<7}  {words}")

    def models(self, done: int, n: int, seconds: float) -> None:
        """Show how many of ``n`` models are done."""
        self._report(seconds, f"{done:,} of {n:,} models")

    def beat(self) -> None:
        """Rewrite the line with the elapsed time, unless it is recent."""
        now = self._clock()
        if self._closed.is_set() or now - self._last < self._pause:
            return
        self._write(now)
        self._pause = self._pause if self.place.live else min(2 * self._pause, LOG_PATIENCE)

    def close(self) -> None:
        """End the thread and wipe the live line; a thread that is blocked in writing is left behind."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join(_JOIN_SECONDS)
        self._shown(self.place.wipe)

    @property
    def _patience(self) -> float:
        """Seconds without news after which the line is rewritten."""
        return LIVE_PATIENCE if self.place.live else self.interval

    def _report(self, seconds: float, words: str) -> None:
        at = self._clock()
        self._news(lambda now: f"{seconds + now - at:6.1f} s  {words}")
        if at - self._last >= self.interval:
            self._write(at)

    def _news(self, line: Callable[[float], str]) -> None:
        self._line, self._pause = line, self._patience

    def _write(self, now: float) -> None:
        self._last = now
        self._shown(lambda: self.place.write(self._line(now)))

    def _shown(self, action: Callable[[], None]) -> None:
        """Write, unless the other thread is writing, or the terminal or notebook is gone."""
        if self._gone or not self._lock.acquire(blocking=False):
            return
        try:
            action()
        except Exception:
            self._gone = True  # the fit itself must not fail for that
        finally:
            self._lock.release()

    def _run(self) -> None:
        while not self._gone and not self._closed.wait(LIVE_PATIENCE / 2):
            self.beat()


def _phase(text: str, begun: float) -> Callable[[float], str]:
    """The line of something that has gone on since ``begun``."""
    return lambda now: f"{text} ... {int(now - begun)} s"


def reading(table: Any) -> str:
    """What to show while a table is read."""
    return f"reading {Path(table).name}" if isinstance(table, str | os.PathLike) else "reading the table"


def reported(*, verbose: bool) -> contextlib.AbstractContextManager[Reporter | None]:
    """A reporter on standard error or in the notebook's cell, closed at the end of the block.

    Without ``verbose`` it shows nothing; it is None then, unless somebody follows the fit.
    """
    if verbose:
        return contextlib.closing(Reporter())
    return contextlib.closing(Reporter(beats=False, place=Nowhere())) if is_followed() else contextlib.nullcontext()


@contextlib.contextmanager
def following(follow: Follower) -> Iterator[None]:
    """Call ``follow`` with every step of the fits in the block, and with None when a new phase begins.

    It is called before the step is shown, and may raise KeyboardInterrupt to stop the fit. Who follows a fit reports
    how it ended; the estimator itself then prints its progress only.
    """
    token = _FOLLOWERS.set((*_FOLLOWERS.get(), follow))
    try:
        yield
    finally:
        _FOLLOWERS.reset(token)


def is_followed() -> bool:
    """Whether the fit is inside a block of :func:`following`."""
    return bool(_FOLLOWERS.get())


def announce(watch: Any, text: str = PREPARING) -> None:
    """Show what is happening, if ``watch`` is a reporter and not None or a plain function."""
    if (say := getattr(watch, "say", None)) is not None:
        say(text)
