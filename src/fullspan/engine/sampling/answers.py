"""The engine that samples: log Z, expectations of terms and states of a model, each as exact as its method allows.

Tempered chains, which get around between modes that a single chain does not leave, are an option here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.protocol import Diagnostics
from fullspan.engine.sampling.chains import Chains, Tempered
from fullspan.engine.sampling.choose import target_of
from fullspan.engine.sampling.diagnostics import diagnose
from fullspan.engine.sampling.partition import log_z
from fullspan.errors import FullspanError, require_whole
from fullspan.model.algebra.basis import Term, local_row
from fullspan.model.estimate import Estimate
from fullspan.model.loglinear import LogLinear

_HELD_VALUES = 1 << 24
"""Values of terms held at once."""


class Sampled:
    """A model in the hands of Gibbs chains.

    Parameters
    ----------
    model : the model.
    rng : where random numbers come from.
    chains, draws, thin, warm_up : how far to walk; ``chains * draws`` states are kept.
    given : variables that are held, ``{position: code}``.
    tempered : replicas at several temperatures, for energies that a single chain does not get around in.

    Examples
    --------
    >>> from fullspan.model.algebra.basis import Basis
    >>> from fullspan.data.space import Space
    >>> space = Space.of_cards((2, 2))
    >>> model = LogLinear(space, Basis("monomial", (2, 2)), (((0, 1), (1, 1)),), np.array([1.0]), np.log(3 + np.e))
    >>> found = Sampled(model, np.random.default_rng(0)).expectations(model.terms)
    >>> bool(abs(found.mean[0] - np.e / (3 + np.e)) < 4 * found.error[0])
    True
    """

    def __init__(
        self,
        model: LogLinear,
        rng: np.random.Generator,
        chains: int = 100,
        draws: int = 500,
        thin: int = 1,
        warm_up: int = 200,
        given: Mapping[int, int] | None = None,
        tempered: bool = False,
    ) -> None:
        require_whole(1, chains=chains, draws=draws, thin=thin)
        require_whole(0, warm_up=warm_up)
        if tempered and given:
            raise FullspanError("tempered chains hold no variables; leave out given= or tempered=")
        self.model, self.rng, self.chains, self.draws, self.thin = model, rng, chains, draws, thin
        self.warm_up, self.given, self.tempered = warm_up, dict(given or {}), tempered

    @cached_property
    def states(self) -> NDArray[Any]:
        """The draws, (draws, chains, n)."""
        target = target_of(self.model)
        if self.tempered:
            return Tempered(target, self.chains, self.rng).draw(self.draws, self.thin, self.warm_up)
        return Chains(target, self.chains, self.rng, given=self.given).draw(self.draws, self.thin, self.warm_up)

    def log_z(self) -> Estimate:
        """log Z, exact where a layer, a table or the width allows, else by annealing."""
        return log_z(self.model, self.rng)

    def expectations(self, terms: Sequence[Term]) -> Diagnostics:
        """``eta_y`` of each term with its Monte-Carlo error, R-hat and effective sample size."""
        states = self.states
        flat = states.reshape(-1, states.shape[2])
        size = max(1, _HELD_VALUES // len(flat))
        parts = [
            diagnose(_features(self.model, terms[k : k + size], flat).reshape(*states.shape[:2], -1))
            for k in range(0, len(terms), size)
        ]
        return Diagnostics(*(np.concatenate([getattr(p, name) for p in parts]) for name in _FIELDS))

    def sample(self, size: int) -> NDArray[Any]:
        """States (size, n), each the end of a walk of its own: independent, and of the model if the walks are long."""
        chains = Chains(target_of(self.model), max(size, 1), self.rng, given=self.given)
        chains.sweep(self.warm_up)
        return chains.states[:size]


_FIELDS = ("mean", "error", "r_hat", "bulk_ess")


def _features(model: LogLinear, terms: Sequence[Term], states: NDArray[Any]) -> NDArray[np.float64]:
    """Values (states, terms)."""
    out = np.ones((len(states), len(terms)))
    for k, term in enumerate(terms):
        for i, j in term:
            out[:, k] *= local_row(model.basis, i, j)[states[:, i]]
    return out
