"""The average of log-linear models as distributions: ``p(x) = 1/k sum_b p_b(x)``, one basis, each its own terms.

The average of distributions is the average of their dual tables, ``eta = 1/k sum_b eta_b``, for eta is linear in p. It
is no log-linear model of few terms: the weights shown are the means over the members that have the term, for people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.errors import FullspanError
from fullspan.model.loglinear import LogLinear, checked_codes
from fullspan.model.record import Component


@dataclass(frozen=True, eq=False)
class AveragedLogLinear(LogLinear):
    """The mean of k log-linear distributions.

    Parameters
    ----------
    terms : all terms that a member has.
    theta : mean weight of each over the members that have it; not the natural parameters of the average.
    log_z : 0: ``energy`` is ``-log p``.
    members : the models that are averaged, over one space and basis.
    background : further models, whose terms are not listed, each with its share of the average.
    others : further components of any kind, each with its share of the average.

    Examples
    --------
    >>> from fullspan.model.algebra.basis import Basis
    >>> from fullspan.data.space import Space
    >>> space, basis, terms = Space.of_cards((2,)), Basis("monomial", (2,)), (((0, 1),),)
    >>> odds = [LogLinear(space, basis, terms, np.log([o]), float(np.log1p(o))) for o in (1.0, 3.0)]
    >>> np.exp(AveragedLogLinear.of(odds).log_prob([[1]])).round(4).tolist()
    [0.625]
    """

    kind: ClassVar[str] = "averaged"
    members: tuple[LogLinear, ...]
    background: tuple[tuple[float, LogLinear], ...] = ()
    others: tuple[tuple[float, Component], ...] = ()

    @classmethod
    def of(
        cls,
        members: Sequence[LogLinear],
        background: Sequence[tuple[float, LogLinear]] = (),
        others: Sequence[tuple[float, Component]] = (),
    ) -> AveragedLogLinear:
        """The average of some models, which have equal shares of what the background and the others leave.

        Raises
        ------
        FullspanError : there is none, they have different variables or bases, or the shares leave nothing.
        """
        shares = [share for share, _ in (*background, *others)]
        if not (all(0.0 < share < 1.0 for share in shares) and sum(shares) < 1.0):
            raise FullspanError(f"the background has shares above 0 that sum to less than 1; given {shares}")
        if not members:
            raise FullspanError("no model was given to be averaged; at least one is needed")
        space, basis = members[0].space, members[0].basis
        if any(m.space != space or m.basis != basis for m in [*members, *(model for _, model in background)]):
            raise FullspanError("models of different variables or bases were given; the average needs one basis")
        if any(other.space != space for _, other in others):
            raise FullspanError("a component of the average is over other variables")
        terms = tuple(sorted({term for m in members for term in m.terms}, key=basis.index))
        place = {term: i for i, term in enumerate(terms)}
        which = np.array([place[term] for m in members for term in m.terms], dtype=np.int64)
        weights = np.concatenate([m.theta for m in members]) if len(which) else np.zeros(0)
        counts = np.bincount(which, minlength=len(terms))
        theta = np.bincount(which, weights, minlength=len(terms)) / np.maximum(counts, 1)
        return cls(space, basis, terms, theta, 0.0, tuple(members), tuple(background), tuple(others))

    def reordered(self, order: Sequence[int]) -> AveragedLogLinear:
        """The same average of the variables in another order."""
        models = {id(model): model for _, model in self.parts}
        moved = {key: model.reordered(order) for key, model in models.items()}  # a member that has a share stays one
        background = [(share, moved[id(model)]) for share, model in self.background]
        others = [(share, model.reordered(order)) for share, model in self.others]
        return AveragedLogLinear.of([moved[id(member)] for member in self.members], background, others)

    def energy(self, states: Any) -> Array:
        """``-log p(x)`` of states (m, n) -> (m,): the log-mean-exp over the members. O(m k) time per term, no table."""
        rows = checked_codes(states, self.space)
        total = np.full(len(rows), -np.inf)
        for share, model in self.parts:
            np.logaddexp(total, math.log(share) + model.log_prob(rows), out=total)
        for share, component in self.others:
            np.logaddexp(total, math.log(share) + component.log_weight(rows), out=total)
        return np.asarray(-total)

    @property
    def is_single(self) -> bool:
        """No: the listed weights are means over the members."""
        return False

    def require_single(self, what: str) -> None:
        """Refuse an average where a log-linear model is needed.

        Raises
        ------
        FullspanError : always; the members are log-linear.
        """
        raise FullspanError(
            f"{what} needs a single log-linear model; got an average of {len(self.members)}: "
            "use one of its members (model_.members), or fit with average=1"
        )

    @property
    def is_stacked(self) -> bool:
        """Whether parts of the average are of other kinds."""
        return bool(self.others)

    @property
    def share(self) -> float:
        """What the background and the others have of the average."""
        return sum(share for share, _ in (*self.background, *self.others))

    @property
    def parts(self) -> list[tuple[float, LogLinear]]:
        """Every log-linear model with its share of the average; what they leave is that of the others."""
        return [*(((1.0 - self.share) / len(self.members), member) for member in self.members), *self.background]

    @cached_property
    def places(self) -> tuple[NDArray[np.int64], ...]:
        """For each member, where its terms stand among all."""
        place = {term: i for i, term in enumerate(self.terms)}
        return tuple(np.array([place[term] for term in m.terms], dtype=np.int64) for m in self.members)

    @cached_property
    def chosen(self) -> Array:
        """(T,) share of the members that have each term."""
        counts = np.bincount(np.concatenate([*self.places, np.zeros(0, np.int64)]), minlength=len(self.terms))
        share: Array = counts / len(self.members)
        return share

    @cached_property
    def spread(self) -> Array:
        """(T,) standard deviation of each weight over the members that have the term; NaN for one member."""
        square = np.zeros(len(self.terms))
        for where, member in zip(self.places, self.members, strict=True):
            square[where] += (member.theta - self.theta[where]) ** 2
        n = np.rint(self.chosen * len(self.members))
        spread: Array = np.sqrt(np.divide(square, n - 1, out=np.full_like(square, np.nan), where=n > 1))
        return spread

    def mean(self, values: Sequence[Array]) -> Array:
        """(T,) mean over all members of a value that each of its terms has, 0 where the term is missing."""
        total = np.zeros(len(self.terms))
        for where, own in zip(self.places, values, strict=True):
            total[where] += own
        return total / len(self.members)
