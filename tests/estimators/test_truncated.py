"""The truncated machine as people use it: questions, files, features, and what it refuses."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import fullspan as fs
from fullspan import MachineFeatures, TruncatedBoltzmannMachine
from fullspan.errors import BoundaryWarning, ConvergenceWarning, DataError, FullspanError, ModelFileError, QueryError
from fullspan.model.files import checksum

EXPECTED_FAILURES = {
    "check_estimators_nan_inf": "a missing cell is refused in words that suit text too, where the check looks for NaN",
    "check_sample_weight_equivalence_on_dense_data": "the bins of repeated rows differ from those of weighted ones",
}


@parametrize_with_checks(
    [TruncatedBoltzmannMachine(bins=2, l2=0.01)], expected_failed_checks=lambda _: EXPECTED_FAILURES
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    """All that applies to continuous columns cut in two."""
    check(estimator)


def table(rows: int = 60, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((rows, 5)) < [0.3, 0.6, 0.5, 0.4, 0.2]).astype(int)


@pytest.fixture(params=[0.0, 0.05])
def machine(request: pytest.FixtureRequest) -> TruncatedBoltzmannMachine:
    return TruncatedBoltzmannMachine(l2=0.02, unseen=request.param, min_support=0.2).fit(table(20))


def joint(machine: TruncatedBoltzmannMachine) -> dict[tuple[int, ...], float]:
    """All 32 probabilities by the definition."""
    model = machine.model_
    inside = {tuple(map(int, s)): 0.0 for s in model.states}
    for state in inside:
        on = {(i, x) for i, x in enumerate(state) if x}
        inside[state] = np.exp(sum(w for term, w in model.weights.items() if set(term) <= on))
    total = sum(inside.values())
    unseen = machine.unseen / (32 - len(inside))
    every = np.ndindex(2, 2, 2, 2, 2)
    return {s: (1 - machine.unseen) * inside[s] / total if s in inside else unseen for s in every}


def test_probabilities_are_sums_over_the_states(machine: TruncatedBoltzmannMachine) -> None:
    p = joint(machine)
    assert len(machine.model_.states) < 32
    assert np.isclose(sum(p.values()), 1)
    states = np.array(list(p))
    with np.errstate(divide="ignore"):
        assert np.allclose(machine.score_samples(states), np.log(list(p.values())), atol=1e-10)
    given = sum(v for s, v in p.items() if s[2] == 1)
    both = sum(v for s, v in p.items() if s[2] == 1 and s[0] == 1)
    assert np.isclose(machine.probability("x0=1 | x2=1"), both / given)
    marginal = np.array([[sum(v for s, v in p.items() if (s[1], s[3]) == (a, b)) for b in (0, 1)] for a in (0, 1)])
    assert np.allclose(machine.marginal(["x1", "x3"]).values, marginal)
    values = np.array([v for v in p.values() if v > 0])
    assert np.isclose(machine.entropy(), -values @ np.log(values))
    independent = np.outer(marginal.sum(1), marginal.sum(0))
    assert np.isclose(machine.mutual_information("x1", "x3"), (marginal * np.log(marginal / independent)).sum())
    best = max((s for s in p if s[4] == 1), key=p.__getitem__)
    assert tuple(machine.mode(given={"x4": 1}).values()) == best
    conditional = [sum(v for s, v in p.items() if s[1] == 1 and s[0] == a) for a in (0, 1)]
    means = machine.impute([[np.nan, 1, np.nan, np.nan, np.nan]], how="mean")["x0"][0]
    assert np.allclose(means, np.array(conditional) / sum(conditional))


def test_samples_have_these_probabilities(machine: TruncatedBoltzmannMachine) -> None:
    p = joint(machine)
    drawn = machine.sample(4000, random_state=0)
    found = {s: np.mean((drawn == s).all(axis=1)) for s in p}
    assert max(abs(found[s] - p[s]) for s in p) < 4 * np.sqrt(0.25 / 4000)
    assert sum(found[s] for s in p if p[s] == 0) == 0
    assert (machine.sample(50, random_state=1, given={"x3": 1})[:, 3] == 1).all()


def test_outside_its_states_the_answer_is_minus_infinity_unless_mass_is_reserved() -> None:
    """The documented answer: -inf, or the same share of ``unseen`` for each of the states left out."""
    data = table(20)
    plain = TruncatedBoltzmannMachine(l2=0.02).fit(data)
    outside = [s for s in np.ndindex(2, 2, 2, 2, 2) if s not in set(map(tuple, plain.model_.states.tolist()))]
    assert np.isneginf(plain.score_samples(outside)).all()
    reserved = TruncatedBoltzmannMachine(l2=0.02, unseen=0.1).fit(data)
    assert np.allclose(np.exp(reserved.score_samples(outside)).sum(), 0.1)
    assert np.allclose(reserved.score_samples(data), plain.score_samples(data) + np.log(0.9))
    with pytest.raises(QueryError, match="probability 0 under this truncated machine"):
        plain.probability(
            "x0=1", given=dict(zip(plain.space_.names[1:], outside[0][1:], strict=True)) | {"x0": outside[0][0]}
        )


def test_features_of_rows_and_of_machines() -> None:
    """f_i = |lambda_i| + sum_j |lambda_ij|; of a row, over the patterns that it contains."""
    data = table(200)
    machine = TruncatedBoltzmannMachine(l2=0.01).fit(data)
    weights = machine.model_.weights
    expected = [sum(abs(w) for term, w in weights.items() if i in dict(term)) for i in range(5)]
    assert np.allclose(machine.intensities_, expected)
    assert np.allclose(machine.transform([[1] * 5])[0], expected)
    row = [1, 0, 1, 0, 0]
    inside = {t: w for t, w in weights.items() if all(row[i] for i, _ in t)}
    assert np.allclose(
        machine.transform([row])[0], [sum(abs(w) for t, w in inside.items() if i in dict(t)) for i in range(5)]
    )
    assert machine.get_feature_names_out().tolist() == [f"x{i}" for i in range(5)]


def test_tables_are_told_apart_by_their_machines() -> None:
    """A pipeline over whole tables: machines as features, then neighbours."""
    rng = np.random.default_rng(0)
    tables = [(rng.random((60, 4)) < np.roll([0.95, 0.5, 0.5, 0.5], k)).astype(int) for k in (0, 2) * 10]
    labels = [0, 1] * 10
    machine = TruncatedBoltzmannMachine(l2=0.01, min_support=0.05)
    model = make_pipeline(MachineFeatures(machine), KNeighborsClassifier(3)).fit(tables[:12], labels[:12])
    assert model.score(tables[12:], labels[12:]) > 0.8


def test_features_of_tables_have_the_names_of_the_columns() -> None:
    """Frames in, a frame out: a row per table, a column per variable."""
    frame = pd.DataFrame(table(60), columns=list("abcde"))
    machine = MachineFeatures(TruncatedBoltzmannMachine(l2=0.1)).set_output(transform="pandas")
    found = machine.fit_transform([frame[:30], frame[30:]])
    assert list(found.columns) == list("abcde")
    alone = TruncatedBoltzmannMachine(l2=0.1).fit(frame[30:])
    assert np.allclose(found.iloc[1], alone.intensities_)


def test_features_of_tables_leave_out_the_same_level() -> None:
    """A level that one table lacks is still its first: a table of "b" and "c" alone is not read as 0 and 1."""
    first = pd.DataFrame({"v": ["a", "b", "c"] * 10, "w": [0, 1] * 15})
    second = pd.DataFrame({"v": ["b", "c", "c"] * 10, "w": [0, 1] * 15})
    machine = TruncatedBoltzmannMachine(l2=0.1)
    features = MachineFeatures(machine).fit([first, second])
    assert features.levels_ == {"v": ("a", "b", "c"), "w": (0, 1)}
    levels = {"v": ["a", "b", "c"], "w": [0, 1]}
    expected = TruncatedBoltzmannMachine(l2=0.1, levels=levels).fit(second).intensities_
    assert np.allclose(features.transform([second])[0], expected)
    assert not np.allclose(TruncatedBoltzmannMachine(l2=0.1).fit(second).intensities_, expected)
    with pytest.raises(DataError, match="not among its levels"):
        features.transform([first.replace("a", "d")])


def test_tables_that_do_not_belong_together_are_refused() -> None:
    features = MachineFeatures(TruncatedBoltzmannMachine(l2=0.1))
    with pytest.raises(FullspanError, match="no table was given"):
        features.fit([])
    with pytest.raises(FullspanError, match="table 1 has the variables 4"):
        features.fit([table(20), table(20)[:, :4]])
    features.fit([table(20)])
    with pytest.raises(FullspanError, match="no table was given"):
        features.transform([])
    with pytest.raises(NotFittedError):
        MachineFeatures(TruncatedBoltzmannMachine()).transform([table(20)])


def test_nothing_is_reserved_where_no_state_is_outside() -> None:
    """Rows that show all states leave no place for unseen mass, as some folds of a cross-validation do."""
    every = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]])
    kept, plain = (TruncatedBoltzmannMachine(unseen=u, l2=0.1).fit(every) for u in (0.2, 0.0))
    assert np.array_equal(kept.score_samples(every), plain.score_samples(every))
    assert np.isclose(np.exp(kept.score_samples(every[:4])).sum(), 1.0)


def test_a_file_and_a_pickle_answer_the_same(tmp_path: Path) -> None:
    data = table(30)
    machine = TruncatedBoltzmannMachine(patterns=["x0", {"x1": 1, "x2": 1}, ["x3", "x4"]], l2=0.1, unseen=0.01).fit(
        data
    )
    machine.save(tmp_path / "m.fsm")
    again = fs.load(tmp_path / "m.fsm")
    assert type(again) is TruncatedBoltzmannMachine
    assert again.get_params()["patterns"] == ["x0", {"x1": 1, "x2": 1}, ["x3", "x4"]]
    for other in (again, pickle.loads(pickle.dumps(machine))):
        assert np.array_equal(other.score_samples(data), machine.score_samples(data))
        assert other.probability("x0=1 | x3=1") == machine.probability("x0=1 | x3=1")
    assert clone(again).fit(data).log_likelihood_ == machine.log_likelihood_


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no state": (lambda d: d["truncated"]["states"].append("zz"), "not an index of a state"),
    "a state too large": (lambda d: d["truncated"]["states"].append("ffff"), "not an index of a state"),
    "twice": (lambda d: d["truncated"]["states"].append(d["truncated"]["states"][0]), "listed twice"),
    "mass": (lambda d: d["truncated"].update(unseen=1.5), "probability from 0"),
    "log Z": (lambda d: d.update(log_z=0.0), "does not match the weights"),
    "another class": (
        lambda d: d["fit"]["settings"].update(estimator="FullSpan"),
        "are those of Truncated",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_holds_no_machine_is_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "m.fsm"
    TruncatedBoltzmannMachine(l2=0.1).fit(table(30)).save(path)
    document = json.loads(path.read_text())
    alter, message = CHANGES[change]
    alter(document)
    document["checksum"] = checksum(document)
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=message):
        fs.load(path)


REFUSED: list[tuple[dict[str, Any], Any, str]] = [
    ({"min_support": 1.0}, None, "no pattern is in enough rows.*lower it"),
    ({"patterns": []}, None, "patterns= is empty"),
    ({"patterns": [["x0", "x9"]]}, None, "'x9'"),
    ({"patterns": [{"x0": 7}]}, None, "no level 7"),
    ({"patterns": [{"x0": 0}]}, None, "first level"),
    ({"patterns": ["x0", ["x0"]]}, None, "is listed twice"),
    ({"patterns": [[]]}, None, "is empty"),
    ({"patterns": ["x0"], "n_pairs": 3}, None, "leave one of them out"),
    ({"n_pairs": 99}, None, "the 10 pairs there are"),
    ({"min_support": 0}, None, "min_support is 0"),
    ({"min_support": 1.5}, None, "min_support is 1.5"),
    ({"min_support": True}, None, "min_support is True"),
    ({"solver": "ipf"}, None, "choose one of"),
    ({"learning_rate": 0.1}, None, "goes with solver='gradient'"),
    ({"unseen": 1.0}, None, "unseen is 1.0"),
    ({"unseen": 0.1, "states": "all", "l2": 0.1}, None, "has no effect"),
    ({"states": "most"}, None, "or 'all'"),
    ({"max_order": None}, None, "max_order is None"),
    ({"l2": -1.0}, None, "l2 is -1.0"),
    ({}, [[1, 1]] * 4, "the space is one state"),
    ({"missing": "em"}, [[0, 1], [1, None], [1, 1]], "needs complete rows"),
]


@pytest.mark.parametrize(("parameters", "data", "message"), REFUSED)
def test_bad_input_is_refused_with_the_way_out(parameters: dict[str, Any], data: Any, message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        TruncatedBoltzmannMachine(**parameters).fit(table() if data is None else data)


def test_all_states_of_many_variables_are_refused() -> None:
    data = np.random.default_rng(0).integers(2, size=(10, 784))
    with pytest.raises(FullspanError, match="states='all' of 784 variables"):
        TruncatedBoltzmannMachine(n_pairs=5, states="all").fit(data)


def test_there_are_never_more_weights_than_states() -> None:
    """S holds B and 0: with D inside, |B| = |S| - 1, the model is saturated and the fit is the data."""
    data = [[0, 0]] * 3 + [[1, 0]] * 2 + [[0, 1]] * 4 + [[1, 1]]
    machine = TruncatedBoltzmannMachine(patterns=["x0", "x1", ["x0", "x1"]]).fit(data)
    assert machine.n_states_ == machine.n_terms_ + 1
    assert machine.divergence_ < 1e-12
    assert machine.goodness_.df == 0


def test_a_maximum_at_infinity_is_told() -> None:
    data = (np.random.default_rng(0).random((8, 30)) < 0.6).astype(int)
    with pytest.warns(BoundaryWarning, match="lies at infinity"):
        machine = TruncatedBoltzmannMachine(n_pairs=100, random_state=0).fit(data)
    assert machine.divergence_ < 1e-9
    assert machine.diverging_


def test_a_descent_that_ends_early_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        TruncatedBoltzmannMachine(solver="gradient", max_iter=10).fit(table())


def test_further_states_belong_to_the_space() -> None:
    machine = TruncatedBoltzmannMachine(l2=0.1, states=[[1, 1, 1, 1, 1]]).fit(table(20))
    assert np.isfinite(machine.score_samples([[1, 1, 1, 1, 1]])).all()
    with pytest.raises(DataError, match="x0"):
        TruncatedBoltzmannMachine(states=[[5, 0, 0, 0, 0]]).fit(table(20))


def test_missing_cells_are_refused_with_the_remedies_of_this_machine() -> None:
    rows = pd.DataFrame({"a": [1, 0, None] * 20, "b": ["x", "y", "x"] * 20})
    with pytest.raises(DataError, match=r"20 empty cells in a\..*missing='drop'.*missing='level'") as caught:
        fs.TruncatedBoltzmannMachine().fit(rows)
    assert "missing='em'" not in str(caught.value)
    with pytest.raises(DataError, match="missing='em'"):
        fs.FullSpan().fit(rows)
