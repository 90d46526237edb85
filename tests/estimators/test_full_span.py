"""The estimator as people use it: tables in, answers out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fullspan as fs
from fullspan.data.space import MISSING
from fullspan.datasets import house_votes_path
from fullspan.errors import ConvergenceWarning, DataError, FullspanError, QueryError

COLUMNS = ["party", "physician", "budget", "crime", "education"]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return pd.read_csv(house_votes_path(), na_values="?", dtype=object)[COLUMNS]


@pytest.fixture(scope="module")
def model(frame: pd.DataFrame) -> fs.FullSpan:
    return fs.FullSpan(missing="drop").fit(frame)


def joint(model: fs.FullSpan) -> tuple[np.ndarray, np.ndarray]:
    """Every state and its probability, by enumeration."""
    states = model.space_.states(range(model.space_.n_states))
    return states, np.exp(model.model_.log_prob(states))


def test_the_attributes_describe_the_fit(model: fs.FullSpan) -> None:
    assert model.n_terms_ == len(model.terms_) == len(model.model_.terms) > 3
    assert model.status_ == "converged"
    assert model.divergence_ >= 0
    assert model.description_length_ > 0
    assert model.log_z_ == model.model_.log_z
    assert model.space_.names == tuple(COLUMNS)
    assert len(model.history_) > 0
    assert "nats saved" in repr(model.terms_)
    assert math.isclose(joint(model)[1].sum(), 1, rel_tol=1e-6)


def test_a_path_and_frames_of_every_kind_give_the_same_model(frame: pd.DataFrame) -> None:
    complete = frame.dropna()
    sources: list[Any] = [pl.from_pandas(complete), pa.Table.from_pandas(complete, preserve_index=False)]
    expected = fs.FullSpan().fit(complete)
    from_path = fs.FullSpan(missing="drop", columns=COLUMNS).fit(house_votes_path())
    for other in [from_path, *(fs.FullSpan().fit(source) for source in sources)]:
        # the file has incomplete rows in other columns too, but only these columns count
        assert other.model_.terms == expected.model_.terms
        assert np.array_equal(other.model_.theta, expected.model_.theta)


def test_probabilities_agree_with_enumeration(model: fs.FullSpan) -> None:
    states, p = joint(model)
    party, physician = states[:, 0], states[:, 1]
    given = physician == model.space_.variables[1].code("n")
    democrat = party == model.space_.variables[0].code("democrat")
    expected = p[given & democrat].sum() / p[given].sum()
    assert math.isclose(model.probability("P(party=democrat | physician=n)"), expected, rel_tol=1e-6)
    assert math.isclose(model.probability({"party": "democrat"}, given={"physician": "n"}), expected, rel_tol=1e-6)
    assert math.isclose(model.probability("party=democrat", given="physician=n"), expected, rel_tol=1e-6)
    table = model.conditional("party", given={"physician": "n"})
    assert math.isclose(table["democrat"], expected, rel_tol=1e-6)
    assert math.isclose(model.marginal(["party"])["democrat"], p[democrat].sum(), rel_tol=1e-6)
    assert math.isclose(model.entropy(), -(p * np.log(p)).sum(), rel_tol=1e-6)
    information = model.entropy("party") - model.entropy("party", given=None)
    assert information == 0
    assert 0 < model.mutual_information("party", "physician") < math.log(2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("max_memory", value) for value in ("8GiB", 1e9, 0, -1, True)),
        *(("max_order", value) for value in ("2", 2.0, 0, True)),
        *(("max_levels", value) for value in ("64", 64.0, 0, None)),
        *((name, value) for name in ("l1", "epsilon") for value in ("0.1", None, True, [0.1])),
    ],
)
def test_parameters_of_a_wrong_type_are_named(name: str, value: Any) -> None:
    with pytest.raises(FullspanError, match=f"{name} is .*; .* is needed"):
        fs.FullSpan(**{name: value}).fit([["a", "b"], ["b", "a"]])


def test_information_given_an_event_in_words_or_a_variable(model: fs.FullSpan) -> None:
    event = {"crime": "y"}
    assert model.entropy("party", given="crime=y") == model.entropy("party", given=event)
    assert model.entropy("party", given="crime") == model.entropy("party", given=["crime"])
    told = model.mutual_information("party", "physician", given="crime = y")
    assert told == model.mutual_information("party", "physician", given=event)


def test_parameters_may_be_numpy_numbers() -> None:
    numbers = {"max_memory": np.int64(1 << 30), "max_order": np.int32(1), "max_levels": np.int8(9), "l1": np.float32(0)}
    model = fs.FullSpan(**numbers, search="paper", epsilon=np.float64(1e-3)).fit([["a", "b"], ["b", "a"]] * 20)
    assert model.status_ == "converged"


def test_the_mode_is_the_likeliest_state(model: fs.FullSpan) -> None:
    states, p = joint(model)
    assert model.mode() == model.space_.labels(states[np.argmax(p)])
    assert model.mode(given={"party": "republican"})["physician"] == "y"


def test_wrong_questions_are_query_errors(model: fs.FullSpan) -> None:
    calls: list[Any] = [
        lambda: model.probability("party=whig"),
        lambda: model.probability("P(party)"),
        lambda: model.probability({"party": "democrat"}, given={"nope": 1}),
        lambda: model.probability("party=democrat | crime=y", given={"crime": "n"}),
        lambda: model.conditional("partie"),
        lambda: model.sample(1, given="crime"),
        lambda: model.mode(given={"crime": "maybe"}),
        lambda: model.entropy("party", given="crimes"),
        lambda: model.entropy("party", given="crime, physician"),
        lambda: model.mutual_information("party", "physician", given="crime=maybe"),
    ]
    for call in calls:
        with pytest.raises(QueryError):
            call()


def test_samples_come_as_the_kind_that_was_fitted(frame: pd.DataFrame, model: fs.FullSpan) -> None:
    drawn = model.sample(500, random_state=0, given={"party": "republican"})
    assert isinstance(drawn, pd.DataFrame)
    assert list(drawn.columns) == COLUMNS
    assert set(drawn["party"]) == {"republican"}
    expected = model.probability("physician=y | party=republican")
    assert abs((drawn["physician"] == "y").mean() - expected) < 4 * math.sqrt(expected * (1 - expected) / 500)
    assert drawn.equals(model.sample(500, random_state=0, given="party=republican"))
    complete = frame.dropna()
    assert isinstance(fs.FullSpan().fit(pl.from_pandas(complete)).sample(2), pl.DataFrame)
    array = fs.FullSpan().fit([[0, 1], [1, 0], [1, 1]]).sample(3, random_state=np.random.RandomState(0))
    assert array.shape == (3, 2)
    assert isinstance(fs.FullSpan(missing="drop", columns=COLUMNS).fit(house_votes_path()).sample(1), pa.Table)


def test_imputation_fills_gaps_with_the_likeliest(frame: pd.DataFrame, model: fs.FullSpan) -> None:
    filled = model.impute(frame)
    assert isinstance(filled, pd.DataFrame)
    assert not filled.isna().any().any()
    known = frame.notna()
    assert (filled[known] == frame[known]).where(known).stack().all()
    row = frame[frame["physician"].isna()].iloc[0].dropna().to_dict()
    assert filled[frame["physician"].isna()].iloc[0].to_dict() == model.mode(given=row)


def test_draws_depend_on_the_seed_only(frame: pd.DataFrame, model: fs.FullSpan) -> None:
    one, two, other = (model.impute(frame, how="draw", random_state=seed) for seed in (1, 1, 2))
    assert one.equals(two)
    assert not one.equals(other)


def test_the_mean_holds_probabilities(model: fs.FullSpan) -> None:
    row = {"party": "democrat", "physician": None, "budget": "y", "crime": "n", "education": "n"}
    mean = model.impute([row], how="mean")
    given = {name: level for name, level in row.items() if level is not None}
    assert math.isclose(mean["physician"][0, 0], model.conditional("physician", given=given)["n"], rel_tol=1e-9)
    assert mean["party"].tolist() == [[1, 0]]


def test_incomplete_rows_score_for_what_they_say(frame: pd.DataFrame, model: fs.FullSpan) -> None:
    scores = model.score_samples(frame)
    whole = frame.notna().all(axis=1).to_numpy()
    assert math.isclose(scores[whole].mean(), model.score(frame), rel_tol=1e-9)
    partial = model.score_samples([{"party": "democrat", "crime": "y"}])
    assert math.isclose(math.exp(partial[0]), model.probability("party=democrat, crime=y"), rel_tol=1e-9)
    strict = fs.FullSpan().fit(frame.dropna())
    with pytest.raises(DataError, match="missing"):
        strict.score_samples(frame)
    with pytest.raises(DataError, match="missing"):
        strict.score(frame)


def test_a_level_of_its_own(frame: pd.DataFrame) -> None:
    model = fs.FullSpan(missing="level").fit(frame)
    assert model.space_.variables[1].levels == ("n", "y", MISSING)
    assert np.isfinite(model.score_samples(frame)).all()
    assert math.isclose(model.score_samples(frame).mean(), model.score(frame), rel_tol=1e-9)
    with pytest.raises(DataError, match="level of their own"):
        model.impute(frame)


def test_cells_not_observed(frame: pd.DataFrame) -> None:
    """Under "em" a complete table fits as ever and incomplete rows score for what they say, and are learned from."""
    model = fs.FullSpan(missing="em").fit(frame.dropna())
    assert np.array_equal(model.model_.theta, fs.FullSpan().fit(frame.dropna()).model_.theta)
    assert frame.isna().any(axis=None)
    assert math.isclose(model.score(frame), model.score_samples(frame).mean(), rel_tol=1e-9)
    blank = pd.DataFrame({name: [None] for name in COLUMNS}, dtype=object)
    assert math.isclose(model.score(pd.concat([frame, blank])), model.score(frame), rel_tol=1e-12)
    learned = fs.FullSpan(missing="em").fit(frame)
    assert learned.fitted_.total == len(frame) > len(frame.dropna())
    assert math.isclose(learned.log_likelihood_, learned.score_samples(frame).sum(), rel_tol=1e-9)
    assert math.isclose(learned.score(frame), learned.score_samples(frame).mean(), rel_tol=1e-9)


def test_rows_without_a_cell_count_as_dropped() -> None:
    table = pd.DataFrame({"a": [0, 1, 1, None], "b": ["x", "y", "y", None]})
    fitted = fs.FullSpan(missing="em").fit(table).fitted_
    assert (fitted.n_rows, fitted.n_dropped, fitted.total) == (4, 1, 3)


def test_a_saved_model_answers_the_same(model: fs.FullSpan, frame: pd.DataFrame, tmp_path: Path) -> None:
    model.save(tmp_path / "m.fsm")
    again = fs.load(tmp_path / "m.fsm")
    assert again.get_params()["missing"] == "drop"
    assert again.terms_.to_dicts() == model.terms_.to_dicts()
    assert np.array_equal(again.score_samples(frame), model.score_samples(frame))
    assert again.score(frame) == model.score(frame)
    assert again.feature_names_in_.tolist() == COLUMNS


def test_an_early_end_is_a_warning(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    from fullspan.learn.base import reporter as progress

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(progress.Reporter, "__call__", stop)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = fs.FullSpan(missing="drop", verbose=True).fit(frame)
    assert model.status_ == "interrupted"


def test_progress_goes_to_standard_error(
    frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("fullspan.learn.base.reporter.LOG_SECONDS", 0.0)
    fs.FullSpan(missing="drop", verbose=True).fit(frame)
    out, err = capsys.readouterr()
    assert out == ""
    assert "nats/row" in err


def test_multiple_imputation_draws_whole_tables(frame: pd.DataFrame) -> None:
    """Observed cells stay, draws differ, and over many of them the shares are those of the mean."""
    model = fs.FullSpan(missing="em").fit(frame)
    draws = model.impute(frame, how="draw", random_state=0, n_draws=400)
    means = model.impute(frame, how="mean")
    assert len(draws) == 400
    name = next(c for c in COLUMNS if frame[c].isna().any())
    row = int(np.flatnonzero(frame[name].isna())[0])
    level = model.space_.variables[model.space_.position(name)].levels[0]
    share = np.mean([table[name].iloc[row] == level for table in draws])
    assert share == pytest.approx(means[name][row, 0], abs=0.11)
    seen = frame.notna()
    assert all(
        (table[COLUMNS].where(seen) == frame[COLUMNS].where(seen)).where(seen, True).all(axis=None) for table in draws
    )
    with pytest.raises(FullspanError, match="n_draws is 3 with how='mode'"):
        model.impute(frame, n_draws=3)


def test_a_conditional_of_several_names_says_how_to_ask() -> None:
    model = fs.FullSpan().fit([[0, 0, 1]] * 20 + [[1, 1, 0]] * 20 + [[0, 1, 1]] * 5)
    with pytest.raises(QueryError, match=r"given 3 arguments; .* conditional\(\['a', 'b'\], 'c=1'\)"):
        model.conditional("x0", "x1", "x2")
    assert model.conditional(["x0", "x1"], "x2=1").values.sum() == pytest.approx(1.0)
