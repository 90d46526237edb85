"""What the explorer answers is what the model answers, whatever its kind; and it refuses what is too wide."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import fullspan as fs
from fullspan.errors import FullspanError, QueryError
from fullspan.people.web import Explorer, Neighbourhoods
from web.conftest import rows_of


class Rows(tuple):  # type: ignore[type-arg]
    """Interactions without a remark."""

    notes: tuple[str, ...] = ()


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


def test_consequences_are_sorted_by_how_far_each_variable_moved(pair: tuple[Explorer, fs.BoltzmannMachine]) -> None:
    explorer, model = pair
    found = explorer.consequences({"rain": "yes"}, order="changed")
    moved = [v["moved"] for v in found["variables"]]
    assert moved == sorted(moved, reverse=True)
    assert found["variables"][0]["name"] == "rain"
    for v in found["variables"]:
        assert v["now"] == pytest.approx(model.conditional(v["name"], {"rain": "yes"}).values, abs=1e-9)
        assert v["moved"] == pytest.approx(np.abs(np.array(v["now"]) - np.array(v["prior"])).sum() / 2)
    assert [v["name"] for v in explorer.consequences({}, search="a", limit=1)["variables"]] == ["rain"]


def test_other_shares_of_a_column_keep_what_is_conditional_on_it(pair: tuple[Explorer, fs.BoltzmannMachine]) -> None:
    """The I-projection on one margin: P'(x) = sum_l P'(rain=l) P(x | rain=l), whatever the kind of model."""
    explorer, model = pair
    found = explorer.margins({"rain": [3, 1]})
    assert found["changed"][0]["now"] == pytest.approx([0.75, 0.25], abs=1e-9)
    for v in found["variables"]:
        given = [np.array(model.conditional(v["name"], {"rain": level}).values) for level in ("no", "yes")]
        assert v["now"] == pytest.approx(0.75 * given[0] + 0.25 * given[1], abs=1e-8)
    for wrong in ([1.0], [0, 0], [-1, 2], [math.inf, 1]):
        with pytest.raises(QueryError, match="'rain' needs 2 shares"):
            explorer.margins({"rain": wrong})


def test_a_pasted_row_is_explained_and_comes_back_as_text(pair: tuple[Explorer, fs.BoltzmannMachine]) -> None:
    explorer, model = pair
    found = explorer.row("rain=yes, umbrella & hat = 0")
    assert found["score"] == pytest.approx(-math.log(model.probability("rain=yes, 'umbrella & hat'=0")), rel=1e-9)
    assert {c["column"]: c["level"] for c in found["cells"]} == {"rain": "yes", "b": None, "umbrella & hat": 0}
    assert explorer.row(found["text"]) == found
    assert explorer.row("rain;b;umbrella & hat\nyes;;0")["cells"] == found["cells"]
    for wrong, says in (
        ("", "empty"),
        ("rain=maybe", "no level"),
        ("yes,1", "2 cells for 3"),
        ("ran=yes", "mean 'rain'"),
    ):
        with pytest.raises(QueryError, match=says):
            explorer.row(wrong)
    with pytest.raises(QueryError, match="--data FILE"):
        explorer.row(number=1)


def test_an_effect_is_shown_with_the_rows_and_who_else_is_involved(paths: dict[str, Path], tmp_path: Path) -> None:
    """Shares of the model, next to those of the table with Wilson's intervals; and the other pairs of both columns."""
    rows_of(300).to_csv(tmp_path / "rain.csv", index=False)
    explorer, model = Explorer(paths["one"], tmp_path / "rain.csv"), fs.load(paths["one"])
    found = explorer.effect(["umbrella & hat", "rain"])
    assert "from which the model was learned" in found["about_rows"]
    assert found["shares"]["columns"] == ["umbrella & hat=1"]
    for row, level in zip(found["shares"]["rows"], ("no", "yes"), strict=True):
        own = rows_of(300).query("rain == @level")["umbrella & hat"]
        assert row["model"] == pytest.approx([model.probability("'umbrella & hat'=1", {"rain": level})])
        assert (row["data"], row["n"]) == (pytest.approx([own.mean()]), len(own))
        assert row["low"][0] < own.mean() < row["high"][0]
    assert found["effects"][0]["low"] < found["effects"][0]["ratio"] < found["effects"][0]["high"]
    assert len(found["others"]) == 2
    assert explorer.row(number=2)["n_rows"] == 300
    with pytest.raises(QueryError, match="rows 1 to 300"):
        explorer.row(number=301)
    other = Explorer(paths["two"], paths["one"]).effect(["rain", "b"])
    assert other["shares"]["rows"][0]["data"] == [None]
    assert "one.fsm is not shown" in other["about_rows"]
    with pytest.raises(QueryError, match="no interaction of this model joins just rain, rain"):
        explorer.effect(["rain", "rain"])


