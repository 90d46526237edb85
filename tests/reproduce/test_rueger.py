"""Rueger's example, the cost of decimation and Gibbs sampling next to it, in small."""

from __future__ import annotations

import csv as csv_module
import io
import json

import numpy as np
import pytest

from fullspan.papers import experiment, rueger
from fullspan.papers.rueger_example import BIASED, EDGES, example


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_the_example_is_enumeration(seed: int) -> None:
    """The factors of all steps multiply to Z; the first step is the paper's: node 1 into the weight of 0 and 5."""
    found = example(seed)
    assert sum(s.log_factor for s in found.steps) == pytest.approx(found.exact_log_z, rel=1e-14)
    assert found.log_z == pytest.approx(found.exact_log_z, rel=1e-14)
    assert found.error < 1e-14
    assert (found.steps[0].node, found.steps[0].rule) == (1, "series")
    assert [left[:2] for left in found.steps[0].left] == [(0, 5)]
    assert {s.rule for s in found.steps} >= {"leaf", "series", "star-triangle"}
    assert sorted(s.node for s in found.steps) == [1, 2, 3, 4, 5]
    assert len(found.expectations) == len(EDGES) + len(BIASED)


def test_a_random_tree_has_a_parent_before_every_child() -> None:
    edges = rueger.tree(500, np.random.default_rng(0))
    assert (edges[:, 0] < edges[:, 1]).all()
    assert edges[:, 1].tolist() == list(range(1, 500))


def test_a_small_run() -> None:
    said: list[str] = []
    result = experiment("rueger").run(said.append, nodes=3000, runs=2, iterations=30_000, seed=4)
    assert isinstance(result, rueger.Rueger)
    assert [c.nodes for c in result.costs] == [1000, 2000, 3000]
    assert len(said) == 3 + 2
    errors = result.gibbs.errors
    assert errors.shape == (2, 30_000)
    assert (errors[:, -1] < 0.2).all()
    assert (errors[:, -1] < errors[:, 0] / 4).all()
    value = json.loads(json.dumps(result.to_json()))
    assert value["gibbs"]["sweeps"] == [1, 10, 100, 1000, 10_000, 30_000]
    assert len(value["statements"]) == 3
    text = result.to_text()
    assert "star-triangle" in text
    assert "doublings of 1,000 nodes" in text
    rows = list(csv_module.DictReader(io.StringIO(result.files()["rueger.csv"])))
    assert len(rows) == 3 * 3 + 2 * 30_000
    assert float(rows[-1]["value"]) == pytest.approx(errors[1, -1], rel=1e-8)
    assert [len(ax.lines) for ax in result.figures()["rueger"].axes] == [2, 3, 3]
