"""Counting queries: they are those of the protocol, and the estimates are the model's own probabilities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fullspan.bench.counting import apart, q_error, queries, read_table, run, true_counts
from fullspan.data import Empirical
from fullspan.errors import DataError
from fullspan.people.cli import main
from query.enumeration import Enumerated


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Four columns, the second is a noisy copy of the first, and codes have gaps."""
    rng = np.random.default_rng(3)
    a = rng.integers(12, size=800)
    rows = np.stack([a, (a + rng.integers(3, size=800)) * 2, rng.integers(3, size=800), rng.integers(2, size=800)], 1)
    np.savez(tmp_path / "small.npz", codes=rows.astype(np.uint8))
    (tmp_path / "meta.json").write_text('{"small": {"variables": ["a", "b", "c", "d"]}}')
    return tmp_path / "small.npz"


def test_queries_follow_the_protocol(file: Path) -> None:
    table = read_table(file, ["a", "b"], ["d"])
    assert table.space.names == ("a", "b", "c")
    assert table.values[1].tolist() == list(range(0, 27, 2))
    low, high = queries(table, 3000, np.random.default_rng(0))
    width, cards = high - low + 1, np.array(table.space.cards)
    assert ((low >= 0) & (high < cards) & (width >= 1)).all()
    assert set(width[:, 2]) == {1, 3}  # equality, or no predicate
    shares = np.bincount((width[:, 2] == 1) + 0, minlength=2) / 3000
    assert shares[1] == pytest.approx(2 / 3, abs=0.03)  # 1, 2 or 3 of three columns, each as likely
    truth = true_counts(table.codes, low, high)
    by_hand = [int(((table.codes >= a) & (table.codes <= b)).all(axis=1).sum()) for a, b in zip(low, high, strict=True)]
    assert truth.tolist() == by_hand
    assert 0.005 < (truth == 0).mean() < 0.1  # centres that are no rows
    assert q_error(np.array([0.2, 8.0, 3.0]), np.array([0, 2, 6])).tolist() == [1, 4, 2]


def test_a_network_of_few_columns_is_nearly_right(file: Path) -> None:
    score = run(read_table(file, ["a", "b"]), "network", 400, 1, 1.0)
    assert score.queries == 400
    assert 1.0 < score.median < 1.3
    assert score.largest < 10


def test_pairs_that_exclude_each_other() -> None:
    """Where two columns never leave their commonest level together, and the model expects rows, it is half a row."""
    from fullspan.data import Space
    from fullspan.model import FactorGraph
    from fullspan.query.distributions import GraphDistribution

    space = Space.of_cards((3, 3, 2))
    p = np.array([0.6, 0.2, 0.2]), np.array([0.5, 0.3, 0.2]), np.array([0.5, 0.5])
    model = GraphDistribution(FactorGraph(space, ((0,), (1,), (2,)), tuple(map(np.log, p))))
    states = np.array([[0, 0, 0], [0, 1, 0], [0, 2, 1], [1, 0, 1], [2, 0, 0], [0, 0, 1]], dtype=np.int16)
    empirical = Empirical(space, states, np.array([30.0, 10, 10, 10, 10, 30]), 100)
    factors = apart(model, empirical)
    assert list(factors) == [(0, 1)]
    truth = Enumerated(np.exp(np.log(np.einsum("i,j,k->ijk", *p)) + factors[0, 1][:, :, None]))
    assert truth.p[1:, 1:].sum() == pytest.approx(0.005)  # half a row of a hundred
    changed = model.renewed(factors)
    np.testing.assert_allclose(changed.joint(), truth.p / truth.p.sum(), rtol=1e-12)


def test_the_command(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "counting", str(file), "--ordered", "a", "--model", "network", "--queries", "50"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("network         50")
    assert main(["bench", "counting", str(file), "--ordered", "age"]) == 2
    assert "has no column 'age'; there are a, b, c, d" in capsys.readouterr().err
    assert main(["bench", "counting", str(file), "--model", "tree"]) == 2
    np.savez(file, codes=np.array([[0, 255], [1, 0]], dtype=np.uint8))
    (file.parent / "meta.json").unlink()
    with pytest.raises(DataError, match="has missing cells"):
        read_table(file)
