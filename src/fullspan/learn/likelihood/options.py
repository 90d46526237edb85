"""What can be asked of the fit of a machine, and which wishes contradict each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fullspan.errors import TINY, FullspanError, require_finite, require_one_of, require_whole
from fullspan.learn.likelihood.em import EM
from fullspan.learn.likelihood.solvers import BEYOND_THE_TABLE as BEYOND_THE_TABLE
from fullspan.learn.likelihood.solvers import SOLVERS as SOLVERS
from fullspan.learn.likelihood.solvers import Solver as Solver
from fullspan.model.algebra.basis import BASES


@dataclass(frozen=True)
class MachineOptions:
    """How to fit a machine; see :class:`fullspan.BoltzmannMachine`."""

    order: int | None = 2
    graph: Any = None
    terms: Any = None
    margins: Any = None
    basis: str = "monomial"
    solver: str = "auto"
    l1: float = 0.0
    l2: float = 0.0
    shrinkage: str | None = None
    em: str = "auto"
    restarts: int = 5
    tol: float = 1e-10
    max_iter: int | None = None
    learning_rate: float = 0.01
    n_chains: int = 100
    n_sweeps: int = 1
    mean_weights: bool = True
    seed: Any = None
    max_memory: int | None = None

    def __post_init__(self) -> None:
        require_one_of(BASES, basis=self.basis)
        require_one_of(SOLVERS, solver=self.solver)
        require_one_of(EM, em=self.em)
        if self.shrinkage is not None:
            require_one_of(("evidence",), shrinkage=self.shrinkage)
            self._refuse_with_shrinkage()
        require_finite(0.0, l1=self.l1, l2=self.l2)
        require_finite(TINY, tol=self.tol, learning_rate=self.learning_rate)
        if self.solver in BEYOND_THE_TABLE and self.em != "auto":
            raise FullspanError(f"solver={self.solver!r} needs complete rows; em={self.em!r} has no effect")
        if self.solver == "pseudo" and self.l1:
            raise FullspanError("solver='pseudo' needs a smooth objective and takes no l1; use l2, 'pcd' or 'cd'")
        require_whole(1, restarts=self.restarts, n_chains=self.n_chains, n_sweeps=self.n_sweeps)
        if self.max_iter is not None:
            require_whole(1, max_iter=self.max_iter)
        if self.solver == "ipf" and (self.l1 or self.l2):
            raise FullspanError("solver='ipf' matches expectations exactly and takes no penalty; use 'newton'")
        if self.solver == "lbfgs" and self.l1:
            raise FullspanError("solver='lbfgs' needs a smooth objective and takes no l1; use 'newton' or 'gradient'")
        if self.em == "inexact" and (self.l1 or self.l2):
            raise FullspanError("em='inexact' is IPFP, which takes no penalty; use 'auto' or 'exact'")
        if self.em == "inexact" and self.solver not in ("auto", "ipf"):
            raise FullspanError(f"em='inexact' is IPFP; solver={self.solver!r} goes with em='auto' or 'exact'")

    def _refuse_with_shrinkage(self) -> None:
        for name in ("graph", "terms", "margins"):
            if getattr(self, name) is not None:
                raise FullspanError(f"shrinkage='evidence' takes all terms up to an order; leave out {name}=")
        if self.l1 or self.l2 or self.em != "auto" or self.solver not in ("auto", "newton"):
            raise FullspanError("shrinkage='evidence' has its own penalty and solver; leave out l1, l2, em and solver")
