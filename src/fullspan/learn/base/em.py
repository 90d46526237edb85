"""The em loop of every learner: complete the data with the model, fit the model to them, and again.

    e-step   P_t     = projection of the model B_t on the distributions that agree with the data   (Byrne 1992, eq. 16)
    m-step   B_{t+1} = projection of P_t on the models

Each step lowers ``KL(P || B)``, so the observed log-likelihood never falls where both are exact. It is known after the
e-step at no cost. Where a step is inexact, or rows held out judge, it may fall: the best model met is kept.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from fullspan.learn.base.progress import STOPPED

Model = TypeVar("Model")
Data = TypeVar("Data")
Start = TypeVar("Start")


@dataclass(frozen=True)
class Expected(Generic[Data]):
    """What an e-step gives.

    Attributes
    ----------
    value : the objective of the model that made it, to be minimised: its negative observed log-likelihood, penalised.
    data : the completed data.
    violation : largest difference between expectations of the model and of the completed data, where that is known.
    slack : rounding of the value.
    """

    value: float
    data: Data
    violation: float = math.inf
    slack: float = 0.0

    def improves_on(self, other: Expected[Data]) -> bool:
        """Whether the objective is lower; where it is the same to rounding, the violation decides."""
        if self.value < other.value - other.slack:
            return True
        return self.value <= other.value + other.slack and self.violation < other.violation


class Alternation(Protocol[Model, Data]):
    """The two projections."""

    def complete(self, model: Model) -> Expected[Data]:
        """The e-step."""

    def project(self, data: Data, model: Model) -> Model:
        """The m-step: the model of the completed data, found from the one that completed them."""


@dataclass(frozen=True)
class Stop:
    """When em ends.

    Attributes
    ----------
    tol : violation at which it has converged.
    gain : drop of the objective that counts as an improvement.
    patience : steps without an improvement after which it has converged; None to look at the violation alone.
    max_iter : most steps.
    """

    tol: float = 0.0
    gain: float = 0.0
    patience: int | None = 1
    max_iter: int | None = None


@dataclass(frozen=True)
class Alternated(Generic[Model, Data]):
    """Where em ended: the best model met, its e-step, how it ended, and the objective before every step.

    ``expected`` is None if it was interrupted before the first e-step; the model is then the start.
    """

    model: Model
    expected: Expected[Data] | None
    status: str
    trace: tuple[float, ...]

    @property
    def value(self) -> float:
        """The objective of the model."""
        return math.inf if self.expected is None else self.expected.value

    @property
    def iterations(self) -> int:
        """m-steps whose model was completed."""
        return max(len(self.trace) - 1, 0)


Report = Callable[[Model, Expected[Data], int], None]
"""Called with every model, its e-step and the m-steps before it; may raise to stop."""


def alternate(
    projections: Alternation[Model, Data], start: Model, stop: Stop, report: Report[Model, Data] | None = None
) -> Alternated[Model, Data]:
    """Alternate from ``start`` until it converges, the steps are used up, or it is interrupted."""
    model, best, best_expected, status = start, start, None, "iteration limit"
    trace: list[float] = []
    mark, idle = math.inf, 0
    try:
        for done in itertools.count():
            expected = projections.complete(model)
            trace.append(expected.value)
            if best_expected is None or expected.improves_on(best_expected):
                best, best_expected = model, expected
            # Compared with the last value that counted as a gain, so that many tiny gains add up to one.
            idle = 0 if done == 0 or expected.value < mark - stop.gain else idle + 1
            mark = expected.value if idle == 0 else mark
            if report is not None:
                report(model, expected, done)
            if best_expected.violation <= stop.tol or (stop.patience is not None and idle >= stop.patience):
                status = "converged"
                break
            if stop.max_iter is not None and done >= stop.max_iter:
                break
            # The m-step starts from the model that completed the data: a few of its iterations suffice near the end.
            model = projections.project(expected.data, model)
    except STOPPED:
        status = "interrupted"
    return Alternated(best, best_expected, status, tuple(trace))


class Ended(Protocol):
    """A run of a learner: its objective and how it ended."""

    @property
    def value(self) -> float: ...
    @property
    def status(self) -> str: ...


Run = TypeVar("Run", bound=Ended)


def restarted(run: Callable[[Start], Run], starts: Iterable[Start]) -> list[Run]:
    """Runs from several starts, the best first; an interrupted one is the last that is made."""
    runs: list[Run] = []
    for start in starts:
        runs.append(run(start))
        if runs[-1].status == "interrupted":
            break
    return sorted(runs, key=lambda found: found.value)
