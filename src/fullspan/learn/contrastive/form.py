"""Terms whose weights are being learned, in the form that is sampled fastest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.engine.sampling.blocks import Blocks
from fullspan.engine.sampling.choose import MAX_UNITS, layered
from fullspan.engine.sampling.pairwise import PairTerms, Pairwise
from fullspan.engine.sampling.target import Target
from fullspan.engine.sampling.term_tables import TermTables
from fullspan.model.algebra.basis import Basis, Term


def form_of(space: Space, basis: Basis, terms: Sequence[Term]) -> PairTerms | TermTables:
    """The linear family of targets ``log f(x) = theta . Phi(x)``, in the form that is sampled fastest.

    Biases and couplings where all variables are binary and no term has more than two; else factor tables. Both have
    the ``target`` to sample at theta, and ``moments``, the mean of every term over states.
    """
    pairs = PairTerms.of(basis, terms) if len(space) <= MAX_UNITS else None
    return TermTables.of(space, basis, terms) if pairs is None else pairs


class Walk:
    """Targets of one form at changing weights; how to sweep them is decided once, by which weights there are."""

    def __init__(self, form: PairTerms | TermTables) -> None:
        self.form = form
        first = form.target(np.ones(form.size))
        self._blocks = layered(first) if isinstance(first, Pairwise) else None

    def at(self, theta: Array) -> Target:
        """The target at theta."""
        target = self.form.target(theta)
        if isinstance(self._blocks, Blocks) and isinstance(target, Pairwise):
            return self._blocks.moved(target)
        return target
