"""What the explorer answers is what the model answers, whatever its kind; and it refuses what is too wide."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import fullspan as fs
from fullspan.errors import FullspanError, QueryError
from fullspan.query.graph import GraphModel
from fullspan.web.explorer import Explorer


@pytest.fixture(scope="module", params=["one", "two", "mixture", "hidden", "average"])
def pair(
    request: pytest.FixtureRequest, paths: dict[str, Path], mixed: dict[str, Path]
) -> tuple[Explorer, fs.BoltzmannMachine]:
    path = {**paths, **mixed}[request.param]
    return Explorer(path), fs.load(path)  # type: ignore[return-value]


def test_distributions_are_conditionals(pair: tuple[Explorer, fs.BoltzmannMachine]) -> None:
    """P(x_i | given) and log P(given), by name."""
    explorer, model = pair
    found = explorer.distributions({"rain": "yes", "b": [0, 1]}, ["umbrella & hat", "b"])
    given = {"rain": "yes", "b": [0, 1]}
    for name, p in found["marginals"].items():
        assert p == pytest.approx(model.conditional(name, given).values, rel=1e-9, abs=1e-12)
    assert math.exp(found["log_prob"]) == pytest.approx(model.probability(given), rel=1e-9)
    json.dumps(found, allow_nan=False)


def test_questions_know_what_is_clamped(pair: tuple[Explorer, fs.BoltzmannMachine]) -> None:
    """A clamped variable is a further condition, also beside one in the text and where both name the same variable."""
    explorer, model = pair
    number = explorer.ask("P(rain=yes | b=1)", {"umbrella & hat": 0})
    assert number["probability"] == pytest.approx(model.probability("rain=yes | b=1, 'umbrella & hat'=0"), rel=1e-9)
    table = explorer.ask("P(rain, b)", {"umbrella & hat": 0})
    expected = model.conditional(["rain", "b"], {"umbrella & hat": 0})
    assert [row["probability"] for row in table["rows"]] == pytest.approx(expected.values.ravel(), rel=1e-9)
    assert explorer.ask("P(rain=yes)", {"rain": "no"})["probability"] == 0.0
    either = explorer.ask("P(rain=yes or b >= 1)", {})["probability"]
    assert either == pytest.approx(1 - explorer.ask("P(rain != yes, b < 1)", {})["probability"], abs=1e-12)
    entropy = explorer.ask("H(rain | b)", {})
    assert entropy["probability"] is None
    assert 0 < entropy["nats"] < math.log(2)
    mode = explorer.ask("mode(rain, b)", {})
    cells = {tuple(row["levels"]): row["probability"] for row in explorer.ask("P(rain, b)", {})["rows"]}
    assert mode["variables"] == ["rain", "b"]
    assert mode["rows"] == [
        {"levels": list(max(cells, key=cells.__getitem__)), "probability": pytest.approx(max(cells.values()))}
    ]
    with pytest.raises(QueryError, match="did you mean 'rain'"):
        explorer.ask("P(Rain=yes)", {})
    same = explorer.ask("P(rain=yes | b in {0, 1})", {"b": [1, 2]})["probability"]
    assert same == pytest.approx(model.probability("rain=yes | b=1"), rel=1e-9)


def test_what_if_is_bayes_rule(pair: tuple[Explorer, fs.BoltzmannMachine]) -> None:
    """P(target | given, v = l) of every other variable, the most telling first."""
    explorer, model = pair
    found = explorer.what_if("rain", {"umbrella & hat": 1, "rain": "no"}, limit=5)
    assert [row["variable"] for row in found["rows"]] == ["b"]
    assert found["now"] == pytest.approx(model.conditional("rain", {"umbrella & hat": 1}).values, rel=1e-9)
    for told in found["rows"][0]["levels"]:
        given = {"umbrella & hat": 1, "b": told["level"]}
        assert told["target"] == pytest.approx(model.conditional("rain", given).values, rel=1e-9)
        chance = model.probability({"b": told["level"]}, {"umbrella & hat": 1})
        assert told["probability"] == pytest.approx(chance, rel=1e-9)


def test_samples_obey_what_is_clamped_and_the_seed(pair: tuple[Explorer, fs.BoltzmannMachine]) -> None:
    explorer, _ = pair
    found = explorer.sample(20, 3, {"rain": "yes"})
    assert found["variables"] == ["rain", "b", "umbrella & hat"]
    assert {row[0] for row in found["rows"]} == {"yes"}
    assert explorer.sample(20, 3, {"rain": "yes"}) == found


def test_variables_and_terms_are_found(pair: tuple[Explorer, fs.BoltzmannMachine]) -> None:
    explorer, _ = pair
    assert [v["name"] for v in explorer.variables("A")["variables"]] == ["rain", "umbrella & hat"]
    assert explorer.variables("", offset=1, limit=1)["variables"][0]["name"] == "b"
    terms = explorer.terms(limit=1)
    assert terms["total"] >= 2
    assert len(terms["terms"]) == 1
    json.dumps([explorer.summary(), explorer.terms(), explorer.graph()], allow_nan=False)


def test_a_question_that_is_too_wide_is_refused(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (60, 14))
    fs.ChowLiuTree().fit(rows).save(tmp_path / "wide.fsm")
    explorer = Explorer(tmp_path / "wide.fsm")
    names = ", ".join(f"x{i}" for i in range(13))
    with pytest.raises(QueryError, match="at most 4,096 cells over 12 variables"):
        explorer.ask(f"P({names})", {})
    assert isinstance(explorer.oracle, GraphModel)


def test_thousands_of_variables_are_searched_and_focused(tmp_path: Path) -> None:
    """The neighbourhood of a node of a chain, and answers about far ends, at 2,000 variables."""
    rng = np.random.default_rng(0)
    rows = np.empty((100, 2000), dtype=int)
    rows[:, 0] = rng.integers(0, 2, 100)
    for i in range(1, 2000):
        rows[:, i] = rows[:, i - 1] ^ (rng.random(100) < 0.02)
    fs.ChowLiuTree().fit(rows).save(tmp_path / "long.fsm")
    explorer = Explorer(tmp_path / "long.fsm")
    near = explorer.graph("x1000", radius=2, limit=50)
    assert 3 <= len(near["nodes"]) <= 50
    assert near["total_nodes"] == 2000
    assert {"x1000"} < {n["name"] for n in near["nodes"]}
    assert len(explorer.graph(limit=60)["nodes"]) <= 60
    assert explorer.variables("x199", limit=5)["total"] == 11
    assert explorer.ask("P(x1999=1 | x0=1)", {"x1000": 1})["probability"] == pytest.approx(
        explorer.ask("P(x1999=1)", {"x1000": 1})["probability"], abs=0.2
    )


def test_a_mixture_of_hundreds_of_variables_is_explored(tmp_path: Path) -> None:
    """All pairs share by the hidden variable, neighbours more: they are near in the graph, and tell most."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 400)
    rows = (rng.random((400, 300)) < np.where(kind, 0.8, 0.2)[:, None]).astype(int)
    rows[:, 1::2] = rows[:, ::2] ^ (rng.random((400, 150)) < 0.05)
    model = fs.FullSpanMixture(runs=[(2, 1)], restarts=1, random_state=0).fit(rows)
    model.save(tmp_path / "wide.fsm")
    explorer = Explorer(tmp_path / "wide.fsm")
    near = explorer.graph("x10", radius=1, limit=20)
    assert ("x10", "x11") in {(edge["a"], edge["b"]) for edge in near["edges"]}
    assert all(edge["direction"] == 1 for edge in near["edges"] if edge["strength"] > 50)
    assert "x10 – x11" in {term["words"] for term in explorer.terms(limit=150)["terms"]}
    moved = explorer.what_if("x10", {"x200": 1}, limit=3)["rows"]
    assert moved[0]["variable"] == "x11"
    json.dumps([explorer.summary(), near, moved, explorer.sample(2, 0, {"x0": 1})], allow_nan=False)


