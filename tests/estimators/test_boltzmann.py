"""Boltzmann machines as people use them: given terms, hidden units, missing cells, limits at infinity."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from fullspan.datasets import house_votes_path
from fullspan.errors import BoundaryWarning, ConvergenceWarning, FullspanError, ModelFileError, QueryError
from fullspan.model.files import checksum

COLUMNS = ["party", "physician", "budget", "crime"]
LEVELS = {"u": [0, 1, 2], "v": [0, 1], "w": [0, 1]}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return pd.read_csv(house_votes_path(), na_values="?", dtype=object)[COLUMNS]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Three variables, one of three levels, with every cell seen and no two alike."""
    rng = np.random.default_rng(3)
    u = rng.integers(3, size=600)
    v = (rng.random(600) < 0.25 + 0.2 * u).astype(int)
    w = (rng.random(600) < 0.35 + 0.3 * v - 0.1 * (u == 1)).astype(int)
    return pd.DataFrame({"u": u, "v": v, "w": w})


def joint(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Every state, hidden variables included, and its probability, by enumeration."""
    states = model.space_.states(range(model.space_.n_states))
    return states, np.exp(model.model_.log_prob(states))


def margin(model: Any, names: list[str]) -> np.ndarray:
    states, p = joint(model)
    where = [model.space_.position(name) for name in names]
    table = np.zeros([model.space_.cards[i] for i in where])
    np.add.at(table, tuple(states[:, where].T), p)
    return table


def counted(rows: pd.DataFrame, names: list[str]) -> np.ndarray:
    table = np.zeros([len(LEVELS[name]) for name in names])
    np.add.at(table, tuple(rows[names].to_numpy().T), 1.0)
    return table


# -- what is learned ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "gradient", "ipf"])
@pytest.mark.parametrize(
    ("given", "margins"),
    [
        ({"order": 1}, [["u"], ["v"], ["w"]]),
        ({}, [["u", "v"], ["u", "w"], ["v", "w"]]),
        ({"graph": [("u", "v"), ("w", "v")]}, [["u", "v"], ["v", "w"]]),
        ({"graph": {"u": ["v"], "v": ["w"]}}, [["u", "v"], ["v", "w"]]),
        ({"graph": np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])}, [["u", "v"], ["v", "w"]]),
        ({"margins": [["u", "w"], ["v"]]}, [["u", "w"], ["v"]]),
        ({"terms": [["u"], ["w"], ["u", "w"]]}, [["u", "w"]]),
        ({"order": None}, [["u", "v", "w"]]),
    ],
)
def test_given_margins_are_those_of_the_data(rows: pd.DataFrame, solver: str, given: Any, margins: Any) -> None:
    """Maximum likelihood: the expectations of all given terms are the data's."""
    model = fs.BoltzmannMachine(solver=solver, **given).fit(rows)
    assert model.status_ == "converged"
    for names in margins:
        np.testing.assert_allclose(margin(model, names), counted(rows, names) / len(rows), atol=1e-9)


def test_the_attributes_describe_the_fit(rows: pd.DataFrame) -> None:
    model = fs.BoltzmannMachine().fit(rows)
    states, p = joint(model)
    counts = counted(rows, ["u", "v", "w"])[tuple(states.T)]
    seen = counts > 0
    deviance = 2 * (counts[seen] * np.log(counts[seen] / (len(rows) * p[seen]))).sum()
    assert model.goodness_ is not None
    assert math.isclose(model.log_likelihood_, (counts[seen] * np.log(p[seen])).sum(), rel_tol=1e-12)
    assert math.isclose(model.goodness_.g2, deviance, rel_tol=1e-9)
    assert (model.goodness_.df, model.goodness_.n_parameters) == (2, 9)
    assert math.isclose(2 * len(rows) * model.divergence_, deviance, rel_tol=1e-9)
    assert model.diverging_ == ()
    assert model.n_terms_ == len(model.terms_) == 9
    assert model.n_iter_ > 0
    assert len(model.history_) >= model.n_iter_
    assert all(term.standard_error > 0 for term in model.terms_)
    assert model.log_z_ == model.model_.log_z


def test_coefficients_are_those_of_a_poisson_regression(rows: pd.DataFrame) -> None:
    """log m = intercept + theta . Phi with Poisson counts has the same weights and errors (R's glm)."""
    model = fs.BoltzmannMachine().fit(rows)
    states, _ = joint(model)
    counts = counted(rows, ["u", "v", "w"])[tuple(states.T)]
    design = np.column_stack([np.ones(len(states)), model.model_.basis.evaluate(model.model_.terms, states)])
    beta = np.linalg.lstsq(design, np.log(counts), rcond=None)[0]
    for _ in range(30):
        m = np.exp(design @ beta)
        information = design.T @ (design * m[:, None])
        beta = beta + np.linalg.solve(information, design.T @ (counts - m))
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    found = model.summary("treatment").coefficients
    np.testing.assert_allclose([c.estimate for c in found], beta[1:], atol=1e-8)
    np.testing.assert_allclose([c.standard_error for c in found], errors[1:], rtol=1e-7)
    assert math.isclose(beta[0], math.log(len(rows)) - model.log_z_, rel_tol=1e-8)


def test_penalties_shrink(rows: pd.DataFrame) -> None:
    free, ridge = fs.BoltzmannMachine().fit(rows), fs.BoltzmannMachine(l2=0.1).fit(rows)
    lasso = fs.BoltzmannMachine(l1=0.03).fit(rows)
    assert np.abs(ridge.model_.theta).sum() < np.abs(free.model_.theta).sum()
    assert 0 < np.count_nonzero(lasso.model_.theta) < len(lasso.model_.theta)
    assert lasso.goodness_.df == 11 - np.count_nonzero(lasso.model_.theta)
    assert "penalty sets to 0" in str(lasso.summary())
    assert "shrunk by l2=0.1" in str(ridge.summary())


def test_stopping_early_is_a_warning(rows: pd.DataFrame) -> None:
    with pytest.warns(
        ConvergenceWarning, match=r"iteration limit: .*an expectation differs from the data's by 0\.0.*Remedy"
    ):
        model = fs.BoltzmannMachine(solver="gradient", max_iter=2).fit(rows)
    assert model.status_ == "iteration limit"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": 0}, "order is 0"),
        ({"order": "2"}, "order is '2'"),
        ({"restarts": None}, "restarts is None"),
        ({"tol": "small"}, "tol is 'small'"),
        ({"l2": -1.0}, "l2 is -1"),
        ({"solver": "magic"}, "solver is 'magic'"),
        ({"em": "magic"}, "em is 'magic'"),
        ({"basis": "auto"}, "basis is 'auto'"),
        ({"graph": [("u", "x")]}, "graph names 'x'"),
        ({"graph": [("u", "v")], "margins": [["u"]]}, "graph and margins are given"),
        ({"hidden": -1}, "hidden is -1"),
        ({"hidden": True}, "hidden is True"),
        ({"hidden": "h"}, "hidden is 'h'"),
        ({"hidden": [1]}, "hidden names 1"),
        ({"hidden": {"h": "ab"}}, "levels of the hidden variable 'h'"),
        ({"hidden": {"h": [0]}}, "two or more are needed"),
        ({"hidden": ["u"]}, "hidden variable 'u' has the name of an observed one"),
        ({"missing": "guess"}, "missing='guess'"),
        ({"max_memory": 100}, "2 tables of 12 states .* may be used"),
    ],
)
def test_wrong_parameters_are_named(rows: pd.DataFrame, parameters: Any, message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        fs.BoltzmannMachine(**parameters).fit(rows)


# -- hidden variables -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixture(frame: pd.DataFrame) -> fs.BoltzmannMachine:
    """Two hidden classes and one hidden bit behind four votes with missing cells."""
    graph = [(name, "class") for name in COLUMNS] + [("crime", "bit"), ("budget", "bit")]
    hidden = {"class": ["a", "b", "c"], "bit": [0, 1]}
    machine = fs.BoltzmannMachine(
        graph=graph, hidden=hidden, missing="em", random_state=2, restarts=2, tol=1e-6, l2=1e-3
    )
    return machine.fit(frame)


def visible_log_prob(model: Any, codes: np.ndarray) -> np.ndarray:
    """Log-probability of rows with gaps (-1), summed over everything else by enumeration."""
    states, p = joint(model)
    return np.array([np.log(p[((states[:, : len(row)] == row) | (row < 0)).all(axis=1)].sum()) for row in codes])


def codes_of(model: Any, frame: pd.DataFrame) -> np.ndarray:
    variables = model.space_.variables[: frame.shape[1]]
    return np.array(
        [
            [-1 if x is None or x != x else v.code(x) for v, x in zip(variables, row, strict=True)]
            for row in frame.itertuples(index=False)
        ]
    )


def test_hidden_variables_and_missing_cells_are_summed_out(mixture: fs.BoltzmannMachine, frame: pd.DataFrame) -> None:
    """A row scores for what it says."""
    some = frame.head(120)
    expected = visible_log_prob(mixture, codes_of(mixture, some))
    np.testing.assert_allclose(mixture.score_samples(some), expected, rtol=1e-10)
    known = frame.dropna(how="all")
    assert math.isclose(mixture.score(frame), mixture.score_samples(known).mean(), rel_tol=1e-10)
    assert math.isclose(mixture.score(frame) * mixture.fitted_.total, mixture.log_likelihood_, rel_tol=1e-10)
    assert mixture.n_features_in_ == 4
    assert mixture.feature_names_in_.tolist() == COLUMNS
    assert mixture.space_.names == (*COLUMNS, "class", "bit")


def test_the_likeliest_completion_sums_hidden_variables_out(frame: pd.DataFrame) -> None:
    """argmax over the gaps of the sum over the hidden, not of their joint maximum."""
    rng = np.random.default_rng(5)
    model = fs.BoltzmannMachine(hidden=2, restarts=1, max_iter=1, solver="gradient", random_state=1)
    with pytest.warns(ConvergenceWarning):
        model.fit(rng.integers(3, size=(500, 4)))
    codes = rng.integers(-1, 3, size=(80, 4))
    filled = model.impute(np.where(codes < 0, np.nan, codes))
    joint_modes = 0
    for row, found in zip(codes, filled, strict=True):
        gaps = np.flatnonzero(row < 0)
        tried = [row.copy() for _ in range(3 ** len(gaps))]
        for candidate, levels in zip(tried, itertools.product(range(3), repeat=len(gaps)), strict=True):
            candidate[gaps] = levels
        best = visible_log_prob(model, np.array(tried)).max()
        assert math.isclose(visible_log_prob(model, found[None])[0], best, rel_tol=1e-12)
        both = model.distribution_.elimination.mode({i: (int(x),) for i, x in enumerate(row) if x >= 0})[:4]
        joint_modes += not np.array_equal(both, found)
    assert joint_modes > 0  # the law is not trivial here


def test_rows_with_wide_gaps_are_filled_too() -> None:
    rng = np.random.default_rng(0)
    model = fs.BoltzmannMachine(hidden=1, restarts=1, max_iter=1, solver="gradient", random_state=6)
    with pytest.warns(ConvergenceWarning):
        model.fit(rng.integers(2, size=(300, 12)))
    given = np.full((1, 12), np.nan)
    given[0, 3] = 1
    filled = model.impute(given)
    states = joint(model)[0][:4096, :12]
    states = states[states[:, 3] == 1]
    assert math.isclose(model.score_samples(filled)[0], model.score_samples(states).max(), rel_tol=1e-12)
    assert filled[0, 3] == 1


def test_modes_are_of_the_observed_variables(mixture: fs.BoltzmannMachine) -> None:
    states, _ = joint(mixture)
    visible = np.unique(states[:, :4], axis=0)
    best = visible[visible_log_prob(mixture, visible).argmax()]
    assert mixture.mode() == {v.name: v.levels[c] for v, c in zip(mixture.space_.variables[:4], best, strict=True)}
    assert list(mixture.mode(given={"class": "b"})) == COLUMNS


def test_tables_have_no_hidden_columns_but_questions_may_name_them(
    mixture: fs.BoltzmannMachine, frame: pd.DataFrame
) -> None:
    states, p = joint(mixture)
    assert list(mixture.sample(3, random_state=0, given="class=a").columns) == COLUMNS
    assert list(mixture.impute(frame.head(9)).columns) == COLUMNS
    assert list(mixture.impute(frame.head(9), how="draw", random_state=1).columns) == COLUMNS
    mean = mixture.impute(frame.head(9), how="mean")
    assert list(mean) == COLUMNS
    republican = mixture.space_.variables[0].code("republican")
    given = states[:, 0] == republican
    expected = [p[given & (states[:, 4] == j)].sum() / p[given].sum() for j in range(3)]
    table = mixture.conditional("class", given={"party": "republican"})
    np.testing.assert_allclose(table.values, expected, rtol=1e-9)
    assert 0 < mixture.mutual_information("class", "party") < math.log(2)


def test_named_and_numbered_units(rows: pd.DataFrame) -> None:
    for hidden, names in [(2, ("h1", "h2")), (["a", "b"], ("a", "b")), (0, ())]:
        model = fs.BoltzmannMachine(order=1, hidden=hidden, restarts=1).fit(rows)
        assert model.space_.names[3:] == names
        assert model.fitted_.n_hidden == len(names)


def test_the_same_seed_gives_the_same_machine(rows: pd.DataFrame) -> None:
    one, two, other = (
        fs.BoltzmannMachine(hidden=1, restarts=1, tol=1e-4, random_state=seed).fit(rows).model_.theta
        for seed in (1, np.random.RandomState(1), 1)
    )
    assert np.array_equal(one, other)
    assert not np.array_equal(one, two)


# -- limits ---------------------------------------------------------------------------------------------------

BASKETS = [[1, 1, 1]] * 3 + [[0, 0, 0]] * 2 + [[0, 1, 1]] + [[0, 0, 1]] * 2


def test_a_maximum_at_infinity_is_said_and_the_limit_kept() -> None:
    """x0 never comes without x1: the fitted distribution is finite, and exact on what remains."""
    with pytest.warns(BoundaryWarning, match=r"no finite maximum.*l2=") as caught:
        model = fs.BoltzmannMachine(graph=[("x0", "x1"), ("x1", "x2")]).fit(BASKETS)
    assert caught[0].filename == __file__
    assert model.status_ == "converged"
    assert "x0=1:x1=1" in model.diverging_
    assert all(name in str(caught[0].message) for name in model.diverging_)
    assert {math.isinf(t.weight) for t in model.terms_ if "no finite maximum" in t.words} == {True}
    assert model.probability("x0=1, x1=0") == 0
    for names in (["x0", "x1"], ["x1", "x2"]):
        table = np.zeros((2, 2))
        np.add.at(table, tuple(np.array(BASKETS)[:, [int(n[1]) for n in names]].T), 1 / 8)
        np.testing.assert_allclose(margin(model, names), table, atol=1e-9)
    text = str(model.summary())
    assert "+inf" in text
    assert "no finite maximum" in text
    assert "counting all cells and weights gives 2" in text


def test_a_ridge_keeps_weights_finite() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fs.BoltzmannMachine(l2=1e-3).fit(BASKETS)
    assert model.diverging_ == ()
    assert 0 < model.probability("x0=1, x1=0") < 0.1


def test_nothing_follows_from_an_impossible_condition() -> None:
    with pytest.warns(BoundaryWarning):
        model = fs.BoltzmannMachine().fit(BASKETS)
    never = {"x0": 1, "x1": 0}
    calls: list[Any] = [
        lambda: model.probability("x2=1 | x0=1, x1=0"),
        lambda: model.conditional("x2", given=never),
        lambda: model.entropy("x2", given=never),
        lambda: model.sample(2, given=never),
        lambda: model.mode(given=never),
        lambda: model.impute([never]),
        lambda: model.impute([never], how="draw"),
        lambda: model.impute([never], how="mean"),
    ]
    for call in calls:
        with pytest.raises(QueryError, match="has probability 0 under this model"):
            call()
    assert model.impute([[1, 0, 1]]).tolist() == [[1, 0, 1]]  # nothing to fill


# -- files ----------------------------------------------------------------------------------------------------


class Network:
    """What networkx has: edges, as a property."""

    edges = (("v", "u"), ("w", "v"))


@pytest.mark.parametrize(
    "given",
    [
        {"graph": Network()},
        {"graph": {"u": {"v"}, "w": ["v"]}},
        {"graph": np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])},
        {"margins": (("u", "v"), "w")},
        {"terms": [[0], (1, 2)]},
        {"hidden": {"k": ["a", "b"]}, "restarts": 1, "tol": 1e-4, "random_state": 4},
        {"l2": np.float64(0.01), "basis": "walsh", "solver": "lbfgs", "missing": "em"},
    ],
)
def test_a_saved_machine_is_the_same_machine(rows: pd.DataFrame, tmp_path: Path, given: Any) -> None:
    """The file brings back class, parameters, model and measures; fitted again it is the same."""
    model = fs.BoltzmannMachine(**given).fit(rows)
    model.save(tmp_path / "m.fsm")
    again = fs.load(tmp_path / "m.fsm")
    assert type(again) is fs.BoltzmannMachine
    assert np.array_equal(again.model_.theta, model.model_.theta)
    assert again.goodness_ == model.goodness_
    assert again.n_features_in_ == 3
    for name in ("solver", "basis", "l2", "missing", "tol", "random_state"):
        assert again.get_params()[name] == model.get_params()[name]
    np.testing.assert_allclose(again.score_samples(rows), model.score_samples(rows), rtol=1e-12)
    assert np.array_equal(again.fit(rows).model_.theta, model.model_.theta)


