"""What can be asked of the fit of a machine, and which wishes contradict each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullspan.errors import FullspanError
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
        _one_of("basis", self.basis, BASES)
        _one_of("solver", self.solver, SOLVERS)
        _one_of("em", self.em, EM)
        if self.shrinkage is not None:
            _one_of("shrinkage", self.shrinkage, ("evidence",))
            self._refuse_with_shrinkage()
        for name in ("l1", "l2"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise FullspanError(f"{name} is {value}; a finite number of at least 0 is needed")
        if not (math.isfinite(self.tol) and self.tol > 0):
            raise FullspanError(f"tol is {self.tol}; a positive number is needed, such as 1e-10")
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise FullspanError(f"learning_rate is {self.learning_rate}; a positive number is needed, such as 0.01")
        if self.solver in BEYOND_THE_TABLE and self.em != "auto":
            raise FullspanError(f"solver={self.solver!r} needs complete rows; em={self.em!r} has nothing to do")
        if self.solver == "pseudo" and self.l1:
            raise FullspanError("solver='pseudo' needs a smooth objective and takes no l1; use l2, 'pcd' or 'cd'")
        for name in ("restarts", "max_iter", "n_chains", "n_sweeps"):
            value = getattr(self, name)
            is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if not (is_whole and value >= 1) and not (name == "max_iter" and value is None):
                raise FullspanError(f"{name} is {value!r}; a whole number of at least 1 is needed")
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


def _one_of(name: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise FullspanError(f"{name} is {value!r}; choose one of {', '.join(map(repr, known))}")
