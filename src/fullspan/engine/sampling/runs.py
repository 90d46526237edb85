"""What runs of annealing say together: log Z, its error, and whether more steps are needed.

No run is believed alone, since an important valley that hardly any chain finds is missed by the average of the weights,
and by its error too. A run of half the steps goes before; half the distance between the two counts as a further error,
beside the one that the weights of the last run show. If no number of steps is given, runs of twice the steps follow,
until two agree within twice their errors and the last one has a small error, or the limit is reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from fullspan.arrays import Array
from fullspan.errors import require_whole
from fullspan.model.estimate import Estimate, log_mean

STEPS, MAX_STEPS = 1_600, 25_600
_ERROR = 0.1
"""Error of log Z up to which the steps are not doubled: beyond, it is not well known itself."""


@dataclass(frozen=True)
class Annealed:
    """What annealing found.

    Attributes
    ----------
    log_weights : (chains,), each of them ``exp`` an unbiased estimate of Z.
    steps : temperatures of this run.
    before : what the run before, with half the steps, has found; None if this is the first.
    """

    log_weights: Array
    steps: int
    before: Annealed | None = None

    @property
    def alone(self) -> Estimate:
        """``log mean w`` of this run; the error is that of the mean relative to it, by the delta method."""
        return log_mean(self.log_weights)

    @property
    def apart(self) -> float:
        """Distance from the run before; 0 if there was none."""
        return 0.0 if self.before is None else abs(self.alone.value - self.before.alone.value)

    @property
    def log_z(self) -> Estimate:
        """``log mean w``; half the distance from the run before is part of the error."""
        found = self.alone
        return replace(found, standard_error=math.hypot(found.standard_error, self.apart / 2))

    @property
    def settled(self) -> bool:
        """Whether the error is small, and this run and the one before agree within twice their errors."""
        if self.before is None:
            return False
        return self.log_z.error <= _ERROR and self.apart <= 2 * math.hypot(self.alone.error, self.before.alone.error)


def annealed_runs(
    run: Callable[[int], Array], chains: int, steps: int | None = None, max_steps: int = MAX_STEPS
) -> Annealed:
    """Runs of annealing, the last of ``steps`` steps or, if none are given, of as many as are needed.

    Parameters
    ----------
    run : the log weights (chains,) that a run of so many steps ends with.

    Raises
    ------
    FullspanError : no whole numbers, fewer than two chains, which tell no error, or no step.
    """
    require_whole(2, chains=chains)
    require_whole(1, max_steps=max_steps, steps=1 if steps is None else steps)

    def go(number: int, before: Annealed | None) -> Annealed:
        return Annealed(run(number), number, None if before is None else replace(before, before=None))

    if steps is not None:
        return go(steps, go((steps + 1) // 2, None))
    number = min(STEPS, (max_steps + 1) // 2)
    found = go(number, None)
    while found.before is None or (not found.settled and 2 * number <= max_steps):
        number = min(2 * number, max_steps)
        found = go(number, found)
    return found
