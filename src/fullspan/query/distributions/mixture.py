"""Exact answers about a mixture of sparse models: every sum is taken in each component, and weighed.

P(event | given) = sum_h pi_h P_h(event, given) / sum_h pi_h P_h(given)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.engine.elimination.components import ComponentSums, narrowed, sums_of
from fullspan.engine.elimination.sweeps.boxes import Boxes
from fullspan.errors import QueryError
from fullspan.model.loglinear import checked_codes
from fullspan.model.mixture import Mixture
from fullspan.model.record import Component
from fullspan.query.distribution import PAIR_WORK, Distribution, Factors, Marginals
from fullspan.query.distributions.state_table import of_clusters
from fullspan.query.language.boxes import Codes, both
from fullspan.query.language.events import IMPOSSIBLE, Event, in_words, log_uniform

MAX_CELLS = 1 << 16
"""Most cells of a table: each is a sum in every component."""

Allowed = Mapping[int, Codes]


class MixtureDistribution(Distribution):
    """Answers questions about one mixture, by sums in each component."""

    def __init__(self, model: Mixture) -> None:
        self.model, self.space = model, model.space

    @cached_property
    def parts(self) -> tuple[ComponentSums, ...]:
        """The components, ready for sums."""
        return tuple(map(sums_of, self.model.components))

    # -- rows -------------------------------------------------------------------------------------------------

    def log_prob(self, codes: Any) -> Array:
        known = checked_codes(codes, self.visible, missing=True)
        complete = (known >= 0).all(axis=1)
        out = np.empty(len(known))
        out[complete] = self.model.log_prob(known[complete])
        if not complete.all():
            each = [part.log_prob(known[~complete]) for part in self.parts]
            out[~complete] = np.logaddexp.reduce(np.stack(each, axis=1) + np.log(self.model.shares), axis=1)
        return np.minimum(out, 0.0)

    def _joint(self, allowed: Allowed) -> Array:
        """``log pi_h + log P_h(event)`` (k,)."""
        return np.asarray(np.log(self.model.shares) + np.array([part.log_z(allowed) for part in self.parts]))

    def log_prob_of_boxes(self, boxes: Sequence[Allowed]) -> Array:
        """``log P(box)`` of many events, by one call for each component."""
        out = np.full(len(boxes), -np.inf)
        possible = [b for b, box in enumerate(boxes) if all(box.values())]
        some = Boxes.of([boxes[b] for b in possible], self.space)
        for share, part in zip(self.model.shares, self.parts, strict=True):
            out[possible] = np.logaddexp(out[possible], math.log(share) + part.log_z_boxes(some))
        return np.asarray(np.minimum(out, 0.0))

    def box_probability(self, event: Allowed, given: Allowed) -> float:
        """``P(event | given)`` of boxes."""
        if given:
            return super().box_probability(event, given)
        return math.exp(float(self.log_prob_of_boxes([event])[0]))

    def impute(self, rows: Any, how: str = "mode", rng: np.random.Generator | None = None) -> Any:
        """As for every distribution, but ``"mode"`` takes the likeliest level of each cell: a mixture has no mode."""
        return self.likeliest_cells(rows) if how == "mode" else super().impute(rows, how, rng)

    def _mixed_marginals(self, shares: Array, allowed: Allowed) -> list[Array]:
        """Marginals of all variables given an event, the components weighed by ``shares``."""
        found = [np.zeros(card) for card in self.visible.cards]
        for share, part in zip(shares, self.parts, strict=True):
            if share > 0:
                for out, p in zip(found, part.marginals(allowed), strict=True):
                    out += share * p
        return [p / p.sum() for p in found]  # what is certain is 1, and not 1 but for rounding

    def sample(self, size: int, rng: np.random.Generator, given: Event | None = None) -> NDArray[np.int64]:
        n = self.checked_size(size)
        allowed = self.allowed(given)
        joint = self._joint(allowed)
        shares = np.exp(joint - self._norm(joint, allowed))
        parts = rng.multinomial(n, shares / shares.sum())
        drawn = [part.sample(int(m), rng, allowed) for m, part in zip(parts, self.parts, strict=True) if m]
        rows = np.concatenate(drawn) if drawn else np.zeros((0, len(self.visible)), dtype=np.int64)
        return np.asarray(rng.permutation(rows))

    # -- probabilities ----------------------------------------------------------------------------------------

    def cells(self, where: tuple[int, ...], event: Allowed, given: Allowed) -> Array:
        shape = self.shape_of(where, MAX_CELLS)
        norm, joint, out = self._norm(self._joint(given), given), both(given, event), np.zeros(shape)
        if not all(joint.values()):
            return out
        for cell in itertools.product(*(joint.get(i, range(n)) for i, n in zip(where, shape, strict=True))):
            fixed = {**joint, **{i: (int(x),) for i, x in zip(where, cell, strict=True)}}
            out[cell] = math.exp(min(float(np.logaddexp.reduce(self._joint(fixed))) - norm, 0.0))
        return out

    def _norm(self, joint: Array, given: Allowed) -> float:
        norm = float(np.logaddexp.reduce(joint))
        if norm < IMPOSSIBLE + log_uniform(given, self.visible):
            raise QueryError(f"the condition {in_words(given, self.visible)} has probability 0 in this mixture")
        return norm

    def marginals(self, given: Event | None = None) -> Marginals:
        """By one sweep forth and one back over every component."""
        allowed = self.allowed(given)
        joint = self._joint(allowed)
        norm = self._norm(joint, allowed)
        found = self._mixed_marginals(np.exp(joint - norm), allowed)
        return Marginals(min(norm, 0.0), dict(zip(self.visible.names, found, strict=True)))

    def log_z_given(self, given: Event | None = None) -> float:
        allowed = self.allowed(given)
        return min(self._norm(self._joint(allowed), allowed), 0.0)

    def pairs(self, work: float = PAIR_WORK) -> Array | None:
        """By sweeps over the clusters of every component."""
        return of_clusters(self.model.shares, self.parts, self.visible.cards, work)

    def reweighed(self, factors: Factors) -> Mixture:
        """Every component with the factors; its share changes by the mean of them under it.

        Raises
        ------
        TooLargeError : factors of several variables cut a tree of hidden nodes into more than 4,096 components.
        """
        logs, found = list[float](), list[Component]()
        for share, component in zip(self.model.shares, self.model.components, strict=True):
            for part, own in narrowed(component, factors):
                made, log = sums_of(part).reweighed(own)
                if made is not None:
                    logs.append(math.log(share) + log)
                    found.append(made)
        if not found:
            raise QueryError("the factors exclude every state of the mixture")
        shares = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
        kept = np.flatnonzero(shares)
        return Mixture(self.model.space, shares[kept] / shares[kept].sum(), tuple(found[h] for h in kept))

    def entropy_of(self, where: tuple[int, ...], given: Allowed) -> float:
        """Entropy of some variables by position, given an event.

        Raises
        ------
        QueryError : their states are too many to be listed, and the entropy of a sum has no shorter form.
        """
        cells = math.prod(self.visible.cards[i] for i in where)
        if cells > MAX_CELLS:
            raise QueryError(
                f"the entropy of {len(where)} variables of a mixture is a sum over all their states, and {MAX_CELLS:,} "
                "are possible; ask for fewer variables, or estimate it: minus the score of a sample of the model"
            )
        return super().entropy_of(where, given)

    def mode(self, given: Event | None = None) -> NoReturn:
        """Not known: the likeliest state of a sum is not found by sums.

        Raises
        ------
        QueryError : always.
        """
        raise QueryError(
            "the likeliest state of a mixture cannot be found exactly by elimination; impute fills in the likeliest "
            "level of each cell, and sample draws states"
        )
