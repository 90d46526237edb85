"""Counting equals counting by hand, whatever the table comes as."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.forms import as_counter, same, write_all
from fullspan.data import Empirical, Space, Variable, count
from fullspan.data.space import MISSING
from fullspan.errors import DataError

rows_of_three = st.lists(
    st.tuples(st.integers(-3, 3), st.sampled_from(["y", "n", "don't", "a,b"]), st.booleans()), min_size=1, max_size=40
)


@settings(max_examples=25, deadline=None)
@given(rows_of_three)
def test_count_is_a_counter(rows):
    """The counts are those of collections.Counter over the rows."""
    e = count([list(r) for r in rows])
    assert as_counter(e) == Counter(rows)
    assert e.n_rows == e.total == len(rows)
    assert all(list(v.levels) == sorted(v.levels) for v in e.space.variables)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 12, 50]))
def test_states_are_sorted_with_the_last_variable_most_significant(m, seed, n):
    """States come in increasing index: by dense table, by sorted index, and beyond 2^63 states."""
    codes = np.random.default_rng(seed).integers(0, 3, size=(m, n))
    codes = codes[np.random.default_rng(seed).integers(0, m, size=m)]
    space = Space.of_cards([3] * n)
    e = Empirical.from_codes(codes, space=space)
    index = [sum(int(c) * s for c, s in zip(row, space.strides, strict=True)) for row in e.states]
    assert index == sorted(set(index))
    truth = Counter(map(tuple, codes.tolist()))
    assert truth == dict(zip(map(tuple, e.states.tolist()), e.counts.tolist(), strict=True))


def test_every_format_gives_the_same_empirical(tmp_path):
    """Format is not content."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "i": rng.integers(-2, 3, 50),
            "f": rng.choice([0.5, 1.25, -3.0], 50),
            "t": rng.choice(["y", "n", "it's; |a,b|"], 50),
            "b": rng.random(50) < 0.3,
            "Ä x": rng.choice(["1a", "b"], 50),
        }
    )
    truth = Counter(frame.itertuples(index=False, name=None))
    found = {name: count(source) for name, source in write_all(frame, tmp_path).items()}
    for name, e in found.items():
        assert as_counter(e) == truth, name
        assert same(e, found["pandas"]), name
    assert found["t.csv"].space.variables[3].levels == (False, True)
    assert type(found["t.csv"].space.variables[3].levels[0]) is bool


def test_array_and_rows_are_named_by_position():
    codes = np.array([[0, 1], [2, 1], [0, 1]])
    assert same(count(codes), count(codes.tolist()))
    assert count(codes).space.names == ("x0", "x1")
    assert count(codes).space.variables[1].levels == (1,)  # a constant column is a variable with one level
    assert count(codes, columns=[1]).space.names == ("x1",)


def test_whole_floats_are_integers_and_object_arrays_work():
    assert count(np.array([[0.0], [1.0]])).space.variables[0].levels == (0, 1)
    assert count(np.array([[0.5], [1.0]])).space.variables[0].levels == (0.5, 1.0)
    assert count(np.array([["a", 1], ["b", 2]], dtype=object)).space.variables[1].levels == (1, 2)
    assert count(np.array([["a"], ["b"]])).space.variables[0].levels == ("a", "b")


@pytest.mark.parametrize(
    ("cells", "levels"),
    [
        (["0", "1", "10", "2"], (0, 1, 2, 10)),
        (["007", "7", "12"], ("007", "12", "7")),
        (["1.50", "1.5", "-2"], (-2.0, 1.5)),
        (["+1", "-1"], (-1, 1)),
        (["true", "False"], (False, True)),
        (["y", " n ", "n"], ("n", "y")),
        (["1", "a"], ("1", "a")),
        (["2020-01-02", "2019-12-31"], ("2019-12-31", "2020-01-02")),
    ],
)
def test_csv_levels_are_what_a_person_sees(csv_file, cells, levels):
    variable = count(csv_file("a,b\n" + "".join(f"{c},0\n" for c in cells))).space.variables[0]
    assert variable.levels == levels
    assert [type(x) for x in variable.levels] == [type(x) for x in levels]


def test_categories_keep_their_order_and_unseen_levels():
    order = ["low", "mid", "high", "unseen"]
    frame = pd.DataFrame({"c": pd.Categorical(["high", "low"], categories=order)})
    arrow = pa.table({"c": pa.DictionaryArray.from_arrays([2, 0], order)})
    for source in (frame, arrow, pl.DataFrame({"c": ["high", "low"]}, schema={"c": pl.Enum(order)})):
        e = count(source)
        assert e.space.variables[0].levels == tuple(order)
        assert e.states.tolist() == [[0], [2]]
    plain = pl.DataFrame({"c": ["z", "a"], "d": ["q", "r"]}, schema={"c": pl.Categorical, "d": pl.Categorical})
    assert count(plain).space.variables[0].levels == ("a", "z")


