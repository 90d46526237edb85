"""The time of an average: the fits may take a part of it, other candidates what is left."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from fullspan.errors import FullspanError

FITS_SHARE = 0.5
"""Part of the time after which no fit of a sample goes on."""


class TimeOver(Exception):
    """There is no time left for a candidate."""


@dataclass
class Timer:
    """Seconds since it was made, against a limit.

    Attributes
    ----------
    max_seconds : the limit; None for no limit.
    cut : whether something was left out because the time was over.
    """

    max_seconds: float | None = None
    cut: bool = field(default=False, init=False)
    _began: float = field(default_factory=lambda: time.perf_counter(), init=False)

    def __post_init__(self) -> None:
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise FullspanError(f"max_seconds is {self.max_seconds!r}; a positive number, or None for no limit")

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return time.perf_counter() - self._began

    def over(self, part: float = 1.0) -> bool:
        """Whether this part of the time has passed; whoever asks leaves something out if it has."""
        late = self.max_seconds is not None and self.seconds > part * self.max_seconds
        self.cut = self.cut or late
        return late
