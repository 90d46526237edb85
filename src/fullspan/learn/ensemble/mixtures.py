"""Mixtures of decomposable models as candidates of an ensemble, of several sizes and degrees of smoothing.

Held-out rows decide which of them fits: each has a share of its own. Em ends in one of many maxima; so each may be
learned from some random starts, whose average is again a mixture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.learn.decomposable.compiled_em import learn_mixture
from fullspan.learn.decomposable.mixture import MixedConditionals
from fullspan.learn.decomposable.rows import WideRows
from fullspan.learn.decomposable.weighted import weighted
from fullspan.learn.networks.conditionals import Writer
from fullspan.model import LogLinear
from fullspan.model.algebra.basis import Basis

SMOOTHINGS = (3.0, 1.0, 0.3)
"""Pseudo-rows of every table."""
SIZES = (2, 4, 8, 16, 32)
"""Components."""
_WIDTH, _PRICE = 3, 1.0
"""Most parents of a variable, and nats for each weight of a graph."""


@dataclass(frozen=True)
class MixtureCandidate:
    """A mixture that was learned from rows."""

    space: Space
    basis: Basis
    mixed: MixedConditionals

    def log_prob(self, states: NDArray[Any]) -> Array:
        """``log P`` of the observed cells of rows (m, n); -1 marks a missing one, which is summed over."""
        rows = Empirical(self.space, np.asarray(states), np.ones(len(states)), len(states))
        return self.mixed.log_prob(weighted(rows, np.random.default_rng(0)))

    def models(self) -> tuple[tuple[float, LogLinear], ...]:
        """Every component as a log-linear model, with its share."""
        shares = np.exp(self.mixed.log_shares - np.logaddexp.reduce(self.mixed.log_shares))
        writer = Writer(self.space, self.basis)
        return tuple(
            (float(share), writer.model(writer.family(*component.family(v)) for v in range(len(self.space))))
            for share, component in zip(shares, self.mixed.components, strict=True)
        )


def mixture_of(
    components: int, smoothing: float, max_family: int | None = None, starts: int = 1
) -> Callable[[Empirical, Basis, np.random.Generator], MixtureCandidate]:
    """How a mixture is learned from complete rows.

    Parameters
    ----------
    max_family : most variables of a table, the parents and their child.
    starts : random ones, whose mixtures are averaged.
    """
    width = _WIDTH if max_family is None else min(max_family - 1, _WIDTH)

    def learn(data: Empirical, basis: Basis, rng: np.random.Generator) -> MixtureCandidate:
        return MixtureCandidate(data.space, basis, averaged([start(data, rng) for _ in range(starts)]))

    def start(data: Empirical, rng: np.random.Generator) -> MixedConditionals:
        rows = WideRows.of(data)
        share = np.ascontiguousarray(rng.dirichlet(np.full(components, 0.3), size=len(rows)).T)
        return learn_mixture(rows, share, width, smoothing, _PRICE)

    return learn


def averaged(mixtures: Sequence[MixedConditionals]) -> MixedConditionals:
    """The mean of some mixtures, which is one of all their components."""
    log_shares = np.concatenate([mixed.log_shares for mixed in mixtures]) - np.log(len(mixtures))
    return MixedConditionals(tuple(part for mixed in mixtures for part in mixed.components), log_shares)
