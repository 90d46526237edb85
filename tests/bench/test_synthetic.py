"""The likelihood protocol of SDGym on a small network: the truth scores as it should, and so does the identity."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fullspan.bench.synthetic import FLOOR, counted, networks_in, run, scores
from fullspan.errors import DataError
from fullspan.model.files.networks import read_factors
from fullspan.people.cli import main
from fullspan.query.distributions import GraphDistribution

CHAIN = """network chain {}
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 3 ] { p, q, r }; }
probability ( a ) { table 0.3, 0.7; }
probability ( b | a ) { (x) 0.1, 0.2, 0.7; (y) 0.5, 0.5, 0.0; }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "chain.bif").write_text(CHAIN)
    return tmp_path


def test_scores_are_those_of_the_definition(folder: Path) -> None:
    truth = read_factors(folder / "chain.bif")
    p = np.array([[0.03, 0.06, 0.21], [0.35, 0.35, 0.0]])
    rows = np.array([[0, 0], [0, 2], [1, 1], [1, 2]])
    syn, _ = scores(truth, rows, rows)
    assert syn == pytest.approx(np.mean([math.log(p[tuple(row)] + FLOOR) for row in rows]), rel=1e-12)
    refitted = np.exp(counted(truth, rows).log_weight(np.array(list(itertools.product(range(2), range(3))))))
    np.testing.assert_allclose(refitted, [0.25, 0, 0.25, 0, 0.25, 0.25], atol=1e-12)
    assert np.exp(counted(truth, rows[:2]).tables[1][1]) == pytest.approx([1 / 3] * 3)  # no row has a=y


def test_a_large_sample_closes_the_gap(folder: Path) -> None:
    found = run(folder / "chain.bif", 4000, 2)
    assert abs(found.gap_syn) < 0.06
    assert abs(found.gap_test) < 0.01
    assert found.columns == 2
    distribution = GraphDistribution(read_factors(folder / "chain.bif"))
    assert found.real_test == pytest.approx(-distribution.entropy(), abs=0.05)


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "synthetic", str(folder), "--rows", "200", "--seeds", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("chain")
    assert main(["bench", "synthetic", str(folder), "--set", "asia"]) == 2
    assert "holds no network 'asia'; there are chain" in capsys.readouterr().err
    with pytest.raises(DataError, match=r"holds no \.bif"):
        networks_in(folder / "..")


def test_asia_comes_within_two_hundredths(shared_data: Callable[[str], Path]) -> None:
    found = run(shared_data("bif/asia.bif.gz"), 10_000, 1)
    assert abs(found.gap_test) < 0.02
    assert abs(found.gap_syn) < 0.06
