"""Cutting numeric columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fullspan.data import count, encode
from fullspan.data.space import MISSING
from fullspan.data.tables import interval_labels
from fullspan.errors import DataError

X = np.random.default_rng(0).normal(size=400)


@pytest.fixture(params=["pandas", "csv", "parquet", "ibis"])
def numbers(request, tmp_path):
    """A table with a continuous, a small integer and a text column, in several homes."""
    frame = pd.DataFrame({"x": X, "k": np.arange(400) % 3, "t": np.where(X > 0, "p", "q")})
    if request.param == "pandas":
        return frame
    if request.param == "ibis":
        ibis = pytest.importorskip("ibis")
        return ibis.memtable(pa.Table.from_pandas(frame))
    path = tmp_path / f"t.{request.param}"
    frame.to_csv(path, index=False) if request.param == "csv" else frame.to_parquet(path)
    return path


def test_an_integer_cuts_columns_with_many_values_by_quantiles(numbers):
    e = count(numbers, bins=4)
    x, k, t = e.space.variables
    np.testing.assert_allclose(x.edges, np.quantile(X, [0, 0.25, 0.5, 0.75, 1]), rtol=1e-12)
    assert (k.levels, k.edges, t.levels) == ((0, 1, 2), None, ("p", "q"))
    np.testing.assert_allclose(np.bincount(e.states[:, 0], e.counts), [100] * 4)


def test_width_and_edges(numbers):
    e = count(numbers, columns=["x", "k"], bins={"x": ("width", 3), "k": [0, 1, 2]})
    x, k = e.space.variables
    np.testing.assert_allclose(x.edges, np.linspace(X.min(), X.max(), 4))
    truth = np.histogram(X, bins=np.array(x.edges))[0]
    np.testing.assert_allclose(np.bincount(e.states[:, 0], e.counts), truth)
    assert k.levels == ("[0, 1)", "[1, 2]")
    np.testing.assert_allclose(np.bincount(e.states[:, 1], e.counts), [134, 266])


def test_values_outside_given_edges_fall_into_the_end_bins():
    e = count([[-5.0], [0.5], [1.0], [9.0]], bins={"x0": [0, 1, 2]})
    assert e.counts.tolist() == [2, 2]


def test_common_end_values_get_a_bin_of_their_own():
    low = count([[0]] * 80 + [[i] for i in range(1, 21)], bins={"x0": 4})
    assert low.space.variables[0].edges == (0, 1, 20)
    assert low.counts.tolist() == [80, 20]
    high = count([[20]] * 80 + [[i] for i in range(20)], bins={"x0": 4})
    assert high.space.variables[0].edges == (0, 19.5, 20)
    assert high.counts.tolist() == [20, 80]
    two = count([[0]] * 9 + [[1]], bins={"x0": 3})
    assert two.counts.tolist() == [9, 1]


def test_a_constant_column_is_left_uncut():
    variable = count([[3.5], [3.5]], bins={"x0": 3}).space.variables[0]
    assert (variable.levels, variable.edges) == ((3.5,), None)


def test_missing_cells_beside_bins(csv_file):
    path = csv_file("x,y\n1,0\n2,0\n?,0\nNaN,1\n4,1\n")
    e = count(path, bins={"x": [0, 2, 5]}, missing="level")
    variable = e.space.variables[0]
    assert variable.levels == ("[0, 2)", "[2, 5]", MISSING)
    assert np.bincount(e.states[:, 0], e.counts).tolist() == [1, 2, 2]
    assert encode(path, e.space)[:, 0].tolist() == [0, 1, 2, 2, 1]
    assert encode([{"x": None, "y": 1}, {"x": 100.0, "y": 0}], e.space).tolist() == [[2, 1], [1, 0]]
    again = count(path, space=e.space)
    assert again.fingerprint() == e.fingerprint()


@pytest.mark.parametrize("home", ["array", "csv", "ibis"])
def test_marks_that_are_numbers_are_missing_in_bins_too(csv_file, home):
    """-9 stands for "not asked": it is neither in a bin, nor does it move the quantiles."""
    x = [1.0, -9.0, 3.0, 4.0, 2.0]
    source = {
        "array": lambda: {"x": x},
        "csv": lambda: csv_file("x\n" + "".join(f"{v:g}\n" for v in x)),
        "ibis": lambda: pytest.importorskip("ibis").memtable(pa.table({"x": x})),
    }[home]()
    e = count(source, na_values=[-9], bins={"x": 2}, missing="drop")
    assert e.space.variables[0].edges == (1, 2.5, 4)
    assert (e.counts.tolist(), e.n_dropped) == ([2, 2], 1)
    plain = count(source, na_values=[-9], missing="drop")
    assert plain.space.variables[0].levels == (1, 2, 3, 4)
    assert encode(source, e.space, na_values=[-9], allow_missing=True)[:, 0].tolist() == [0, -1, 1, 1, 0]
    assert encode(source, plain.space, na_values=[-9], allow_missing=True)[:, 0].tolist() == [0, -1, 2, 3, 1]


def test_padded_codes_are_not_cut_by_a_plain_integer(csv_file):
    cells = "".join(f"0{i},{i}\n" for i in range(10, 20))
    e = count(csv_file("zip,n\n" + cells), bins=2)
    assert e.space.variables[0].edges is None
    assert e.space.variables[1].card == 2


def test_labels_show_as_few_digits_as_keep_the_edges_apart():
    assert interval_labels([1.5, 3, 4]) == ("[1.5, 3)", "[3, 4]")
    assert interval_labels([0, 1 / 3, 1]) == ("[0, 0.3333)", "[0.3333, 1]")
    assert interval_labels([1.00001, 1.00002, 2]) == ("[1.00001, 1.00002)", "[1.00002, 2]")
    assert interval_labels([0, 18999.5, 100_400]) == ("[0, 19000)", "[19000, 100400]")
    assert interval_labels([1e-7, 0.5, 1e20]) == ("[1e-07, 0.5)", "[0.5, 1e+20]")


@pytest.mark.parametrize(
    ("bins", "words"),
    [
        ({"t": 3}, ["'t'", "not numeric"]),
        ({"z": 3}, ["no column 'z'"]),
        ({"x": 1}, ["x", "at least 2"]),
        ({"x": [3, 1]}, ["increasing"]),
        ({"x": "many"}, ["not a rule"]),
        ({"x": ("median", 3)}, ["not a rule"]),
        (True, ["not a rule"]),
    ],
)
def test_rules_that_make_no_sense(bins, words):
    frame = pd.DataFrame({"x": [1.0, 2.0], "t": ["a", "b"]})
    with pytest.raises(DataError) as error:
        count(frame, bins=bins)
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize("bins", [1000, {"x": 1000}, {"x": ("width", 1000)}, {"x": list(range(1001))}])
def test_more_bins_than_levels_are_refused_with_both_numbers(bins):
    frame = pd.DataFrame({"x": np.arange(3000.0)})
    with pytest.raises(DataError, match=r"'x' would be cut into 1000 bins, the limit is 64; .*max_levels="):
        count(frame, bins=bins)


def test_thousands_of_bins_if_they_are_wanted():
    frame = pd.DataFrame({"x": np.arange(6000.0)})
    e = count(frame, bins={"x": ("width", 3000)}, max_levels=3000)
    assert (len(e.states), e.counts.min(), e.counts.max()) == (3000, 2, 2)


def test_infinite_and_textual_cells_are_errors(csv_file):
    with pytest.raises(DataError, match=r"'x0' holds inf, .*infinite cells: 1"):
        count([[1.0], [np.inf]], bins={"x0": 2})
    with pytest.raises(DataError, match=r"'a'.*not numeric"):
        count(csv_file("a\n1\nfoo\n"), bins={"a": 2})
    space = count([[1.0], [2.0], [3.0]], bins={"x0": 2}).space
    with pytest.raises(DataError, match=r"'x0'.*'foo'.*not a number"):
        count(csv_file("x0\n1\nfoo\n"), space=space)
    with pytest.raises(DataError, match=r"'x0'.*inf.*infinite"):
        encode(np.array([[np.inf]]), space)
    with pytest.raises(DataError, match="both levels= and bins="):
        count([[1.0], [2.0]], levels={"x0": [1.0]}, bins={"x0": 2})
