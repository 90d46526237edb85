"""Exact answers about an average of models, from one dual table and one table of probabilities.

The dual table of an average is the average of the dual tables: look-ups are those of a single model. What needs
precision of small probabilities, or many variables, is summed in the table of the mean probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.engine.memory import budget
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.mixture import Mixture
from fullspan.query.distribution import PAIR_WORK, Distribution, Factors
from fullspan.query.distributions.log_linear import LogLinearDistribution, reweighed
from fullspan.query.distributions.mixture import MixtureDistribution
from fullspan.query.distributions.state_table import MAX_STATES
from fullspan.query.language.boxes import Codes
from fullspan.query.language.events import IMPOSSIBLE

if TYPE_CHECKING:
    from fullspan.engine.dual.probability_table import ProbabilityTable
    from fullspan.engine.dual.table import DualTable


class AveragedDistribution(LogLinearDistribution):
    """Answers about the mean distribution of an :class:`AveragedLogLinear`; see :class:`LogLinearDistribution`.

    Memory: two tables of |X| numbers in double precision, built when first asked.

    Raises
    ------
    TooLargeError : by every answer, if the tables do not fit.
    """

    model: AveragedLogLinear
    single = False

    @classmethod
    def of(cls, fitted: Any, max_memory: int | None = None) -> Distribution:
        """By the tables of the average; where these would not fit, or not all is log-linear, as a mixture."""
        model: AveragedLogLinear = fitted.model
        if model.others or (not fitted.n_hidden and 16 * model.basis.n_states > budget(max_memory)):
            return MixtureDistribution(Mixture.of_average(model))
        return cls(model, max_memory=max_memory, n_hidden=fitted.n_hidden)

    @cached_property
    def by_table(self) -> bool:
        """An average has no other method."""
        return True

    def pairs(self, work: float = PAIR_WORK) -> Array | None:
        """By the table of all states where it is small, else as a mixture."""
        if self.model.basis.n_states > MAX_STATES and len(self.visible) == len(self.space):
            return MixtureDistribution(Mixture.of_average(self.model)).pairs(work)
        return super().pairs(work)

    @cached_property
    def elimination(self) -> Any:
        """The table of probabilities, which answers what elimination answers for one model."""
        return self.probabilities

    @cached_property
    def probabilities(self) -> ProbabilityTable:
        """The mean of the members' probabilities."""
        from fullspan.engine.dual.probability_table import ProbabilityTable

        return ProbabilityTable.mean_of(self.model, self.max_memory)

    @cached_property
    def table(self) -> DualTable | None:
        """The mean of the members' dual tables."""
        return self.probabilities.dual_table()

    def reweighed(self, factors: Factors) -> AveragedLogLinear:
        """Every member with the factors; its share changes by the mean of them under it.

        Members of an average have equal shares: here the first one is listed, and the others are its background.
        """
        means = [
            LogLinearDistribution(part, max_memory=self.max_memory).log_mean(factors) for _, part in self.model.parts
        ]
        log = np.array([math.log(share) for share, _ in self.model.parts]) + means
        shares = np.exp(log - np.logaddexp.reduce(log))
        parts = [reweighed(part, factors, mean) for (_, part), mean in zip(self.model.parts, means, strict=True)]
        first = int(shares.argmax())
        others = [
            (float(s), part) for i, (s, part) in enumerate(zip(shares, parts, strict=True)) if i != first and s > 0
        ]
        return AveragedLogLinear.of([parts[first]], others)

    def completer(self, room: int) -> Any:
        """The table of probabilities, which weighs completions as well."""
        from fullspan.engine.dual.completion import Weighing

        return Weighing(self.model.basis, self.log_table())

    def log_prob_of_states(self, states: NDArray[Any]) -> Array:
        """``log p`` of complete states: one look-up each."""
        return self.probabilities.log_prob(states)

    def log_table(self) -> Array:
        """``log p`` of all states; -inf where that is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities.p))

    @cached_property
    def may_exclude(self) -> bool:
        """Whether a state has a probability that counts as 0."""
        return float(self.probabilities.p.min()) < math.exp(IMPOSSIBLE)

    def _joint_entropy(self, given: Mapping[int, Codes]) -> float:
        if not given:
            return self.probabilities.entropy()
        p = self.cells(tuple(range(len(self.model.space))), {}, given, relative=False)
        return max(-float(np.sum(p * np.log(p, out=np.zeros_like(p), where=p > 0))), 0.0)
