"""A mixture of sparse models: a hidden variable with k levels, each with a model of its own.

p(x) = sum_h pi_h p_h(x)

A component is a normalised factor graph, ``p_h(x) = exp( sum_f g_hf(x_f) )``, a tree of hidden nodes, or a set of trees
of one shape; or whatever else keeps to :class:`fullspan.model.record.Component`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.errors import FullspanError
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.graph import FactorGraph
from fullspan.model.record import Component, FitRecord

_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Mixture:
    """Shares (k,) that sum to 1, and as many normalised components over the same variables.

    Raises
    ------
    FullspanError : the shares are no probabilities, or the components do not fit them.

    Examples
    --------
    >>> space = Space.of_cards((2,))
    >>> parts = tuple(FactorGraph(space, ((0,),), (np.log([p, 1 - p]),)) for p in (0.2, 0.6))
    >>> np.exp(Mixture(space, np.array([0.5, 0.5]), parts).log_prob([[0]])).round(3).tolist()
    [0.4]
    """

    kind: ClassVar[str] = "mixture"
    space: Space
    shares: Array
    components: tuple[Component, ...]

    def __post_init__(self) -> None:
        shares = np.array(self.shares, dtype=np.float64)
        if shares.shape != (len(self.components),) or not len(shares):
            raise FullspanError(f"{len(self.components)} components need as many shares; the shape is {shares.shape}")
        if not ((shares > 0).all() and abs(shares.sum() - 1) <= _TOLERANCE):
            raise FullspanError("the shares of a mixture are positive and sum to 1")
        if any(one.space.cards != self.space.cards for one in self.components):
            raise FullspanError("a component of the mixture is over other variables")
        shares.flags.writeable = False
        object.__setattr__(self, "shares", shares)

    @classmethod
    def of_average(cls, model: AveragedLogLinear) -> Mixture:
        """The parts of an average as components; a constant factor holds each one's ``-log Z``."""
        space, found = model.space, list[Component]()
        for _, part in model.parts:
            graph = FactorGraph.of_loglinear(part)
            constant = np.full(space.cards[0], -part.log_z)
            found.append(FactorGraph(space, (*graph.scopes, (0,)), (*graph.tables, constant)))
        found += [component for _, component in model.others]
        return cls(space, np.array([share for share, _ in (*model.parts, *model.others)]), tuple(found))

    @property
    def log_z(self) -> float:
        """0: the components are normalised."""
        return 0.0

    @property
    def width(self) -> int:
        """Most variables of a factor, less one."""
        return max(one.width for one in self.components)

    @property
    def n_parameters(self) -> int:
        """Table entries of all components, and the shares but one."""
        return sum(one.n_parameters for one in self.components) + len(self.shares) - 1

    @property
    def approach(self) -> str:
        """How the model does without the table of all states, in words."""
        return f"a mixture of {len(self.shares)} components, width {self.width}"

    def reordered(self, order: Sequence[int]) -> Mixture:
        """The same mixture of the variables in another order."""
        components = tuple(graph.reordered(order) for graph in self.components)
        return Mixture(self.space.reordered(order), self.shares, components)

    def joint(self, states: Any) -> Array:
        """``log pi_h + log p_h(x)`` of complete states (m, n) -> (m, k)."""
        return np.stack([one.log_weight(states) for one in self.components], axis=1) + np.log(self.shares)

    def log_prob(self, states: Any) -> Array:
        """``log p(x)`` of complete states (m, n) -> (m,), in nats."""
        return np.asarray(np.logaddexp.reduce(self.joint(states), axis=1))


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedMixture(FitRecord[Mixture]):
    """A mixture together with what was learned about it.

    Attributes
    ----------
    log_likelihood : mean over the rows learned from, in nats.
    validation : the same over the rows held out, NaN without any.

    And those of :class:`fullspan.model.record.FitRecord`.
    """

    log_likelihood: float
    validation: float

    def reordered(self, order: Sequence[int]) -> FittedMixture:
        """The same fit of the variables in another order."""
        return replace(self, model=self.model.reordered(order))