def test_categories_of_intervals_and_numbers():
    cut = pd.DataFrame({"c": pd.cut([1.0, 5.0, 9.0], [0, 4, 10])})
    assert count(cut).space.variables[0].levels == ("(0, 4]", "(4, 10]")
    numbers = pd.DataFrame({"c": pd.Categorical([3, 1], categories=[3, 1])})
    assert count(numbers).space.variables[0].levels == (3, 1)


def test_feather_keeps_the_category_order(tmp_path):
    pf.write_feather(
        pd.DataFrame({"c": pd.Categorical(["b", "a"], categories=["z", "b", "a"])}), tmp_path / "t.feather"
    )
    assert count(tmp_path / "t.feather").space.variables[0].levels == ("z", "b", "a")


def test_dates_and_decimals_are_levels():
    import datetime
    import decimal

    table = pa.table(
        {
            "day": [datetime.date(2020, 1, 2), datetime.date(2019, 1, 1)],
            "d": pa.array([decimal.Decimal("1.50"), decimal.Decimal("0.25")]),
            "when": pa.array([0, 3_600_000_000], pa.timestamp("us")),
        }
    )
    day, d, when = count(table).space.variables
    assert day.levels == ("2019-01-01", "2020-01-02")
    assert d.levels == (0.25, 1.5)
    assert when.levels == ("1970-01-01 00:00:00", "1970-01-01 01:00:00")


def test_columns_choose_and_order():
    e = count(pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 5]}), columns=["c", "a"])
    assert e.space.names == ("c", "a")
    assert as_counter(e) == {(5, 1): 1, (5, 2): 1}


def test_names_that_differ_in_case_or_hold_quotes(tmp_path):
    table = pa.table({"a": [1, 1], "A": [2, 3], 'q"x': [4, 4]})
    pq.write_table(table, tmp_path / "t[1].parquet")
    (tmp_path / "t.csv").write_text('a,A,"q""x"\n1,2,4\n1,3,4\n')
    for source in (table, tmp_path / "t[1].parquet", tmp_path / "t.csv"):
        assert as_counter(count(source)) == {(1, 2, 4): 1, (1, 3, 4): 1}
        assert count(source).space.names == ("a", "A", 'q"x')


def test_given_levels_set_order_and_keep_unseen_ones(csv_file):
    path = csv_file("a,z\nlow,07\nhigh,7\n")
    e = count(path, levels={"a": ["low", "mid", "high"], "z": ["7", "07"]})
    assert as_counter(e) == {("low", "07"): 1, ("high", "7"): 1}
    assert e.space.variables[0].levels == ("low", "mid", "high")
    many = [[i] for i in range(100)]
    assert count(many, levels={"x0": list(range(100))}).space.cards == (100,)  # listed levels have no limit


def test_missing_marks_drop_and_level(csv_file):
    path = csv_file("a,b\n1,y\n?,n\n2,NA\n1,\n1,y\n")
    dropped = count(path, missing="drop")
    assert as_counter(dropped) == {(1, "y"): 2}
    assert (dropped.n_rows, dropped.n_dropped) == (5, 3)
    assert dropped.space.variables[0].levels == (1, 2)  # a dropped row still shows its levels
    level = count(path, missing="level")
    assert as_counter(level) == {(1, "y"): 2, (MISSING, "n"): 1, (2, MISSING): 1, (1, MISSING): 1}
    assert level.space.variables[0].levels == (1, 2, MISSING)
    kept = count(path, na_values=["NA", ""], missing="drop")
    assert kept.space.variables[0].levels == ("1", "2", "?")
    assert kept.n_dropped == 2


@pytest.mark.parametrize(
    "source",
    [
        pd.DataFrame({"a": [1.0, np.nan, 1.0], "b": ["x", "y", None]}),
        pl.DataFrame({"a": [1.0, float("nan"), 1.0], "b": ["x", "y", None]}),
        pa.table({"a": [1, None, 1], "b": ["x", "y", None]}),
        [{"a": 1, "b": "x"}, {"b": "y"}, {"a": 1, "b": None}],
        pd.DataFrame({"a": pd.array([1, None, 1], dtype="Int64"), "b": pd.array(["x", "y", None], dtype=object)}),
    ],
    ids=["pandas", "polars", "arrow", "dicts", "extension"],
)
def test_nulls_and_nan_are_missing(source):
    e = count(source, missing="drop")
    assert as_counter(e) == {(1, "x"): 1}
    assert e.n_dropped == 2
    assert count(source, missing="level").space.variables[0].levels == (1, MISSING)


