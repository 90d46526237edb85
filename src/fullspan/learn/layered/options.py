"""How a layered machine is learned."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

from fullspan.errors import FullspanError, require_one_of, require_whole

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
        require_one_of(SOLVERS, solver=self.solver)
        require_one_of(GRADIENTS, gradient=self.gradient)
        given = {name: getattr(self, name) for name in _WHOLE}
        require_whole(1, **{name: value for name, value in given.items() if (name, value) != ("n_chains", None)})
        for name, least, most in (
            ("learning_rate", 0.0, math.inf),
            ("momentum", 0.0, 1.0),
            ("weight_decay", 0.0, math.inf),
            ("tol", 0.0, math.inf),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real) or not least <= float(value) < most:
                raise FullspanError(f"{name} is {value!r}; a number from {least:g} to below {most:g} is needed")
