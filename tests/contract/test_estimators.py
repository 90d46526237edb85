"""The laws of an estimator: one suite for every class that can be fitted, one from outside the package included."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

import fullspan as fs
from contract.independent import IndependentColumns
from fullspan.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::fullspan.errors.ConvergenceWarning")
NAMES = ("a", "b", "c", "d")
CHAIN = [("a", "b"), ("b", "c"), ("c", "d")]
SEED = {"random_state": 0}
ESTIMATORS: dict[str, Callable[..., Any]] = {
    "search": fs.FullSpan,
    "average": lambda **o: fs.FullSpan(average=2, **SEED, **o),
    "search by elimination": lambda **o: fs.FullSpan(engine="elimination", **o),
    "machine": lambda **o: fs.BoltzmannMachine(l2=0.01, **o),
    "machine, hidden": lambda **o: fs.BoltzmannMachine(hidden=1, l2=0.05, restarts=1, **SEED, **o),
    "decimatable": lambda **o: fs.DecimatableBoltzmannMachine(CHAIN, l2=0.01, **SEED, **o),
    "tree": lambda **o: fs.ChowLiuTree(pseudo_count=1.0, **o),
    "hidden tree": lambda **o: fs.HiddenChowLiuTree(n_states=2, restarts=1, **SEED, **o),
    "mixture": lambda **o: fs.FullSpanMixture(runs=[(2, 1)], restarts=1, **SEED, **o),
    "truncated": lambda **o: fs.TruncatedBoltzmannMachine(l2=0.1, unseen=0.01, **o),
    "restricted": lambda **o: fs.RestrictedBoltzmannMachine(n_hidden=2, max_iter=3, **SEED, **o),
    "deep": lambda **o: fs.DeepBoltzmannMachine(layers=[2, 2], max_iter=3, **SEED, **o),
    "classifier": lambda **o: fs.BoltzmannClassifier(outputs="d", l2=0.01, **o),
    "from outside": IndependentColumns,
}
DENSITIES = [name for name in ESTIMATORS if name != "classifier"]
"""Those that have a probability of every row, and draw and fill rows."""
COMPLETE = {"deep", "decimatable"}
"""Those that score complete rows only, or learn from complete rows only."""

QUESTIONS: dict[str, tuple[str, ...]] = {
    "probability": ("a=yes",),
    "conditional": ("a",),
    "marginal": ("a",),
    "mode": (),
    "entropy": (),
    "mutual_information": ("a", "b"),
    "summary": (),
    "residuals": (),
}
ASKED = set(QUESTIONS) - {"summary", "residuals"}
WITHOUT_TERMS = {"tree", "hidden tree", "mixture", "from outside"}
"""Those whose summary and residuals are refused, fitted or not."""
WRITTEN_OUT = {"graph", "runs", "hidden", "inputs", "outputs"}
"""Parameters that a file brings back in their full form: lists for tuples, levels of hidden variables."""
LAYERED = {"restricted", "deep"}
"""Those that fill cells only where they were fitted with missing="em"."""


def frame(rows: int = 120, seed: int = 3) -> pd.DataFrame:
    """Four columns of two words each, the last of which follows the first."""
    rng = np.random.default_rng(seed)
    x = rng.integers(2, size=(rows, 4))
    x[:, 3] = np.where(rng.random(rows) < 0.8, x[:, 0], x[:, 3])
    return pd.DataFrame(np.array(["no", "yes"], dtype=object)[x], columns=list(NAMES))


FRAME, OTHER = frame(), frame(40, seed=4)


def mixed(rows: int = 90) -> pd.DataFrame:
    """Four dependent columns, the second with three levels; every state has a row, so that no weight is infinite."""
    rng = np.random.default_rng(8)
    common, cards = rng.random(rows), (2, 3, 2, 2)
    noisy = [common * rng.uniform(0.7, 1.1) + rng.normal(0, 0.35, rows) for _ in cards]
    codes = [np.clip(x * card, 0, card - 1).astype(int) for x, card in zip(noisy, cards, strict=True)]
    every = np.stack(np.meshgrid(*map(range, cards), indexing="ij"), axis=-1).reshape(-1, len(cards))
    states = np.concatenate([np.stack(codes, axis=1), every])
    words = [("no", "yes"), ("blue", "green", "red"), ("no", "yes"), ("no", "yes")]
    columns = {n: np.array(w, dtype=object)[states[:, j]] for j, (n, w) in enumerate(zip(NAMES, words, strict=True))}
    return pd.DataFrame(columns)


def two_levels(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(b=np.where(rows["b"] == "red", "blue", rows["b"]))


MIXED = mixed()
TWO_LEVELS = {"decimatable", "decimatable, hidden"}
ALSO: dict[str, Callable[..., Any]] = {
    "search, hidden": lambda **o: fs.FullSpan(hidden=1, restarts=1, **SEED, **o),
    "average with other models": lambda **o: fs.FullSpan(average=4, shrinkage="evidence", **SEED, **o),
    "machine, chains": lambda **o: fs.BoltzmannMachine(solver="cd", l2=0.05, max_iter=5, **SEED, **o),
    "decimatable, hidden": lambda **o: fs.DecimatableBoltzmannMachine(
        [*CHAIN, ("d", "h")], hidden=["h"], l2=0.05, restarts=1, **SEED, **o
    ),
    "truncated, random pairs": lambda **o: fs.TruncatedBoltzmannMachine(n_pairs=4, l2=0.1, unseen=0.01, **SEED, **o),
    "restricted, early stopping": lambda **o: fs.RestrictedBoltzmannMachine(
        n_hidden=2, max_iter=3, early_stopping=True, **SEED, **o
    ),
    "classifier, hidden": lambda **o: fs.BoltzmannClassifier(outputs="d", hidden=1, l2=0.05, restarts=1, **SEED, **o),
}
"""Estimators with options under which they draw at random."""
SYMMETRIC: dict[str, Callable[..., Any]] = {
    "machine": fs.BoltzmannMachine,
    "average of machines": lambda **o: fs.BoltzmannMachine(average=3, **SEED, **o),
    "evidence": lambda **o: fs.BoltzmannMachine(order=None, shrinkage="evidence", **o),
    "tree": fs.ChowLiuTree,
    "classifier": lambda **o: fs.BoltzmannClassifier(outputs="d", **o),
    "from outside": IndependentColumns,
}


@pytest.fixture(params=ESTIMATORS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@cache
def fitted(name: str) -> Any:
    return ESTIMATORS[name]().fit(FRAME)


@pytest.fixture
def model(name: str) -> Any:
    return fitted(name)


@pytest.fixture(params=DENSITIES)
def density(request: pytest.FixtureRequest) -> Any:
    return fitted(request.param)


def answers(model: Any, table: Any = OTHER) -> np.ndarray:
    """What the model says of every row: log-probabilities, or those of the classes."""
    return np.asarray((model.predict_log_proba if is_classifier(model) else model.score_samples)(table))


@pytest.mark.parametrize("kind", ["polars", "arrow", "records", "csv", "parquet"])
def test_every_kind_of_table_gives_the_same_model(name: str, model: Any, kind: str, tmp_path: Path) -> None:
    tables: dict[str, Callable[[], Any]] = {
        "polars": lambda: pl.from_pandas(FRAME),
        "arrow": lambda: pa.Table.from_pandas(FRAME, preserve_index=False),
        "records": lambda: FRAME.to_dict("records"),
        "csv": lambda: _written(tmp_path / "t.csv", lambda path: FRAME.to_csv(path, index=False)),
        "parquet": lambda: _written(tmp_path / "t.parquet", FRAME.to_parquet),
    }
    other = ESTIMATORS[name]().fit(tables[kind]())
    np.testing.assert_allclose(answers(other), answers(model), rtol=1e-12, atol=1e-12)


def _written(path: Path, write: Callable[[Path], object]) -> Path:
    write(path)
    return path


def test_an_array_is_a_table_without_names(name: str, model: Any) -> None:
    """Its columns are x0, x1, ...; what the parameters name is named so."""
    given = {"decimatable": {"graph": [("x0", "x1"), ("x1", "x2"), ("x2", "x3")]}, "classifier": {"outputs": "x3"}}
    other = ESTIMATORS[name]().set_params(**given.get(name, {})).fit(FRAME.to_numpy())
    np.testing.assert_allclose(answers(other, OTHER.to_numpy()), answers(model), rtol=1e-12, atol=1e-12)
    assert not hasattr(other, "feature_names_in_")


def test_columns_are_found_by_name(name: str, model: Any) -> None:
    """In any order, next to columns that the model does not have."""
    assert model.feature_names_in_.tolist() == [n for n in NAMES if name != "classifier" or n != "d"]
    assert model.n_features_in_ == len(model.feature_names_in_)
    turned = OTHER.assign(extra=1)[["d", "extra", "b", "a", "c"]]
    assert np.array_equal(answers(model, turned), answers(model))


def test_a_clone_is_unfitted_and_has_the_same_parameters(name: str, model: Any) -> None:
    changed = ESTIMATORS[name](bins={"a": 3}, max_levels=9, verbose=True)
    assert clone(changed).get_params() == changed.get_params() != ESTIMATORS[name]().get_params()
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        answers(clone(model))


def test_files_and_pickles_bring_the_same_estimator_back(model: Any, tmp_path: Path) -> None:
    """Class, parameters and answers; fitted again, it is the same model."""
    model.save(tmp_path / "m.fsm")
    for again in (fs.load(tmp_path / "m.fsm"), pickle.loads(pickle.dumps(model))):
        assert type(again) is type(model)
        known = again.get_params()
        assert all(known[key] == value for key, value in model.get_params().items() if key not in WRITTEN_OUT)
        np.testing.assert_allclose(answers(again), answers(model), rtol=1e-12, atol=1e-13)
        assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert pickle.loads(pickle.dumps(clone(model))).get_params() == model.get_params()


def test_a_loaded_model_can_be_fitted_again(model: Any, tmp_path: Path) -> None:
    model.save(tmp_path / "m.fsm")
    again = clone(fs.load(tmp_path / "m.fsm")).fit(FRAME)
    np.testing.assert_allclose(answers(again), answers(model), rtol=1e-6, atol=1e-6)


def test_the_same_seed_gives_the_same_model(name: str, model: Any) -> None:
    # a kernel may run as Python in one fit and compiled in the next: the same to rounding
    np.testing.assert_allclose(answers(ESTIMATORS[name]().fit(FRAME)), answers(model), rtol=1e-9, atol=1e-12)


def test_an_unfitted_model_says_so(name: str) -> None:
    calls: list[Callable[[Any], object]] = [lambda m: m.score(FRAME), answers, lambda m: m.save("never.fsm")]
    if name in DENSITIES:
        calls += [lambda m: m.sample(), lambda m: m.impute(FRAME)]
    for question in QUESTIONS:
        if hasattr(ESTIMATORS[name](), question) and (name not in WITHOUT_TERMS or question in ASKED):
            calls.append(lambda m, question=question: getattr(m, question)(*QUESTIONS[question]))
    for call in calls:
        with pytest.raises(NotFittedError):
            call(ESTIMATORS[name]())
    assert not Path("never.fsm").exists()


@pytest.mark.parametrize("name", [*ESTIMATORS, *ALSO])
def test_the_order_of_columns_and_rows_does_not_matter(name: str) -> None:
    """Random numbers and ties go by the counts: columns of two and three levels, rows and columns shuffled."""
    make = {**ESTIMATORS, **ALSO}[name]
    rows = two_levels(MIXED) if name in TWO_LEVELS else MIXED
    expected = answers(make().fit(rows), rows)
    shuffled = rows[["c", "d", "b", "a"]].sample(frac=1, random_state=0)
    np.testing.assert_allclose(answers(make().fit(shuffled), rows), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_the_names_of_levels_do_not_matter(name: str) -> None:
    """Where no prior and no start is tied to a level: others shrink the weights of a basis (docs/limitations.md)."""
    make = SYMMETRIC[name]
    again = make(levels={"a": ["yes", "no"], "b": ["red", "green", "blue"]}).fit(MIXED)
    np.testing.assert_allclose(answers(again, MIXED), answers(make().fit(MIXED), MIXED), rtol=0, atol=1e-5)


def test_rows_repeated_are_rows_weighted(name: str) -> None:
    """Whole weights, zero among them, in the fit; ``sample_weight`` weighs the score too."""
    times = np.random.default_rng(2).integers(0, 4, size=len(FRAME))
    written = FRAME.loc[np.repeat(FRAME.index, times)].reset_index(drop=True)
    weighted, repeated = ESTIMATORS[name]().fit(FRAME, sample_weight=times), ESTIMATORS[name]().fit(written)
    np.testing.assert_allclose(answers(weighted), answers(repeated), rtol=1e-8, atol=1e-8)
    y = [OTHER["d"]] if name == "classifier" else []
    scored = weighted.score(OTHER, *y, sample_weight=np.ones(len(OTHER)) * 3)
    assert scored == pytest.approx(weighted.score(OTHER, *y), abs=1e-12)


def test_levels_that_were_not_seen_are_an_error_or_missing(name: str, model: Any) -> None:
    new = OTHER.assign(a=["perhaps", *OTHER["a"][1:]])
    with pytest.raises(DataError, match="perhaps"):
        answers(model, new)
    if name in COMPLETE | {"classifier"}:
        return
    lenient = ESTIMATORS[name](handle_unknown="missing", missing="em").fit(FRAME)
    open_cell = OTHER.assign(a=[None, *OTHER["a"][1:]])
    assert np.array_equal(answers(lenient, new), answers(lenient, open_cell))
    np.testing.assert_allclose(answers(lenient, new)[1:], answers(lenient)[1:], rtol=1e-12)


def test_marks_of_missing_cells_are_the_caller_s(name: str) -> None:
    marked = pd.concat([FRAME, FRAME.iloc[:5].assign(a="?-")], ignore_index=True)
    found = ESTIMATORS[name](na_values=["?-"], missing="drop").fit(marked)
    np.testing.assert_allclose(answers(found), answers(ESTIMATORS[name]().fit(FRAME)), rtol=1e-12, atol=1e-12)


def test_the_score_is_the_mean_of_the_rows(density: Any) -> None:
    rows = density.score_samples(OTHER)
    assert density.score(OTHER) == pytest.approx(rows.mean(), abs=1e-12)
    weights = np.arange(len(OTHER)) + 1.0
    expected = np.average(rows, weights=weights)
    assert density.score(OTHER, sample_weight=weights) == pytest.approx(expected, abs=1e-12)


def test_samples_depend_on_the_seed_only(density: Any) -> None:
    one, two, other = (density.sample(60, random_state=seed) for seed in (1, 1, 2))
    assert list(one.columns) == list(NAMES)
    assert one.equals(two)
    assert not one.equals(other)
    assert one.isin(["no", "yes"]).all().all()


@pytest.mark.parametrize("how", ["mode", "draw"])
@pytest.mark.parametrize("name", DENSITIES)
def test_imputation_keeps_what_was_observed(name: str, how: str) -> None:
    density = ESTIMATORS[name](missing="em").fit(FRAME) if name in LAYERED else fitted(name)
    partial = OTHER.copy()
    partial.loc[::3, "a"] = None
    partial.loc[::4, "c"] = None
    one, two = (density.impute(partial, how, random_state=1) for _ in range(2))
    assert one.equals(two)
    assert one.isin(["no", "yes"]).all().all()
    known = partial.notna()
    assert one.where(known).equals(partial.where(known))
