"""Trees as estimators: tables in, tables out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import fullspan as fs
from fullspan.errors import ConvergenceWarning, DataError, FullspanError, ModelFileError, QueryError

HIDDEN = fs.HiddenChowLiuTree(n_states=4, restarts=2, max_iter=None, random_state=0)
EXPECTED_FAILURES = {
    "check_estimators_nan_inf": "a missing cell is refused in words that suit text too",
    "check_sample_weight_equivalence_on_dense_data": "the bins of repeated rows differ from those of weighted ones",
}


@parametrize_with_checks(
    [fs.ChowLiuTree(bins=2), fs.HiddenChowLiuTree(n_states=2, restarts=1, bins=2, max_iter=None, random_state=0)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def frame(rows: int = 600, seed: int = 0) -> pd.DataFrame:
    """A chain of four columns of text and numbers, each leaning on the one before."""
    rng = np.random.default_rng(seed)
    a = rng.integers(3, size=rows)
    b = np.where(rng.random(rows) < 0.8, a % 2, 1 - a % 2)
    c = np.where(rng.random(rows) < 0.7, b, rng.integers(2, size=rows))
    d = np.where(rng.random(rows) < 0.7, c, rng.integers(2, size=rows))
    return pd.DataFrame({"a": np.array(["x", "y", "z"])[a], "b": b, "c": c, "d": d == 1})


@pytest.mark.parametrize("kind", [fs.ChowLiuTree(), HIDDEN])
def test_a_frame_is_learned_and_answered(kind: Any) -> None:
    data = frame()
    model = clone(kind).fit(data)
    assert {frozenset(edge[:2]) for edge in model.edges_} == {frozenset("ab"), frozenset("bc"), frozenset("cd")}
    assert np.isclose(model.score(data), model.score_samples(data).mean())
    assert model.probability("b=1 | a=y") > 0.7
    assert np.isclose(sum(p for _, p in model.conditional(["a", "d"], given="b=1")), 1)
    assert np.allclose(model.marginals("b=1")["a"].values, model.conditional("a", "b=1").values)
    assert list(model.sample(5, random_state=1, given={"a": "z"})["a"]) == ["z"] * 5
    assert model.mutual_information("a", "b") > model.mutual_information("a", "d")
    assert model.log_z_ == 0.0
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]


def test_missing_cells() -> None:
    """Under missing="em" a row counts for what it says: its score is that of the cells it shows."""
    data = frame().astype({"b": object})
    data.loc[::7, "b"] = None
    for kind in (fs.ChowLiuTree(missing="em"), clone(HIDDEN).set_params(missing="em")):
        model = kind.fit(data)
        partial = pd.DataFrame({"a": ["x"], "b": [None], "c": [1], "d": [None]})
        expected = np.log(model.probability({"a": "x", "c": 1}))
        assert np.isclose(model.score_samples(partial)[0], expected)
        filled = model.impute(partial)
        assert filled["b"][0] in (0, 1)
        assert np.isclose(model.impute(partial, "mean")["b"][0].sum(), 1)
        assert model.impute(partial, "draw", random_state=0)["a"][0] == "x"
    with pytest.raises(DataError, match="missing"):
        fs.ChowLiuTree().fit(data)


def test_what_is_free_is_chosen_on_other_rows() -> None:
    train, valid = frame(300, 1), frame(300, 2)
    model = fs.HiddenChowLiuTree(n_states=(1, 4), mixture=False, max_iter=None, random_state=0)
    model.fit(train, validation=valid)
    assert np.isclose(model.validation_score_, model.score(valid))
    assert model.n_states_ == 4
    plain = fs.ChowLiuTree().fit(train, validation=valid)
    assert np.isclose(plain.validation_score_, plain.score(valid))


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    fs.ChowLiuTree().fit(frame()).save(tmp_path / "tree.fsm")
    text = (tmp_path / "tree.fsm").read_text()
    (tmp_path / "bad.fsm").write_text(text.replace('"kind": "tree"', '"kind": "bush"'))
    with pytest.raises(ModelFileError, match="bush"):
        fs.load(tmp_path / "bad.fsm")


def test_the_mode() -> None:
    """The likeliest of all states of a plain tree; a hidden one has no exact way to it."""
    model = fs.ChowLiuTree().fit(frame())
    states = pd.DataFrame(
        [(a, b, c, d) for a in "xyz" for b in (0, 1) for c in (0, 1) for d in (False, True)], columns=list("abcd")
    )
    best = states.iloc[int(model.score_samples(states).argmax())].to_dict()
    assert model.mode() == best
    with pytest.raises(QueryError, match="hidden nodes"):
        clone(HIDDEN).fit(frame()).mode()


def test_hundreds_of_variables() -> None:
    """What no table of states could hold: 300 copies of one bit with noise are learned, scored and sampled."""
    rng = np.random.default_rng(0)
    bit = rng.integers(2, size=(400, 1))
    rows = np.where(rng.random((400, 300)) < 0.9, bit, 1 - bit)
    plain = fs.ChowLiuTree().fit(rows)
    hidden = fs.HiddenChowLiuTree(n_states=2, restarts=1, random_state=0).fit(rows)
    truth = float(np.mean(np.logaddexp(*(np.log([0.9, 0.1])[(rows != b).astype(int)].sum(axis=1) for b in (0, 1)))))
    assert plain.score(rows) < hidden.score(rows)
    assert abs(hidden.score(rows) - (truth - np.log(2))) < 1.5
    assert hidden.sample(10, random_state=0).shape == (10, 300)


def test_refusals() -> None:
    for unfitted in (fs.ChowLiuTree(), fs.HiddenChowLiuTree()):
        for call in ("marginals", "mode", "sample", "save"):
            with pytest.raises(NotFittedError):
                getattr(unfitted, call)(*(["never.fsm"] if call == "save" else []))
    model = fs.ChowLiuTree().fit(frame())
    for call in (model.summary, model.residuals):
        with pytest.raises(FullspanError):
            call()
    for bad, message in (
        (fs.ChowLiuTree(pseudo_count="much"), "pseudo_count is 'much'"),
        (fs.ChowLiuTree(pseudo_count=-1), "pseudo_count is -1"),
        (fs.HiddenChowLiuTree(n_states=0), "n_states has 0"),
        (fs.HiddenChowLiuTree(patience=0), "patience is 0"),
        (fs.HiddenChowLiuTree(validation_fraction=1.0), "held out is 1.0"),
    ):
        with pytest.raises(FullspanError, match=message):
            bad.fit(frame())


def test_an_early_end_is_told() -> None:
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        fs.HiddenChowLiuTree(n_states=4, max_iter=1, random_state=0).fit(frame())


def test_cross_validation_prefers_a_tree_to_chance() -> None:
    data = frame()
    assert cross_val_score(fs.ChowLiuTree(), data, cv=3).mean() > -np.log(24)


def test_a_marginal_takes_a_list_of_names_or_several() -> None:
    tree = fs.ChowLiuTree().fit({"a": [0, 1, 1] * 8, "b": ["x", "y", "y"] * 8, "c": [0, 1] * 12})
    both = tree.marginal("b", "a")
    assert np.array_equal(both.values, tree.marginal(["b", "a"]).values)
    assert both.values.shape == (2, 2)


def test_models_of_other_columns_are_named_in_the_plural() -> None:
    table = {"a": [0, 1, 1] * 8, "b": ["x", "y", "y"] * 8, "c": [0, 1] * 12}
    one, two = fs.ChowLiuTree().fit(table), fs.ChowLiuTree(columns=["a"]).fit(table)
    with pytest.raises(FullspanError, match="b, c are in one of them only"):
        fs.compare({"one": one, "two": two}, pd.DataFrame(table), baselines=False)
