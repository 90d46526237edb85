"""The reproduced table: published values as printed in the paper, measured ones against enumeration."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from fullspan.data import Empirical
from fullspan.errors import FullspanError
from fullspan.learn.likelihood import fit_machine
from fullspan.learn.search import Options, fit_search
from fullspan.papers import EXPERIMENTS, experiment
from fullspan.papers.fsll_table1 import (
    DATA_SETS,
    LEARNERS,
    MACHINE,
    PCD,
    DataSet,
    Numbers,
    draw,
    log_table,
    measure,
    run,
)
from fullspan.papers.truths import Network, ising, random_network

QUICK = {**LEARNERS, "pcd": replace(PCD, max_iter=500)}
PUBLISHED = Numbers(2.5, 0.125, 7, 3)
PUBLISHED_MACHINE = Numbers(1.5, 0.25, 45, 4)
PUBLISHED_PCD = Numbers(1.25, 0.5, 45, 2)
SMALL = (
    DataSet("Ising 3x3", lambda seed: ising(3, 3), 2_000, PUBLISHED, PUBLISHED_MACHINE, PUBLISHED_PCD),
    DataSet("network", lambda seed: random_network(6, 2, np.random.default_rng(seed)), 500),
)


def test_published_values_are_those_of_the_paper() -> None:
    published = [d.published for d in DATA_SETS]
    assert [d.n_rows for d in DATA_SETS] == [1_000, 100_000] * 3
    assert [p.kl_data for p in published if p] == [2.501, 0.476, 4.355, 0.697, 3.288, 0.430]
    assert [p.kl_true for p in published if p] == [0.012, 0.004, 0.317, 0.026, 0.697, 0.057]
    assert [p.n_basis for p in published if p] == [31, 37, 39, 105, 41, 192]
    assert [p.seconds for p in published if p] == [5, 9, 5, 12, 5, 23]
    machines = [d.published_machine for d in DATA_SETS]
    assert [p.kl_data for p in machines if p] == [2.424, 0.473, 4.746, 1.422, 3.743, 1.545]
    assert [p.kl_true for p in machines if p] == [0.087, 0.002, 0.863, 0.750, 1.301, 1.166]
    assert [p.n_basis for p in machines if p] == [210] * 6
    assert [p.seconds for p in machines if p] == [13, 12, 17, 19, 23, 21]
    sampled = [d.published_pcd for d in DATA_SETS]
    assert [p.kl_data for p in sampled if p] == [2.504, 0.528, 4.803, 1.477, 3.826, 1.620]
    assert [p.kl_true for p in sampled if p] == [0.094, 0.053, 0.903, 0.806, 1.338, 1.242]
    assert [(p.n_basis, p.seconds) for p in sampled if p] == [(210, 3)] * 6
    assert (PCD.learning_rate, PCD.n_chains, PCD.max_iter, PCD.mean_weights) == (0.01, 100, 10_000, False)


def test_the_truths_of_the_table_have_the_stated_size() -> None:
    assert [d.truth(0).n for d in DATA_SETS[::2]] == [20, 20, 20]
    assert [d.truth(0).name for d in DATA_SETS[::2]] == ["Ising 5x4", "BN20-37", "BN20-54"]


def test_a_small_run_holds_published_and_measured_values() -> None:
    said: list[str] = []
    result = run(said.append, 1, SMALL, QUICK)
    value = json.loads(json.dumps(result.to_json()))
    assert [(row["data"], row["model"], row["search"]) for row in value["rows"]] == [
        ("Ising 3x3", "FL", "paper"),
        ("Ising 3x3", "FL", "full"),
        ("Ising 3x3", "BM-DI", "machine"),
        ("Ising 3x3", "BM-PCD", "pcd"),
        ("network", "FL", "paper"),
        ("network", "FL", "full"),
        ("network", "BM-DI", "machine"),
        ("network", "BM-PCD", "pcd"),
    ]
    assert value["rows"][0]["published"] == {"kl_data": 2.5, "kl_true": 0.125, "n_basis": 7, "seconds": 3}
    assert value["rows"][2]["published"] == {"kl_data": 1.5, "kl_true": 0.25, "n_basis": 45, "seconds": 4}
    assert value["rows"][2]["median"]["n_basis"] == 45
    assert value["rows"][3]["published"] == {"kl_data": 1.25, "kl_true": 0.5, "n_basis": 45, "seconds": 2}
    assert value["rows"][4]["published"] is None
    for row in value["rows"]:
        assert row["median"] == row["by_seed"][0]
        assert 0 < row["median"]["kl_true"] < 0.2
    assert any("Ising 3x3" in line for line in said)
    text = result.to_text()
    assert "FL      published       2.500    0.12500" in text
    assert "BM-DI   published       1.500    0.25000" in text
    assert "1 seed;" in text


def test_divergences_equal_enumeration_over_raw_counts() -> None:
    truth = random_network(6, 3, np.random.default_rng(3))
    empirical = draw(truth, 700, 5)
    options = Options()
    numbers = measure(truth, empirical, options)
    log_q = log_table(fit_search(empirical, options))
    assert np.exp(log_q).sum() == pytest.approx(1.0)
    p_data = np.zeros(64)
    p_data[truth.space.index(empirical.states)] = empirical.counts / 700
    seen = p_data > 0
    assert numbers.kl_data == pytest.approx(float(np.sum(p_data[seen] * (np.log(p_data[seen]) - log_q[seen]))))
    assert numbers.kl_true == pytest.approx(float(np.sum(np.exp(truth.log_p) * (truth.log_p - log_q))))


def test_a_machine_matches_the_means_of_all_pairs() -> None:
    """BM-DI: the expectations of all spins and pairs of spins are those of the data, the divergences enumeration's."""
    truth = random_network(5, 2, np.random.default_rng(7))
    empirical = draw(truth, 3_000, 1)
    fitted = fit_machine(empirical, MACHINE)
    p = np.exp(log_table(fitted))
    spins = 1.0 - 2.0 * truth.space.states(np.arange(32))
    seen = 1.0 - 2.0 * empirical.states
    share = empirical.counts / 3_000
    assert len(fitted.model.terms) == 15
    np.testing.assert_allclose(p @ spins, share @ seen, atol=1e-9)
    np.testing.assert_allclose((spins.T * p) @ spins, (seen.T * share) @ seen, atol=1e-9)
    numbers = measure(truth, empirical, MACHINE)
    assert numbers.kl_true == pytest.approx(float(np.exp(truth.log_p) @ (truth.log_p - np.log(p))))