def test_a_model_of_some_columns_given_others_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (80, 2))
    fs.BoltzmannClassifier().fit(x, x[:, 0] ^ (rng.random(80) < 0.1)).save(tmp_path / "c.fsm")
    with pytest.raises(FullspanError, match="predicts some columns"):
        Explorer(tmp_path / "c.fsm")


@pytest.mark.parametrize("unseen", [0.0, 0.05])
@pytest.mark.parametrize("n", [6, 40])
def test_a_truncated_machine_is_asked_about_its_own_states(tmp_path: Path, unseen: float, n: int) -> None:
    """Page and report sum over the states that the machine has, not over all states of its variables."""
    from fullspan.report.content import gather

    rng = np.random.default_rng(0)
    rows = (rng.random((80, n)) < 0.3).astype(int)
    rows[:, 1] = np.where(rng.random(80) < 0.8, rows[:, 0], rows[:, 1])
    machine = fs.TruncatedBoltzmannMachine(min_support=0.2, unseen=unseen, l2=1e-3).fit(rows)
    machine.save(tmp_path / "truncated.fsm")
    explorer = Explorer(tmp_path / "truncated.fsm")
    expected = machine.conditional("x1", {"x0": 1}).values
    found = explorer.distributions({"x0": 1}, ["x1"])
    assert found["marginals"]["x1"] == pytest.approx(expected, abs=1e-12)
    assert found["log_prob"] == pytest.approx(np.log(machine.probability("x0=1")), abs=1e-12)
    asked = explorer.ask("P(x1)", {"x0": 1})["rows"]
    assert [row["probability"] for row in asked] == pytest.approx(expected, abs=1e-12)
    assert explorer.what_if("x1", {}, 1)["now"] == pytest.approx(machine.marginal("x1").values, abs=1e-12)
    content = gather(machine, rows, refit=False)
    assert content.shares[1].expected == pytest.approx(machine.marginal("x1").values, abs=1e-12)
    assert content.information is None


def test_the_graph_says_what_its_strengths_are(paths: dict[str, Path], mixed: dict[str, Path], tmp_path: Path) -> None:
    """Nats saved by the terms of a pair, nats that a pair of a mixture shares, or the range of a network's factor."""
    graph, terms = Explorer(paths["one"]).graph(), fs.load(paths["one"]).terms_
    assert graph["measure"] == "nats saved"
    for edge in graph["edges"]:
        saved = [row.nats_saved for row in terms if set(row.variables) == {edge["a"], edge["b"]}]
        assert edge["strength"] == pytest.approx(sum(saved), rel=1e-9)
    assert Explorer(mixed["mixture"]).graph()["measure"] == "nats shared"
    network = tmp_path / "two.uai"
    network.write_text("MARKOV\n2\n2 2\n1\n2 0 1\n\n4\n 1.0 2.0 3.0 8.0\n")
    graph = Explorer(network).graph()
    assert graph["measure"] == "range of log factor"
    assert graph["edges"][0]["strength"] == pytest.approx(math.log(8.0))