def test_interactions_are_searched_and_sorted(paths: dict[str, Path]) -> None:
    explorer = Explorer(paths["one"])
    assert explorer.interactions(variable="b", sort="words", descending=False)["total"] == 2
    ratios = [abs(math.log(r["ratio"])) for r in explorer.interactions(sort="ratio")["interactions"] if r["ratio"]]
    assert ratios == sorted(ratios, reverse=True)
    assert [set(r["variables"]) for r in explorer.interactions(search="HAT rain")["interactions"]] == [
        {"rain", "umbrella & hat"}
    ]
    with pytest.raises(QueryError, match="did you mean 'rain'"):
        explorer.interactions(variable="ran")


def test_models_are_compared_in_the_columns_that_they_share(paths: dict[str, Path], tmp_path: Path) -> None:
    rows_of(50)[["rain", "b"]].rename(columns={"b": "c"}).to_csv(tmp_path / "c.csv", index=False)
    fs.ChowLiuTree().fit(tmp_path / "c.csv").save(tmp_path / "c.fsm")
    models = {name: Explorer(path) for name, path in {**paths, "c": tmp_path / "c.fsm"}.items()}
    assert models["one"].comparable(models)["models"] == [
        {"name": "two", "n_common": 3},
        {"name": "c", "n_common": 1},
    ]
    found = models["one"].compare(models, "two", {"b": 1})
    assert {v["name"]: v["other"] for v in found["variables"]}["rain"] == pytest.approx(
        fs.load(paths["two"]).conditional("rain", {"b": 1}).values
    )
    assert [v["name"] for v in models["one"].compare(models, "c", {})["variables"]] == ["rain"]


def test_samples_obey_what_is_clamped_and_the_seed(pair: tuple[Explorer, fs.BoltzmannMachine]) -> None:
    explorer, _ = pair
    found = explorer.sample(20, 3, {"rain": "yes"})
    assert found["variables"] == ["rain", "b", "umbrella & hat"]
    assert {row[0] for row in found["rows"]} == {"yes"}
    assert explorer.sample(20, 3, {"rain": "yes"}) == found


def test_variables_and_interactions_are_found(pair: tuple[Explorer, fs.BoltzmannMachine]) -> None:
    explorer, model = pair
    assert [v["name"] for v in explorer.variables("A")["variables"]] == ["rain", "umbrella & hat"]
    assert explorer.variables("", offset=1, limit=1)["variables"][0]["name"] == "b"
    second = explorer.interactions(offset=1, limit=1)
    assert second["total"] == explorer.summary()["n_interactions"] == len(model.interactions_)
    assert [row["words"] for row in second["interactions"]] == [model.interactions_[1].words]
    assert explorer.terms(limit=1)["total"] == explorer.summary()["n_terms"] == getattr(model, "n_terms_", 0)
    json.dumps([explorer.summary(), explorer.interactions(), explorer.terms(), explorer.graph()], allow_nan=False)


