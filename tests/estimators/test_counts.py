"""A column of counts means rows that often, for every estimator, in fitting and in scoring, also after a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from fullspan.errors import DataError, FullspanError

EDGES = [("a", "b"), ("b", "c"), ("c", "d")]


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """A contingency table with counts n, and the same rows written out."""
    rng = np.random.default_rng(3)
    x = rng.integers(2, size=(60, 4))
    x[:, 3] = np.where(rng.random(60) < 0.8, x[:, 2], x[:, 3])
    frame, times = pd.DataFrame(x, columns=list("abcd")), rng.integers(1, 5, size=60)
    return frame.assign(n=times), frame.loc[np.repeat(np.arange(60), times)].reset_index(drop=True)


ESTIMATORS = {
    "full span": lambda **o: fs.FullSpan(**o),
    "machine": lambda **o: fs.BoltzmannMachine(**o),
    "tree": lambda **o: fs.ChowLiuTree(**o),
    "decimatable": lambda **o: fs.DecimatableBoltzmannMachine(EDGES, **o),
    "truncated": lambda **o: fs.TruncatedBoltzmannMachine(**o),
    "restricted": lambda **o: fs.RestrictedBoltzmannMachine(n_hidden=2, max_iter=2, random_state=0, **o),
    "deep": lambda **o: fs.DeepBoltzmannMachine(layers=[2, 2], max_iter=2, random_state=0, **o),
    "classifier": lambda **o: fs.BoltzmannClassifier(outputs="d", **o),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_counts_are_rows_written_out(name: str, tmp_path: Path) -> None:
    counted, written = tables()
    model: Any = ESTIMATORS[name](count_column="n").fit(counted)
    expected = ESTIMATORS[name]().fit(written).score(written)
    assert model.score(counted) == pytest.approx(expected, abs=1e-9)
    assert model.score(written) == pytest.approx(expected, abs=1e-9)
    model.save(tmp_path / "model.fsm")
    assert fs.load(tmp_path / "model.fsm").score(counted) == pytest.approx(expected, abs=1e-9)


def test_further_rows_of_a_stream_count_too() -> None:
    """Two passes over counted rows are two passes over the rows written out."""
    counted, written = tables()
    machines = [ESTIMATORS["restricted"](count_column="n"), ESTIMATORS["restricted"]()]
    for machine, table in zip(machines, (counted, written), strict=True):
        machine.partial_fit(table)
        machine.partial_fit(table)
    assert machines[0].fitted_.total == machines[1].fitted_.total == len(written)


def test_counts_beside_outputs_in_y_are_refused() -> None:
    """They would be left out in silence."""
    counted, _ = tables()
    for model in (
        fs.BoltzmannClassifier(count_column="n"),
        fs.DecimatableBoltzmannMachine(EDGES, outputs="d", count_column="n"),
        fs.RestrictedBoltzmannMachine(2, target="d", count_column="n"),
    ):
        with pytest.raises((DataError, FullspanError), match="sample_weight="):
            model.fit(counted.drop(columns="d"), counted["d"])


def test_incomplete_rows_are_left_out_of_the_score_as_of_the_fit() -> None:
    counted, _ = tables()
    gappy = counted.drop(columns="n").astype(float)
    gappy.loc[:9, "a"] = np.nan
    for name in ("restricted", "deep"):
        model: Any = ESTIMATORS[name](missing="drop").fit(gappy)
        assert model.score(gappy) == pytest.approx(model.score(gappy.dropna()), abs=1e-9)


def test_a_classifier_has_the_summary_of_a_logistic_regression() -> None:
    """One binary output and pairs: coefficients and errors are those of the information matrix."""
    counted, written = tables()
    model = fs.BoltzmannClassifier(outputs="d", l2=0.0, count_column="n").fit(counted)
    rows = {c.term: c for c in model.summary("treatment").coefficients}
    design = np.column_stack([np.ones(len(written)), written[["a", "b", "c"]]])
    weights = np.array([rows[t].estimate for t in ("d=1", "a=1:d=1", "b=1:d=1", "c=1:d=1")])
    p = 1 / (1 + np.exp(-design @ weights))
    assert design.T @ (written["d"].to_numpy() - p) == pytest.approx(np.zeros(4), abs=1e-6)
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ (design * (p * (1 - p))[:, None]))))
    assert [rows[t].standard_error for t in ("d=1", "a=1:d=1", "b=1:d=1", "c=1:d=1")] == pytest.approx(errors, rel=1e-6)


@pytest.mark.parametrize("name", ["full span", "machine", "tree", "decimatable"])
def test_an_array_can_be_scored_as_it_was_fitted(name: str) -> None:
    """Columns of an array that were chosen, or that hold counts, are found again by their position."""
    counted, written = tables()
    array = counted.to_numpy()
    names = {"graph": [(f"x{i}", f"x{i + 1}") for i in range(3)]} if name == "decimatable" else {}
    model: Any = ESTIMATORS[name](count_column="x4").set_params(**names).fit(array)
    plain = ESTIMATORS[name]().set_params(**names).fit(written.to_numpy())
    assert model.score(array) == pytest.approx(plain.score(written.to_numpy()), abs=1e-9)
    assert model.score(array[:, :4]) == pytest.approx(plain.score(array[:, :4]), abs=1e-9)
    assert model.score_samples(array) == pytest.approx(plain.score_samples(array[:, :4]), abs=1e-9)
    if name != "decimatable":
        two: Any = ESTIMATORS[name](columns=[3, 2]).fit(array)
        assert two.score_samples(array) == pytest.approx(two.score_samples(array[:, [3, 2]]), abs=1e-12)


def test_odd_numbers_are_refused_in_words() -> None:
    counted, _ = tables()
    frame = counted.drop(columns="n")
    with pytest.raises(FullspanError, match=r"n_states has 2\.5"):
        fs.HiddenChowLiuTree(n_states=2.5).fit(frame)  # type: ignore[arg-type]
    with pytest.raises(FullspanError, match="a sample of -1 states"):
        fs.DecimatableBoltzmannMachine(EDGES).fit(frame).sample(-1)
