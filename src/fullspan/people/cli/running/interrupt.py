"""Ctrl-C that cannot get lost.

C code that runs Python, such as the import of an extension module, may drop a KeyboardInterrupt raised in it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


class Interrupts:
    """Remembers that Ctrl-C was pressed, and whether the fit had made a step before."""

    def __init__(self) -> None:
        self.pressed = self.moved = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.pressed = True
        raise KeyboardInterrupt

    def check(self) -> None:
        """Raise the KeyboardInterrupt once more, if there was one."""
        if self.pressed:
            raise KeyboardInterrupt

    def follow(self, step: Any) -> None:
        """Check at every step of a fit, and between phases (``step`` is None) until the first step is made.

        After that a fit that was interrupted has a model to keep, which is finished in peace.
        """
        if step is not None or not self.moved:
            self.check()
        self.moved = self.moved or step is not None


@contextmanager
def remembered() -> Iterator[Interrupts]:
    """Remember interrupts inside the block; the old handler comes back after it.

    Outside the main thread, where none can be set, or where interrupts are ignored, the handler stays as it is.
    """
    interrupts = Interrupts()
    old = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or old in (None, signal.SIG_IGN):
        yield interrupts
        return
    signal.signal(signal.SIGINT, interrupts)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, old)
