"""Questions to a model that is no single factor graph, given what is known: the surface of a network.

    log Z(e) = log P(e),     P(x_i | e),     P(event | e, given)

An average, a mixture or a list of states is normalised, so that log Z of no evidence is 0.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.model.evidence import read_evidence
from fullspan.query.events import Event, both, check_possible, codes_of
from fullspan.query.marginals import Marginals, marginals_of
from fullspan.query.parse import parse
from fullspan.query.result import Table
from fullspan.space import Level, Space

Array = NDArray[np.float64]


class Conditioned:
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

    def ask(self, text: str, given: Event | None = None) -> float | Table:
        """Answer ``P(A=a | B=b)``; ``given`` is known besides what the text says.

        Raises
        ------
        QueryError : the text cannot be read, or the condition leaves nothing.
        """
        query = parse(text, self.space)
        joint = both(query.given, codes_of(given, self.space))
        check_possible(joint, self.space)
        cells = self.oracle.cells(tuple(query.variables), query.event, joint)
        if not query.variables:
            return float(cells)
        chosen = [self.space.variables[i] for i in query.variables]
        return Table(tuple(v.name for v in chosen), tuple(v.levels for v in chosen), cells)
