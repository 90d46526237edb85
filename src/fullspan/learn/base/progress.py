"""One event for every step of every learner, one history of them, one rule for stopping.

A learner calls :meth:`History.record` after each step. A watcher, if there is one, gets the event at once; it may raise
:class:`Interrupted`, and a person may press Ctrl-C. Either ends the fit, and the best result so far is kept: learners
write ``except STOPPED``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fullspan.arrays import Array
from fullspan.model.fitted import Fitted
from fullspan.model.record import Step


class Interrupted(Exception):
    """Raised by a watcher to end a fit; the best result so far is kept."""


STOPPED = (KeyboardInterrupt, Interrupted)
"""What ends a fit early, for ``except``."""


@dataclass(frozen=True)
class Progress(Step):
    """A step as it happens; ``snapshot()`` builds the best model so far, where the learner can."""

    snapshot: Callable[[], Fitted] | None = field(default=None, compare=False)


Watch = Callable[[Progress], None]


class History:
    """The steps of a fit, reported to ``watch`` as they happen.

    Parameters
    ----------
    started : ``time.perf_counter()`` at the start of the fit; now by default.
    """

    def __init__(self, watch: Watch | None = None, started: float | None = None) -> None:
        self.watch, self.steps = watch, list[Step]()
        self.started = time.perf_counter() if started is None else started

    @property
    def seconds(self) -> float:
        """Since the start of the fit."""
        return time.perf_counter() - self.started

    def is_late(self, max_seconds: float | None) -> bool:
        """Whether the fit has taken longer than a limit; None for none."""
        return max_seconds is not None and self.seconds > max_seconds

    def record(
        self,
        move: str,
        n_terms: int,
        cost: float,
        words: str = "",
        snapshot: Callable[[], Fitted] | None = None,
    ) -> None:
        """Store a step and report it."""
        step = Step(move, n_terms, cost, self.seconds, words)
        # The steps stay with the fitted model: they must not hold a snapshot, which holds the learner's tables.
        self.steps.append(step)
        self.report(step, snapshot)

    def refit(self, theta: Array, value: float, violation: float) -> None:
        """Store a step of a solver: what its ``watch`` is called with."""
        self.record("refit", len(theta), value)

    def report(self, step: Step, snapshot: Callable[[], Fitted] | None = None) -> None:
        """Report a step without storing it."""
        if self.watch is not None:
            self.watch(Progress(step.move, step.n_terms, step.cost, step.seconds, step.words, snapshot))
