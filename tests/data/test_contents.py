"""What the data hold inside bins: shares exact for few values, within a bound for many, in every backend alike."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullspan as fs
from fullspan.data import count
from fullspan.data.contents import MOST_VALUES, RUNS, Contents
from fullspan.errors import DataError, ModelFileError
from fullspan.model.files import checksum

BOUNDS = (-2.5, -0.3, 0.0, 0.05, 1.0, 2.2)


def contents(table, name="x", **options):
    return count(table, **options).space.variables[0].contents if name == "x" else None


def share(x, bound, inside, weight=None):
    weight = np.ones(len(x)) if weight is None else weight
    return float(weight[inside & (x < bound)].sum() / weight[inside].sum())


@pytest.mark.parametrize("home", ["pandas", "csv", "ibis"])
def test_few_values_have_exact_shares_with_and_without_weights(home, tmp_path):
    rng = np.random.default_rng(0)
    x, w = rng.integers(0, 40, 500) * 0.5, rng.integers(0, 4, 500) * 1.5
    frame = pd.DataFrame({"x": x, "w": w})
    source = frame
    if home == "ibis":
        source = pytest.importorskip("ibis").memtable(pa.Table.from_pandas(frame))
    elif home == "csv":
        source = tmp_path / "t.csv"
        frame.to_csv(source, index=False)
    for weight in (None, "w"):
        bins = contents(source, columns=["x"], bins={"x": [0, 7, 20]}, sample_weight=weight)
        for code, inside in enumerate([x < 7, x >= 7]):
            for bound in (0.2, 3.0, 6.9, 7.5, 12.0, 19.5, 30.0):
                truth = share(x, bound, inside, None if weight is None else w)
                assert bins[code].share_below(bound) == pytest.approx(truth, abs=1e-15)
                assert bins[code].error_below(bound) == 0.0


@pytest.mark.parametrize("home", ["pandas", "ibis"])
def test_many_values_are_within_the_stated_error_and_a_heavy_value_is_never_split(home):
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(size=3000), np.zeros(1000)])
    frame = pd.DataFrame({"x": x})
    source = pytest.importorskip("ibis").memtable(pa.Table.from_pandas(frame)) if home == "ibis" else frame
    (whole,) = contents(source, bins={"x": [-9, 9]})
    assert len(whole.low) <= MOST_VALUES
    for bound in (*BOUNDS, np.nextafter(0.0, 1.0), *rng.normal(size=50)):
        truth, error = share(x, bound, np.ones(len(x), bool)), whole.error_below(bound)
        assert abs(whole.share_below(bound) - truth) <= error + 1e-12
        if home == "pandas":
            assert error <= 1 / RUNS + 1e-12
            assert abs(whole.share_below(bound) - truth) < 0.004  # runs are short, and nearly straight inside
    if home == "pandas":
        jump = whole.share_below(np.nextafter(0.0, 1.0)) - whole.share_below(0.0)
        assert jump == pytest.approx(0.25)
        assert whole.median == np.sort(x)[1999]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-300, 300), min_size=1, max_size=400), st.integers(0, 400))
def test_parts_add_up_to_the_whole(values, cut):
    """Contents of two parts, added, are within their own error of the truth, and exact for few values."""
    x = np.array(values) / 7.0
    frames = [pd.DataFrame({"x": part}) for part in (x[:cut], x[cut:]) if len(part)]
    parts = [Contents.of_runs([(v, v, 1.0) for v in frame["x"]]) for frame in frames]
    total = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    for bound in np.unique(np.concatenate([x, x + 0.01])):
        error = total.error_below(bound)
        assert abs(total.share_below(bound) - (x < bound).mean()) <= error + 1e-12
        assert error <= 2.1 / RUNS
        if len(np.unique(x)) <= MOST_VALUES:
            assert error == 0.0
    assert sum(total.weights) == pytest.approx(len(x))


def test_a_file_keeps_the_contents_and_refuses_broken_ones(tmp_path):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=300), "k": rng.integers(0, 9, 300), "y": rng.integers(0, 2, 300)})
    model = fs.FullSpan(bins={"x": 2, "k": [0, 4, 9]}).fit(frame)
    path = tmp_path / "m.fsm"
    model.save(path)
    again = fs.load(path)
    assert [v.contents for v in again.space_.variables] == [v.contents for v in model.space_.variables]
    record = json.loads(path.read_text())
    for broken in ([[1, 2]], [[1], [0.5], [1]], [[1], [-1]], [[1, 2], [1]], [[1], [2], [3], [4]], [["a"], [1]]):
        copy = json.loads(json.dumps(record))
        copy["space"]["variables"][1]["contents"][0] = broken
        copy["checksum"] = checksum(copy)
        path.write_text(json.dumps(copy))
        with pytest.raises(ModelFileError):
            fs.load(path)


def test_contents_check_their_lists():
    with pytest.raises(DataError, match="runs of 1 least values, 2 greatest"):
        Contents((1.0,), (1.0, 2.0), (1.0,))
    with pytest.raises(DataError, match="ends below its start"):
        Contents((1.0,), (0.0,), (1.0,))
    with pytest.raises(DataError, match="not a positive number"):
        Contents((1.0,), (1.0,), (0.0,))
