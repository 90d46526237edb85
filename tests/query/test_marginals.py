"""All marginals at once agree with the questions one by one, by the table of states and by clusters."""

from __future__ import annotations

import math

import pytest

from fullspan.model import FactorGraph
from fullspan.query.distributions import GraphDistribution, LogLinearDistribution
from query.enumeration import random_model

EVIDENCE = [None, {"x1": 0}, {"x0": 1, "x2": [0, 1]}, {"x0": 0, "x1": 1, "x3": 2}]


@pytest.mark.parametrize("event", EVIDENCE)
def test_table_and_clusters_agree_with_single_questions(event: dict[str, object] | None) -> None:
    """P(x_i | e) of every variable, and log Z(e) = log Z + log P(e)."""
    by_table = LogLinearDistribution(random_model((2, 2, 3, 3), "indicator", 4))
    assert by_table.by_table
    by_clusters = LogLinearDistribution(by_table.model)
    by_clusters.by_table = False
    graph = GraphDistribution(FactorGraph.of_loglinear(by_table.model))
    for way in (by_table, by_clusters, graph):
        log_z, found, _ = way.marginals(event)  # type: ignore[arg-type]
        expected = by_table.probability(event) if event else 1.0  # type: ignore[arg-type]
        assert math.exp(log_z - way.log_z.value) == pytest.approx(expected, rel=1e-9)
        for name, p in found.items():
            assert p == pytest.approx(by_table.conditional(name, event).values, rel=1e-9, abs=1e-12)  # type: ignore[arg-type]
