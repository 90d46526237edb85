"""How a layered machine is learned."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

from fullspan.errors import FullspanError

SOLVERS = ("pcd", "cd")
GRADIENTS = ("centred", "standardised", "plain")
_WHOLE = ("gibbs_steps", "batch_size", "n_chains", "max_iter", "patience")


@dataclass(frozen=True)
class LayerOptions:
    """Options of stochastic gradient ascent on the likelihood.

    Attributes
    ----------
    solver : ``"pcd"``, chains that go on from batch to batch, or ``"cd"``, chains that start at the data.
    gibbs_steps : sweeps of a chain between two steps.
    gradient : ``"centred"`` on the data's means (Montavon & Müller 2012; Melchior et al. 2016), ``"standardised"``,
        which also divides by variances, or ``"plain"``.
    learning_rate, momentum, weight_decay : of the ascent; ``decay`` lets the rate fall to 0 in a line over all epochs.
    batch_size, n_chains : rows of a step, and chains; as many chains as rows where ``n_chains`` is None.
    max_iter : epochs, that is passes over all rows.
    patience, tol : with rows held out, learning stops after ``patience`` epochs without a gain of ``tol`` nats per row.

    Raises
    ------
    FullspanError : an option is not what it should be.
    """

    solver: str = "pcd"
    gibbs_steps: int = 1
    gradient: str = "centred"
    learning_rate: float = 0.1
    decay: bool = True
    momentum: float = 0.5
    weight_decay: float = 0.0
    batch_size: int = 100
    n_chains: int | None = None
    max_iter: int = 20
    patience: int = 3
    tol: float = 0.0

    def __post_init__(self) -> None:
        for name, known in (("solver", SOLVERS), ("gradient", GRADIENTS)):
            if getattr(self, name) not in known:
                raise FullspanError(f"{name} is {getattr(self, name)!r}; {', '.join(map(repr, known))} are possible")
        for name in _WHOLE:
            value = getattr(self, name)
            if not (name == "n_chains" and value is None) and not (_is(numbers.Integral, value) and value >= 1):
                raise FullspanError(f"{name} is {value!r}; a whole number of at least 1 is needed")
        for name, least, most in (
            ("learning_rate", 0.0, math.inf),
            ("momentum", 0.0, 1.0),
            ("weight_decay", 0.0, math.inf),
            ("tol", 0.0, math.inf),
        ):
            value = getattr(self, name)
            if not (_is(numbers.Real, value) and least <= value < most):
                raise FullspanError(f"{name} is {value!r}; a number from {least:g} to below {most:g} is needed")


def _is(kind: type, value: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
