"""Option values: what is read, and what is refused with words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fullspan.errors import FullspanError, QueryError
from fullspan.people.cli.options import arguments
from fullspan.people.cli.options.values import Unset, names, value
from fullspan.people.cli.running.messages import as_options, said


def test_names_are_separated_by_commas_and_may_be_quoted() -> None:
    assert names('a, b,"c, d"') == ["a", "b", "c, d"]


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        *(
            ("bic", "str | float", "bic"),
            ("2", "str | float", 2.0),
            ("3", "int | None", 3),
            ("none", "int | None", None),
        ),
        *(("0.5", "float | int", 0.5), ("20", "float | int", 20), ("2,4", "int | Sequence[int]", [2, 4])),
        *(("paper", "Literal['full', 'paper']", "paper"), ("a, b", "Sequence[str] | str | None", ["a", "b"])),
        *(
            ("[[2, 1]]", "Any", [[2, 1]]),
            ("all", "Any", "all"),
            ("3", "Any", 3),
            ("nan,1", "Sequence[str]", ["nan", "1"]),
        ),
    ],
)
def test_a_text_is_read_by_the_type_of_its_parameter(text: str, kind: str, expected: Any) -> None:
    found = value("option", text, kind)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("many", "float | int", "--min-support is 'many'; a number is needed"),
        ("2.5", "int | None", "--min-support is '2.5'; a whole number is needed"),
        ("fast", "Literal['lbfgs', 'newton']", "--min-support is 'fast'; choose one of 'lbfgs', 'newton'"),
        ("[2", "Sequence[int]", "--min-support is not valid JSON"),
    ],
)
def test_other_texts_are_refused(text: str, kind: str, message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        value("min_support", text, kind)


def test_auto_is_the_default_where_a_class_has_no_such_choice() -> None:
    with pytest.raises(Unset):
        value("solver", "auto", "Literal['lbfgs', 'newton']")


@pytest.mark.parametrize(
    ("text", "n_bytes"), [("1024", 1024), ("8GiB", 8 << 30), ("1.5 k", 1536), ("500MB", 500 << 20), (None, None)]
)
def test_a_size_has_a_unit(text: str | None, n_bytes: int | None) -> None:
    assert arguments.size(text) == n_bytes


def test_levels_come_as_json_or_from_a_file(tmp_path: Path) -> None:
    text = '{"size": ["S", "L"], "n": [1, 2]}'
    (tmp_path / "levels.json").write_text(text)
    expected = {"size": ["S", "L"], "n": [1, 2]}
    assert arguments.levels(text) == arguments.levels(str(tmp_path / "levels.json")) == expected


def test_bins_are_a_number_or_rules() -> None:
    assert arguments.bins("4") == 4
    assert arguments.bins('{"a": 3, "b": ["width", 5]}') == {"a": 3, "b": ("width", 5)}


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (arguments.size, "much", "not a size"),
        (arguments.size, "-1", "not a size"),
        (arguments.levels, "{", "--levels is not valid JSON"),
        (arguments.levels, "[" * 100_000, "--levels is not valid JSON"),
        (arguments.levels, "[1]", "one list of levels per column"),
        (arguments.levels, '{"a": 1}', "one list of levels per column"),
        (arguments.levels, '{"a": [[1]]}', "levels of 'a'"),
        (arguments.bins, "x", "--bins is not valid JSON"),
        (arguments.bins, "age=4", """as in '{"age": 4}'"""),
        (arguments.bins, "true", "takes a number"),
        (arguments.bins, "[3]", "takes a number"),
        (arguments.seed, "-1", "at least 0"),
        (arguments.units, "4,3", "a number of units, 64"),
        (arguments.layers, "4,x", "a number of units for each layer"),
    ],
)
def test_other_values_are_refused(read: Any, text: str, message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        read(text)


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("use missing='drop' or columns=.", "use --missing drop or --columns."),
        ("raise max_levels=", "raise --max-levels"),
        ("column 'a' holds 'levels=high'", "column 'a' holds 'levels=high'"),
        ("order is 0; a whole number is needed", "--order is 0; a whole number is needed"),
        ("leave out random_state= and shrinkage=", "leave out --seed and --shrink"),
        ("nothing to change", "nothing to change"),
    ],
)
def test_remedies_read_as_options(message: str, shown: str) -> None:
    assert as_options(message) == shown


def test_a_quoted_query_is_not_rewritten() -> None:
    error = QueryError("fit with levels=", "levels= high", 8)
    assert said(error) == "fit with --levels\n  levels= high\n          ^"
    assert said(FullspanError("fit both with the same levels=")) == "fit both with the same --levels"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "boltzman", "--count-column", "n"), "--model is 'boltzman', which is not a model (did you mean"),
        (("--model", "restricted", "--epochs", "0"), "--epochs is 0; a whole number of at least 1 is needed"),
        (("--model", "decimatable"), "needs a graph: give --edge A-B once per edge, or --graph FILE"),
        (("--model", "chow-liu", "--hidden", "1"), "full-span, boltzmann, decimatable, restricted or deep, not"),
        (("--columns", "age,party"), "no column 'age'; its columns are"),
    ],
)
def test_a_refusal_names_what_was_given(run: Any, tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    table = tmp_path / "t.csv"
    table.write_text("party,water,car,n\n" + "a,y,b,1\nb,n,b,2\n" * 3)
    done = run("fit", table, "-o", tmp_path / "m.fsm", *options)
    assert done.code == 2
    assert message in " ".join(done.err.split())


def test_a_table_given_as_a_model_is_called_a_table(run: Any, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\ny,n\n")
    done = run("show", table)
    assert done.code == 2
    assert "is a table, not a model file; fullspan fit t.csv" in done.err


def test_an_option_that_only_the_table_has_is_not_explained_on_a_small_table(run: Any, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "y,n\nn,y\ny,y\n" * 5)
    done = run("fit", table, "-o", tmp_path / "m.fsm", "--search", "paper")
    assert "fitted on the table of 4 states\n" in done.err
