"""Columns that may not be what they were read as: hints that name the option, and none where there is no reason."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest

import fullspan
from fullspan.data import count
from fullspan.errors import DataError, DataWarning


def hint(source, **options):
    """The text of the one hint about a table."""
    with pytest.warns(DataWarning) as found:
        count(source, **options)
    assert len(found) == 1, [str(w.message) for w in found]
    return str(found[0].message)


# -- counts and identifiers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["n", "Count", "FREQ", "frequency", "counts"])
def test_a_column_of_counts_is_recognised(name):
    table = {"a": ["u", "u", "v", "v"], "b": ["x", "y", "x", "y"], name: [12, 5, 0, 5]}
    assert f"count_column={name!r}" in hint(table)
    assert count(table, count_column=name).total == 22


@pytest.mark.parametrize(
    "table",
    [
        {"a": ["u", "v", "u", "v"], "n": [0, 1, 0, 1]},  # rows repeat
        {"a": ["u", "v", "w", "z"], "n": [0, 1, 0, 1]},  # two levels, 0 and 1
        {"a": ["u", "u", "v", "v"], "n": [1, 2, 3, 2]},  # rows repeat without it
        {"a": ["u", "u", "v", "v"], "b": ["x", "y", "x", "y"], "n": ["p", "q", "r", "p"]},  # text
        {"a": ["u", "u", "v", "v"], "b": ["x", "y", "x", "y"], "n": [-1, 2, 3, 2]},  # negative
        {"a": ["u", "u", "v", "v"], "b": ["x", "y", "x", "y"], "m": [12, 5, 7, 5]},  # another name
        {"n": [1, 2, 3]},
    ],
)
def test_no_hint_where_a_column_only_has_the_name(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        count(table)


def test_an_identifier_within_the_limit_gets_a_hint():
    frame = pd.DataFrame({"id": range(1000, 1040), "a": [0, 1] * 20, "x": [i / 7 for i in range(40)]})
    assert "'id' has a different value in each of the 40 rows" in hint(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        count(frame, columns=["a", "x"])


def test_every_unsuitable_column_is_named_with_its_remedy(tmp_path):
    n = 300
    frame = pd.DataFrame(
        {
            "id": range(n),
            "age": [i % 90 for i in range(n)],
            "day": pd.date_range("2020-01-01", periods=n).astype(str),
            "note": [f"patient {i} came late" for i in range(n)],
            "town": [f"town {i % 100}" for i in range(n)],
            "count": [i % 77 for i in range(n)],
            "sex": ["m", "f"] * (n // 2),
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, tmp_path / "t.csv"):
        with pytest.raises(DataError) as found:
            count(source)
        assert str(found.value).splitlines()[-1] == (
            "otherwise list their levels with levels=, leave them out with columns=, or raise max_levels="
        )
        lines = {line.split("'")[1]: line for line in str(found.value).splitlines() if line.startswith("  '")}
        assert list(lines) == ["id", "age", "day", "note", "town", "count"]
        assert "300 levels" in lines["id"]
        assert "columns=" in lines["id"]
        assert "90 levels" in lines["age"]
        assert "bins=" in lines["age"]
        assert "columns=" not in lines["age"]
        assert "dates" in lines["day"]
        assert "nearly all different: leave it out with columns=" in lines["note"]
        assert "leave it out with columns=" in lines["town"]
        assert "count_column='count'" in lines["count"]


# -- words for missing cells ----------------------------------------------------------------------------------


def test_not_applicable_is_missing_in_either_case_and_leaves_the_scale_to_its_hint(csv_file):
    with pytest.warns(DataWarning) as found:
        count(csv_file("a,b\n" + "low,x\nmedium,x\nhigh,z\nn/a,z\n" * 10), missing="em")
    text = "\n".join(str(w.message) for w in found)
    assert "10 of 40 cells of 'a' are 'n/a' and are read as missing" in text
    assert "low, medium, high" in text


def test_a_common_word_for_missing_gets_a_hint(csv_file):
    path = csv_file("a,b\n" + "None,x\ny,x\nn,z\n" * 10)
    text = hint(path, missing="em")
    assert "10 of 30 cells of 'a' are 'None'" in text
    assert "na_values=" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert count(path, na_values=[]).space.variables[0].levels == ("None", "n", "y")
        count(csv_file("a,b\n" + "?,x\ny,x\nn,z\n" * 10), missing="em")  # no word
        count(csv_file("a,b\nNone,x\n" + "y,x\nn,z\n" * 10), missing="em")  # seldom


# -- scales ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "levels",
    [
        ["low", "medium", "high"],
        ["Never", "Sometimes", "Often", "Always"],
        ["STRONGLY DISAGREE", "DISAGREE", "NEUTRAL", "AGREE", "STRONGLY AGREE"],
        ["strongly_disagree", "disagree", "agree", "strongly_agree"],
        ["small", "medium", "large"],
        ["9", "10", "100"],
        ["1-9 rooms", "10-19 rooms", "20 rooms", "100 rooms"],
    ],
)
def test_a_scale_that_was_sorted_alphabetically_gets_a_hint(levels):
    table = {"a": levels * 3}
    assert hint(table).endswith(f"levels= gives it: {', '.join(levels)}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert count(table, levels={"a": levels}).space.variables[0].ordered
        count(pd.DataFrame({"a": pd.Categorical(levels * 3, levels, ordered=True)}))


@pytest.mark.parametrize(
    "levels", [["blue", "green", "red"], ["high", "low"], ["1", "2", "3"], [1, 9, 10], ["1a", "1b"]]
)
def test_no_hint_where_the_order_is_none_or_right(levels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        count({"a": levels * 3})


# -- identifiers that were cut into bins ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("id", [i * i for i in range(40)]),
        ("Patient_ID", [7 * i for i in range(40)]),
        ("who", [1000 + 7 * i % 40 for i in range(40)]),
        ("nr", [float(i) for i in range(40)]),
    ],
)
@pytest.mark.parametrize("form", ["frame", "csv"])
def test_an_identifier_that_was_cut_gets_a_hint(name, values, form, tmp_path):
    frame = pd.DataFrame({name: values, "a": [0, 1] * 20, "x": [i / 7 for i in range(40)]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    text = hint(frame if form == "frame" else tmp_path / "t.csv", bins=4)
    assert text.startswith(f"column {name!r} has a different value in each of the 40 rows, as an identifier has, and")
    assert "cut into bins" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        count(frame, bins={name: 4, "x": 4})  # asked for by name


@pytest.mark.parametrize("values", [[i // 2 for i in range(40)], [i * i for i in range(40)], [None, *range(39)]])
def test_other_numbers_that_were_cut_get_no_hint(values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        count({"age": values, "a": [0, 1] * 20}, bins=4, missing="em")


def test_a_hint_points_at_the_line_of_the_caller():
    table = {"id": list(range(40)), "a": [0, 1] * 20}
    for call in (lambda: count(table), lambda: fullspan.ChowLiuTree().fit(table)):
        with pytest.warns(DataWarning) as found:
            call()
        assert found[0].filename == __file__
