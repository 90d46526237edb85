"""Questions to a model that is no single factor graph, given what is known: the surface of a network.

    log Z(e) = log P(e),     P(x_i | e),     P(event | e, given)

An average, a mixture or a list of states is normalised, so that log Z of no evidence is 0.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Level, Space
from fullspan.model.files.evidence import read_evidence
from fullspan.query.asked import Asked
from fullspan.query.language.boxes import Box
from fullspan.query.language.events import Event
from fullspan.query.language.result import MostProbable
from fullspan.query.marginals import Marginals, marginals_of


class Conditioned(Asked):
    """Answers of an oracle given evidence, as :class:`fullspan.query.graph.GraphModel` gives them.

    Parameters
    ----------
    oracle : of an average, a mixture, or a truncated machine.
    marginals : how its marginals are found, if that is known already.
    """

    def __init__(self, oracle: Any, marginals: Marginals | None = None) -> None:
        self.oracle = oracle
        self.space: Space = oracle.model.space
        self._marginals = marginals_of(oracle) if marginals is None else marginals

    def evidence(self, path: str | os.PathLike[str]) -> list[dict[str, Level]]:
        """The samples of a UAI evidence file, whose variables and states are numbered in this model's order."""
        variables, samples = self.space.variables, read_evidence(path, self.space)
        return [{variables[i].name: variables[i].levels[x] for i, x in sample.items()} for sample in samples]

    def log_z(self, evidence: Event | None = None) -> float:
        """``log P(e)``, 0 without evidence."""
        return self._marginals.given(evidence)[0]

    def log_z_and_marginals(self, evidence: Event | None = None) -> tuple[float, dict[str, Array]]:
        """``log P(e)``, and ``P(x_i | e)`` of every variable by name."""
        return self._marginals.given(evidence)

    # -- questions are answered by the oracle ---------------------------------------------------------------------

    @property
    def asked_space(self) -> Space:
        return self.space

    def cells(self, where: tuple[int, ...], event: Box, given: Box) -> Array:
        """``P(where, event | given)``, one axis per variable of ``where``."""
        return np.asarray(self.oracle.cells(where, event, given))

    def entropy_of(self, where: tuple[int, ...], given: Box) -> float:
        """Entropy of some variables by position, given an event."""
        return float(self.oracle.entropy_of(where, given))

    def mode_of(self, given: Box) -> MostProbable:
        """The most probable state, given an event."""
        found: MostProbable = self.oracle.mode_of(given)
        return found