def test_a_maximum_at_infinity_is_taken_in_the_limit() -> None:
    """A pair of values never seen together has probability 0 in the limit, and KL(p*||p) is infinite."""
    truth = random_network(4, 1, np.random.default_rng(3))
    rows = np.array([[a, b, c, d] for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1) if not (a and b)])
    numbers = measure(truth, Empirical.from_codes(rows), MACHINE)
    assert numbers.kl_true == np.inf
    assert numbers.kl_data == pytest.approx(0.0, abs=1e-9)
    log_p = log_table(fit_machine(Empirical.from_codes(rows), MACHINE))
    assert (log_p == -np.inf).sum() == 4
    tiny = DataSet("tiny", lambda seed: random_network(8, 3, np.random.default_rng(2)), 20)
    result = run(None, 1, (tiny,), QUICK)
    assert result.rows[2].n_infinite == 1
    assert "(here in 1 fits)" in result.to_text()


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
    with pytest.raises(FullspanError, match="seeds is 0; at least 1"):
        experiment("fsll-table1").run(seeds=0)
    with pytest.raises(FullspanError, match="fsll-table1 has no option runs; it takes seeds"):
        experiment("fsll-table1").run(runs=2)
    with pytest.raises(FullspanError, match="basket has no option seeds; it takes no options"):
        experiment("basket").run(seeds=2)