def test_limits_survive_a_file_and_a_pickle(tmp_path: Path) -> None:
    with pytest.warns(BoundaryWarning):
        model = fs.BoltzmannMachine().fit(BASKETS)
    model.save(tmp_path / "m.fsm")
    for again in (fs.load(tmp_path / "m.fsm"), pickle.loads(pickle.dumps(model))):
        assert again.diverging_ == model.diverging_
        with pytest.raises(QueryError, match="probability 0"):
            again.conditional("x2", given={"x0": 1, "x1": 0})
    assert "at the boundary: no finite maximum" in (tmp_path / "m.fsm").read_text(encoding="utf-8")


def test_an_unknown_estimator_in_a_file_is_refused(rows: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "m.fsm"
    fs.BoltzmannMachine(order=1).fit(rows).save(path)
    for name in ("Mystery", 7, ["FullSpan"]):
        document = json.loads(path.read_text())
        document["fit"]["settings"]["estimator"] = name
        path.write_text(json.dumps({**document, "checksum": checksum(document)}))
        with pytest.raises(ModelFileError, match="names the estimator"):
            fs.load(path)


# -- the summary ----------------------------------------------------------------------------------------------


def test_squares_of_residuals_sum_to_the_statistics(rows: pd.DataFrame) -> None:
    model = fs.BoltzmannMachine(margins=[["u", "v"], ["w"]]).fit(rows)
    table = counted(rows, ["u", "v", "w"])
    assert math.isclose((model.residuals("pearson", table=True) ** 2).sum(), model.goodness_.pearson, rel_tol=1e-9)
    assert math.isclose((model.residuals("deviance", table=True) ** 2).sum(), model.goodness_.g2, rel_tol=1e-9)
    raw = model.residuals("raw", table=True)
    np.testing.assert_allclose(table - raw, len(rows) * margin(model, ["u", "v", "w"]), rtol=1e-9)
    assert abs(raw.sum()) < 1e-8
    listed = model.residuals("raw")
    assert len(listed) == np.count_nonzero(table)
    for row in listed:
        place = tuple(row.cell[name] for name in ("u", "v", "w"))
        assert math.isclose(row.residual, raw[place], abs_tol=1e-9)
        assert row.observed == table[place]
    sizes = [round(abs(row.residual), 9) for row in listed]
    assert sizes == sorted(sizes, reverse=True)
    assert len(listed[:2]) == 2
    assert "raw residual" in repr(listed)
    assert "<table" in listed._repr_html_()


def test_residuals_with_hidden_variables_are_of_the_observed_ones(rows: pd.DataFrame) -> None:
    model = fs.BoltzmannMachine(order=1, hidden=1, restarts=1).fit(rows)
    expected = counted(rows, ["u", "v", "w"]) - len(rows) * margin(model, ["u", "v", "w"])
    np.testing.assert_allclose(model.residuals("raw", table=True), expected, atol=1e-8)


def test_residuals_that_cannot_be(rows: pd.DataFrame, frame: pd.DataFrame, tmp_path: Path) -> None:
    model = fs.BoltzmannMachine().fit(rows)
    with pytest.raises(FullspanError, match="kind is 'odd'"):
        model.residuals("odd")
    model.save(tmp_path / "m.fsm")
    with pytest.raises(FullspanError, match="residuals need the rows"):
        fs.load(tmp_path / "m.fsm").residuals()
    gappy = fs.BoltzmannMachine(missing="em").fit(frame)
    with pytest.raises(FullspanError, match="cells of rows were missing"):
        gappy.residuals()
    wide = fs.BoltzmannMachine(order=1).fit(np.random.default_rng(0).integers(2, size=(40, 21)))
    assert len(wide.residuals()) == 40
    assert len(wide.summary().residuals) == 5
    with pytest.raises(FullspanError, match="at most 1,048,576"):
        wide.residuals(table=True)


def test_the_summary_reads_like_a_table_of_coefficients(frame: pd.DataFrame) -> None:
    model = fs.BoltzmannMachine(missing="drop").fit(frame)
    summary = model.summary("treatment")
    text = str(summary)
    assert text.startswith("405 rows (30 dropped: missing cells), 4 variables: party, physician, budget, crime\n")
    for part in ("deviance G2", "Pearson X2", "p-value", "AIC", "BIC", "std. error", "largest residuals"):
        assert part in text
    assert "party=republican:physician=y" in text
    assert repr(summary) == text
    assert summary._repr_html_().startswith("<pre>405 rows")
    first = summary.coefficients[0]
    assert (first.term, first.estimate) == ("party=republican", model.model_.theta[0])
    assert math.isclose(first.z, first.estimate / first.standard_error)
    assert math.isclose(first.p_value, math.erfc(abs(first.z) / math.sqrt(2)))
    assert summary.goodness is model.goodness_
    assert summary.residuals is not None
    facts = summary.to_dict()
    assert facts["goodness"]["g2"] == model.goodness_.g2
    assert len(facts["coefficients"]) == 10
    assert facts["residuals"][0]["cell"] == summary.residuals[0].cell
    json.dumps(facts)


def test_the_summary_of_other_fits(rows: pd.DataFrame, frame: pd.DataFrame) -> None:
    spins = str(fs.BoltzmannMachine(basis="walsh").fit(rows).summary("basis"))
    assert "+1 where a value it names holds" in spins
    hidden = str(fs.BoltzmannMachine(order=1, hidden=1, restarts=1).fit(rows).summary())
    assert "1 hidden: h1" in hidden
    assert "NA: not determined" in hidden
    gappy = str(fs.BoltzmannMachine(missing="em").fit(frame).summary())
    assert "deviance" not in gappy
    assert "log-likelihood" in gappy
    many = str(fs.BoltzmannMachine().fit(np.random.default_rng(0).integers(2, size=(200, 10))).summary())
    assert "... and 15 more" in many
    searched = str(fs.FullSpan().fit(rows).summary())
    assert "divergence from the data" in searched
    assert "coefficient" in searched


def test_names_that_are_numbers_survive_a_file(rows: pd.DataFrame, tmp_path: Path) -> None:
    """A number stands for the variable of that name where there is one; so it does in the file."""
    table = rows.set_axis([str(len(rows.columns) - 1 - i) for i in range(len(rows.columns))], axis=1)
    model = fs.BoltzmannMachine(terms=[[0], [1, 0]]).fit(table)
    model.save(tmp_path / "m.fsm")
    loaded = fs.load(tmp_path / "m.fsm")
    assert loaded.terms == [["0"], ["1", "0"]]
    assert loaded.fit(table).log_likelihood_ == model.log_likelihood_


def test_rows_without_a_cell_are_told() -> None:
    """They say nothing and are left out, and the summary counts them."""
    table = pd.DataFrame({"a": [0, 1, 0, 1, None], "b": [1, 0, 1, 1, None]}, dtype=object)
    model = fs.BoltzmannMachine(missing="em", order=1).fit(table)
    assert model.fitted_.n_dropped == 1
    assert model.summary().text().startswith("4 rows (1 dropped: missing cells)")


def test_a_file_keeps_hidden_variables_of_a_search(tmp_path: Path) -> None:
    """A loaded search has the parameters of the one that was saved, its basis included."""
    table = pd.DataFrame({"a": [0, 1, 0, 1, None] * 8, "b": [1, 0, 1, 1, 0] * 8}, dtype=object)
    model = fs.FullSpan(hidden={"h": ["u", "v"]}, restarts=1, random_state=4, missing="em").fit(table)
    model.save(tmp_path / "m.fsm")
    given = model.get_params()
    kept = fs.load(tmp_path / "m.fsm").get_params()
    assert kept == given
    assert "1 hidden: h; no term has any of them" in model.summary().text()


@pytest.mark.parametrize(("em", "solver"), [("auto", "auto"), ("auto", "lbfgs"), ("exact", "ipf")])
def test_a_limit_with_missing_cells_is_that_of_the_cells_seen(em: str, solver: str) -> None:
    """Cells missing completely at random leave an empty margin empty: its terms diverge, and its states vanish."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.integers(0, 2, (400, 3)), columns=list("abc"))
    table = table[(table.a == 0) | (table.b == 0)].astype(object)
    table.loc[rng.random(len(table)) < 0.1, "a"] = None
    model = fs.BoltzmannMachine(missing="em", em=em, solver=solver)
    with pytest.warns(BoundaryWarning, match="a=1:b=1"):
        model.fit(table)
    assert model.diverging_ == ("a=1:b=1",)
    assert model.status_ == "converged"
    assert model.n_iter_ > 0
    assert model.probability("a=1, b=1") == 0
    assert model.goodness_.n_parameters == 5
    with pytest.warns(BoundaryWarning):
        full = fs.BoltzmannMachine(order=3, missing="em").fit(table)  # saturated: no model is likelier
    assert model.log_likelihood_ < full.log_likelihood_ + 1e-9
    finite = fs.BoltzmannMachine(missing="em", l2=1e-9).fit(table)
    assert model.log_likelihood_ > finite.log_likelihood_
    assert model.log_likelihood_ == pytest.approx(finite.log_likelihood_, abs=1e-3)