def test_an_interaction_is_that_of_the_estimator(paths: dict[str, Path]) -> None:
    """The effect in words, its interval, the nats saved and the direction; single columns are none of them."""
    rows = Explorer(paths["one"]).interactions()["interactions"]
    expected = fs.load(paths["one"]).interactions_
    for row, own in zip(rows, expected, strict=True):
        low, high = own.effects[0].interval(0.95)
        assert (row["words"], row["order"], row["kind"]) == (own.words, own.order, own.kind)
        assert (row["low"], row["ratio"], row["high"]) == pytest.approx((low, own.effects[0].ratio, high), rel=1e-12)
        assert (row["strength"], row["direction"]) == (own.nats_saved, own.direction)
        assert (row["nats_saved"], row["approximate"]) == (own.nats_saved, own.approximate)
    assert {row["order"] for row in rows} == {2}
    against = next(row for row in rows if row["variables"] == ["rain", "umbrella & hat"])
    assert "goes against" in against["words"]
    assert against["direction"] == -1
    assert against["high"] < 1


@pytest.mark.parametrize(
    ("name", "called", "measure", "says"),
    [
        ("one", "interaction", "nats saved", "dropped and everything else is refitted"),
        ("two", "edge", "nats saved", "The edges of the tree"),
        ("mixture", "pair", "nats shared", "A mixture has no interactions of its own"),
        ("hidden", "edge", "nats shared", "hidden variables"),
        ("average", "interaction", "nats saved", "averaged over the fits"),
    ],
)
def test_each_kind_of_model_says_what_joins_its_variables(
    paths: dict[str, Path], mixed: dict[str, Path], name: str, called: str, measure: str, says: str
) -> None:
    explorer = Explorer({**paths, **mixed}[name])
    found, graph = explorer.interactions(), explorer.graph()
    assert (found["called"], found["measure"], graph["measure"]) == (called, measure, measure)
    assert says in found["note"]
    saves, states = measure == "nats saved", name not in ("mixture", "hidden")
    for row, edge in zip(found["interactions"], graph["edges"], strict=True):
        assert row["nats_saved"] == (row["strength"] if saves else None)
        assert (row["kind"] is not None) == (edge["kind"] is not None) == states
        assert (edge["strength"], edge["words"], edge["direction"]) == (row["strength"], row["words"], row["direction"])
        assert edge["approximate"] == row["approximate"]
        assert "favoured" not in row["words"]


def test_every_edge_and_group_goes_where_its_words_go() -> None:
    """A pair that goes with, one that goes against, a parity of three without direction; one line or shade per set."""
    from fullspan.estimators.explain import links_by_interactions
    from fullspan.model.effects import Effect, Interaction

    def row(variables: str, nats: float, log_ratio: float, kind: str) -> Interaction:
        events = tuple(f"{name}=1" for name in variables)
        return Interaction(tuple(variables), nats, False, kind, (Effect(events, log_ratio),))  # type: ignore[arg-type]

    class Model:
        interactions_ = Rows(
            (
                row("ab", 9.0, 1.2, "odds ratio"),
                row("bc", 7.0, -0.4, "odds ratio"),
                row("abc", 3.0, 0.3, "cell ratio"),
                row("ac", -1e-9, 0.1, "odds ratio"),
                row("cd", math.nan, 0.1, "odds ratio"),
            )
        )
        fitted_ = SimpleNamespace(kind="log-linear")

    graph = Neighbourhoods("abcd", links_by_interactions(Model()).links).near(None, 1, 10)
    found = {edge["a"] + edge["b"]: edge for edge in graph["edges"]}
    assert {key: edge["direction"] for key, edge in found.items()} == {"ab": 1, "bc": -1, "ac": 1, "cd": 1}
    assert [found[key]["strength"] for key in ("ab", "bc", "ac", "cd")] == [9.0, 7.0, 0.0, 0.0]
    assert "goes with" in found["ab"]["words"]
    assert "goes against" in found["bc"]["words"]
    assert [(group["members"], group["strength"]) for group in graph["groups"]] == [(["a", "b", "c"], 3.0)]
    assert (graph["total_edges"], graph["total_groups"], graph["total_interactions"]) == (4, 1, 5)