def test_a_column_without_any_value_is_one_missing_level():
    e = count(pd.DataFrame({"a": [np.nan, np.nan], "b": [0, 1]}), missing="level")
    assert e.space.variables[0].levels == (MISSING,)
    assert e.states.tolist() == [[0, 0], [0, 1]]


def test_count_column_is_a_contingency_table(csv_file):
    path = csv_file("a,n,b\n0,3,u\n1,0,v\n0,2.5,u\n1,1,u\n")
    e = count(path, count_column="n")
    assert as_counter(e) == {(0, "u"): 5.5, (1, "u"): 1}
    assert e.space.variables[1].levels == ("u", "v")  # the row of count 0 declares "v"
    assert (e.n_rows, e.total) == (4, 6.5)


def test_sample_weight_follows_the_rows(tmp_path):
    """Weights by array, by column, and by repetition agree, for files of many row groups too."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, size=(30_000, 2))
    w = rng.integers(0, 5, 30_000).astype(float)
    frame = pd.DataFrame(codes, columns=["x0", "x1"])
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet", row_group_size=1000)
    frame.to_csv(tmp_path / "t.csv", index=False)
    truth = count(np.repeat(codes, w.astype(int), axis=0))
    for source in (codes, frame, tmp_path / "t.parquet", tmp_path / "t.csv"):
        e = count(source, sample_weight=w)
        assert e.fingerprint() == truth.fingerprint()
        assert e.n_rows == 30_000
    assert count(frame.assign(w=w), sample_weight="w").fingerprint() == truth.fingerprint()


def test_space_given_finds_columns_by_name_and_arrays_by_position(csv_file):
    space = Space((Variable("b", ("n", "y")), Variable("a", (0, 1, 2))))
    e = count(csv_file("a,extra,b\n1,9,y\n0,8,y\n1,7,y\n"), space=space)
    assert e.space == space
    assert as_counter(e) == {("y", 1): 2, ("y", 0): 1}
    assert as_counter(count(np.array([["n", 2]], dtype=object), space=space)) == {("n", 2): 1}
    with_level = Space((Variable("a", (0, 1, MISSING)),))
    assert as_counter(count(csv_file("a,b\n1,0\n?,0\n"), space=with_level)) == {(1,): 1, (MISSING,): 1}


def test_fingerprint_is_stable_and_sees_every_part():
    e = Empirical.from_codes([[0, 1], [1, 0]])
    assert e.fingerprint() == "2bcc1c2a341e202fe8423500bcbd3c0fb6dc7c4b204346a50f73afa73ea6c6cd"
    other = Space((Variable("x0", (0, 1)), Variable("y", (0, 1))))
    changed = [
        Empirical.from_codes([[0, 1], [1, 1]]),
        Empirical.from_codes([[0, 1], [1, 0]], weights=[1, 2]),
        Empirical.from_codes([[0, 1], [1, 0]], space=other),
    ]
    assert len({x.fingerprint() for x in [e, *changed]}) == 4


def test_from_table_reads_one_axis_per_variable():
    table = np.array([[3, 0, 1], [0, 2, 5]])
    e = Empirical.from_table(table)
    assert e.space.cards == (2, 3)
    assert {tuple(s): c for s, c in zip(e.states.tolist(), e.counts, strict=True)} == {
        (0, 0): 3,
        (0, 2): 1,
        (1, 1): 2,
        (1, 2): 5,
    }
    assert e.n_rows == 11
    with pytest.raises(DataError, match=r"shape \(2, 3\)"):
        Empirical.from_table(table, Space.of_cards([3, 2]))


def test_states_are_small_and_read_only():
    assert count([[0], [1]]).states.dtype == np.uint8
    wide = count([[i] for i in range(300)], max_levels=300)
    assert wide.states.dtype == np.uint16
    assert wide.states[:, 0].tolist() == list(range(300))
    with pytest.raises(ValueError, match="read-only"):
        wide.counts[0] = 1


@pytest.mark.parametrize(("weight", "remedy"), [(1e19, "divide"), (1e300, "divide"), (1e-30, "multiply")])
def test_sums_that_cannot_be_counted_are_refused(weight, remedy):
    """Beyond 2^53 rows one more is lost to rounding; below 2^-53 they are nothing beside one row."""
    for source, options in (
        (pd.DataFrame({"a": [0, 1], "n": [weight, weight]}), {"count_column": "n"}),
        ([[0], [1]], {"weights": [weight, weight]}),
    ):
        counted = count if "count_column" in options else Empirical.from_codes
        with pytest.raises(DataError, match=f"{remedy} them by a common number"):
            counted(source, **options)
    assert Empirical.from_codes([[0], [1]], [2.0**52, 2.0**52]).total == 2.0**53
