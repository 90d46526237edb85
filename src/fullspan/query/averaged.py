"""Exact answers about an average of models, from one dual table and one table of probabilities.

The dual table of an average is the average of the dual tables: look-ups are those of a single model. What needs
precision of small probabilities, or many variables, is summed in the table of the mean probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.engine.memory import budget
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.mixture import Mixture
from fullspan.query.answer import Oracle
from fullspan.query.language.boxes import Codes
from fullspan.query.language.events import IMPOSSIBLE
from fullspan.query.mixture import MixtureOracle

if TYPE_CHECKING:
    from fullspan.engine.dual.distribution import Distribution
    from fullspan.engine.dual.table import DualTable
    from fullspan.model.loglinear import LogLinear


class AveragedOracle(Oracle):
    """Answers about the mean distribution of an :class:`AveragedLogLinear`; see :class:`Oracle`.

    Memory: two tables of |X| numbers in double precision, built when first asked.

    Raises
    ------
    TooLargeError : by every answer, if the tables do not fit.
    """

    model: AveragedLogLinear

    @cached_property
    def elimination(self) -> Any:
        """The table of probabilities, which answers what elimination answers for one model."""
        return self.distribution

    @cached_property
    def distribution(self) -> Distribution:
        """The mean of the members' probabilities."""
        from fullspan.engine.dual.distribution import Distribution

        return Distribution.mean_of(self.model, self.max_memory)

    @cached_property
    def table(self) -> DualTable | None:
        """The mean of the members' dual tables."""
        return self.distribution.dual_table()

    def completer(self, room: int) -> Any:
        """The table of probabilities, which weighs completions as well."""
        from fullspan.engine.dual.weighing import Weighing

        return Weighing(self.model.basis, self.log_table())

    def log_prob_of_states(self, states: NDArray[Any]) -> Array:
        """``log p`` of complete states: one look-up each."""
        return self.distribution.log_prob(states)

    def log_table(self) -> Array:
        """``log p`` of all states; -inf where that is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.distribution.p))

    @cached_property
    def may_exclude(self) -> bool:
        """Whether a state has a probability that counts as 0."""
        return float(self.distribution.p.min()) < math.exp(IMPOSSIBLE)

    def _joint_entropy(self, given: Mapping[int, Codes]) -> float:
        if not given:
            return self.distribution.entropy()
        p = self.cells(tuple(range(len(self.model.space))), {}, given, relative=False)
        return max(-float(np.sum(p * np.log(p, out=np.zeros_like(p), where=p > 0))), 0.0)


def oracle_of(model: LogLinear, max_memory: int | None = None, n_hidden: int = 0) -> Oracle:
    """What answers questions about a log-linear model or an average of such models.

    An average whose tables would not fit is asked as a mixture of its members, each by elimination.
    """
    if not isinstance(model, AveragedLogLinear):
        return Oracle(model, max_memory=max_memory, n_hidden=n_hidden)
    if not n_hidden and 16 * model.basis.n_states > budget(max_memory):
        return cast(Oracle, MixtureOracle(Mixture.of_average(model)))  # of its surface, no table of all states
    return AveragedOracle(model, max_memory=max_memory, n_hidden=n_hidden)