def test_without_nats_the_strength_is_the_effect() -> None:
    """A model whose rows are gone has no nats saved, and its picture does not call them so."""
    from fullspan.estimators.explain import links_by_interactions
    from fullspan.model.effects import Effect, Interaction

    class Model:
        interactions_ = tuple(
            Interaction(names, math.nan, True, "odds ratio", (Effect(names, value),))
            for names, value in ((("a", "b"), -0.5), (("b", "c"), math.inf))
        )
        fitted_ = None

    found = links_by_interactions(Model())
    assert found.measure == "log ratio"
    assert "not known" in found.note
    assert [(link.row.variables, link.strength) for link in found.links] == [(("b", "c"), 700.0), (("a", "b"), 0.5)]
    assert not any(link.approximate for link in found.links)


def test_a_question_that_is_too_wide_is_refused(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (60, 14))
    fs.ChowLiuTree().fit(rows).save(tmp_path / "wide.fsm")
    explorer = Explorer(tmp_path / "wide.fsm")
    names = ", ".join(f"x{i}" for i in range(13))
    with pytest.raises(QueryError, match="at most 4,096 cells over 12 variables"):
        explorer.ask(f"P({names})", {})


def test_a_thousand_variables_are_searched_and_focused(tmp_path: Path) -> None:
    """The neighbourhood of a node of a chain, and answers about far ends, at 1,000 variables."""
    rng = np.random.default_rng(0)
    rows = np.empty((100, 1000), dtype=int)
    rows[:, 0] = rng.integers(0, 2, 100)
    for i in range(1, 1000):
        rows[:, i] = rows[:, i - 1] ^ (rng.random(100) < 0.02)
    fs.ChowLiuTree().fit(rows).save(tmp_path / "long.fsm")
    explorer = Explorer(tmp_path / "long.fsm")
    near = explorer.graph("x500", radius=2, limit=50)
    assert 3 <= len(near["nodes"]) <= 50
    assert near["total_nodes"] == 1000
    assert {"x500"} < {n["name"] for n in near["nodes"]}
    assert len(explorer.graph(limit=60)["nodes"]) <= 60
    assert explorer.variables("x99", limit=5)["total"] == 11
    assert explorer.ask("P(x999=1 | x0=1)", {"x500": 1})["probability"] == pytest.approx(
        explorer.ask("P(x999=1)", {"x500": 1})["probability"], abs=0.2
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
    assert "x10, x11" in {row["words"] for row in explorer.interactions(limit=150)["interactions"]}
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
    from fullspan.people.report import gather

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


def test_a_network_has_factors_and_no_nats(tmp_path: Path) -> None:
    """Strength is the range of a factor's logarithms; two factors of the same variables are one, their product."""
    network = tmp_path / "two.uai"
    network.write_text("MARKOV\n2\n2 2\n1\n2 0 1\n\n4\n 1.0 2.0 3.0 8.0\n")
    explorer = Explorer(network)
    graph, found = explorer.graph(), explorer.interactions()
    assert graph["measure"] == found["measure"] == "range of log factor"
    assert (explorer.summary()["n_interactions"], found["called"]) == (1, "factor")
    assert graph["edges"][0]["strength"] == pytest.approx(math.log(8.0))
    row = found["interactions"][0]
    assert (row["words"], row["nats_saved"], row["approximate"], row["kind"]) == ("x0, x1", None, False, None)
    network.write_text("MARKOV\n2\n2 2\n2\n2 0 1\n2 1 0\n\n4\n 1.0 2.0 3.0 8.0\n\n4\n 1.0 1.0 5.0 0.0\n")
    edges = Explorer(network).graph()["edges"]
    assert [(edge["a"], edge["b"]) for edge in edges] == [("x0", "x1")]
    assert edges[0]["strength"] == pytest.approx(math.log(10.0 / 1.0))
