"""The reproduced table: published values as printed in the paper, measured ones against enumeration."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fullspan.errors import FullspanError
from fullspan.learn.fit import Options, fit
from fullspan.reproduce import EXPERIMENTS, experiment
from fullspan.reproduce.fsll_table1 import DATA_SETS, DataSet, Numbers, draw, log_table, measure, run
from fullspan.reproduce.truths import Network, ising, random_network

PUBLISHED = Numbers(2.5, 0.125, 7, 3)
SMALL = (
    DataSet("Ising 3x3", lambda seed: ising(3, 3), 2_000, PUBLISHED),
    DataSet("network", lambda seed: random_network(6, 2, np.random.default_rng(seed)), 500),
)


def test_published_values_are_those_of_the_paper() -> None:
    published = [d.published for d in DATA_SETS]
    assert [d.n_rows for d in DATA_SETS] == [1_000, 100_000] * 3
    assert [p.kl_data for p in published if p] == [2.501, 0.476, 4.355, 0.697, 3.288, 0.430]
    assert [p.kl_true for p in published if p] == [0.012, 0.004, 0.317, 0.026, 0.697, 0.057]
    assert [p.n_basis for p in published if p] == [31, 37, 39, 105, 41, 192]
    assert [p.seconds for p in published if p] == [5, 9, 5, 12, 5, 23]


def test_the_truths_of_the_table_have_the_stated_size() -> None:
    assert [d.truth(0).n for d in DATA_SETS[::2]] == [20, 20, 20]
    assert [d.truth(0).name for d in DATA_SETS[::2]] == ["Ising 5x4", "BN20-37", "BN20-54"]


def test_a_small_run_holds_published_and_measured_values() -> None:
    said: list[str] = []
    result = run(1, said.append, SMALL)
    value = json.loads(json.dumps(result.to_json()))
    assert [(row["data"], row["search"]) for row in value["rows"]] == [
        ("Ising 3x3", "paper"),
        ("Ising 3x3", "full"),
        ("network", "paper"),
        ("network", "full"),
    ]
    assert value["rows"][0]["published"] == {"kl_data": 2.5, "kl_true": 0.125, "n_basis": 7, "seconds": 3}
    assert value["rows"][2]["published"] is None
    for row in value["rows"]:
        assert row["median"] == row["by_seed"][0]
        assert 0 < row["median"]["kl_true"] < 0.2
    assert any("Ising 3x3" in line for line in said)
    text = result.to_text()
    assert "published       2.500    0.12500" in text
    assert "1 seed;" in text


def test_divergences_equal_enumeration_over_raw_counts() -> None:
    truth = random_network(6, 3, np.random.default_rng(3))
    empirical = draw(truth, 700, 5)
    options = Options()
    numbers = measure(truth, empirical, options)
    log_q = log_table(fit(empirical, options))
    assert np.exp(log_q).sum() == pytest.approx(1.0)
    p_data = np.zeros(64)
    p_data[truth.space.index(empirical.states)] = empirical.counts / 700
    seen = p_data > 0
    assert numbers.kl_data == pytest.approx(float(np.sum(p_data[seen] * (np.log(p_data[seen]) - log_q[seen]))))
    assert numbers.kl_true == pytest.approx(float(np.sum(np.exp(truth.log_p) * (truth.log_p - log_q))))


def test_networks_are_drawn_as_they_are_tabulated() -> None:
    network = Network.random(6, 2, np.random.default_rng(1))
    rows = network.draw(200_000, np.random.default_rng(2))
    index = rows @ (1 << np.arange(6))
    p = np.exp(network.tabulate().log_p)
    found = np.bincount(index, minlength=64) / len(rows)
    assert np.abs(found - p).max() < 5 * np.sqrt(p.max() / len(rows))


def test_experiments_are_found_by_name() -> None:
    assert experiment("fsll-table1") is EXPERIMENTS["fsll-table1"]
    with pytest.raises(FullspanError, match=r"no experiment 'table-9'.*'fsll-table1'"):
        experiment("table-9")
    with pytest.raises(FullspanError, match="at least 1"):
        experiment("fsll-table1").run(0)
