"""All marginals at once agree with the questions one by one, whatever way they are found."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fullspan as fs
from fullspan.errors import QueryError
from fullspan.model.graph import FactorGraph
from fullspan.query.graph import GraphModel
from fullspan.query.marginals import GraphMarginals, TableMarginals, marginals_of
from query.enumeration import random_model

EVIDENCE = [None, {"x1": 0}, {"x0": 1, "x2": [0, 1]}, {"x0": 0, "x1": 1, "x3": 2}]


@pytest.mark.parametrize("event", EVIDENCE)
def test_table_and_clusters_agree_with_single_questions(event: dict[str, object] | None) -> None:
    """P(x_i | e) of every variable, and log P(e)."""
    from fullspan.query.answer import Oracle

    oracle = Oracle(random_model((2, 2, 3, 3), "indicator", 4))
    ways = [marginals_of(oracle), GraphMarginals(GraphModel(FactorGraph.of_loglinear(oracle.model)), oracle.visible)]
    assert isinstance(ways[0], TableMarginals)
    for way in ways:
        log_prob, found = way.given(event)  # type: ignore[arg-type]
        assert math.exp(log_prob) == pytest.approx(oracle.probability(event) if event else 1.0, rel=1e-9)
        for name, p in found.items():
            assert p == pytest.approx(oracle.conditional(name, event).values, rel=1e-9, abs=1e-12)  # type: ignore[arg-type]


def test_a_tree_with_hidden_nodes_tells_only_what_is_visible() -> None:
    rows = np.random.default_rng(0).integers(0, 2, (80, 4))
    tree = fs.HiddenChowLiuTree(n_states=2, random_state=0, restarts=1).fit(rows)
    log_prob, found = marginals_of(tree._oracle).given({"x1": 1})
    assert list(found) == ["x0", "x1", "x2", "x3"]
    assert math.exp(log_prob) == pytest.approx(tree.probability("x1=1"), rel=1e-9)
    assert found["x3"] == pytest.approx(tree.conditional("x3", {"x1": 1}).values, rel=1e-9)


def test_unknown_names_are_refused() -> None:
    tree = fs.ChowLiuTree().fit(np.random.default_rng(0).integers(0, 2, (20, 3)))
    with pytest.raises(QueryError, match="no variable 'y'"):
        marginals_of(tree._oracle).given({"y": 1})
