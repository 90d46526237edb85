"""Option values: what is read, and what is refused with words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fullspan.errors import FullspanError, QueryError
from fullspan.people.cli import arguments
from fullspan.people.cli.app import as_options, said


def test_names_are_separated_by_commas_and_may_be_quoted() -> None:
    assert arguments.names(None) is None
    assert arguments.names('a, b,"c, d"') == ["a", "b", "c, d"]


@pytest.mark.parametrize(("text", "value"), [("bic", "bic"), ("2", 2.0), ("0.5", 0.5)])
def test_a_penalty_is_a_name_or_a_number(text: str, value: Any) -> None:
    assert arguments.penalty(text) == value


@pytest.mark.parametrize(
    ("text", "n_bytes"), [("1024", 1024), ("8GiB", 8 << 30), ("1.5 k", 1536), ("500MB", 500 << 20), (None, None)]
)
def test_a_size_has_a_unit(text: str | None, n_bytes: int | None) -> None:
    assert arguments.size(text) == n_bytes


def test_levels_come_as_json_or_from_a_file(tmp_path: Path) -> None:
    text = '{"size": ["S", "L"], "n": [1, 2]}'
    (tmp_path / "levels.json").write_text(text)
    expected = {"size": ["S", "L"], "n": [1, 2]}
    assert arguments.levels(None) is None
    assert arguments.levels(text) == arguments.levels(str(tmp_path / "levels.json")) == expected


def test_bins_are_a_number_or_rules() -> None:
    assert arguments.bins(None) is None
    assert arguments.bins("4") == 4
    assert arguments.bins('{"a": 3, "b": ["width", 5]}') == {"a": 3, "b": ("width", 5)}


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (arguments.size, "much", "no size"),
        (arguments.size, "-1", "no size"),
        (arguments.levels, "{", "--levels is not valid JSON"),
        (arguments.levels, "[" * 100_000, "--levels is not valid JSON"),
        (arguments.levels, "[1]", "one list of levels per column"),
        (arguments.levels, '{"a": 1}', "one list of levels per column"),
        (arguments.levels, '{"a": [[1]]}', "levels of 'a'"),
        (arguments.bins, "x", "--bins is not valid JSON"),
        (arguments.bins, "true", "takes a number"),
        (arguments.bins, "[3]", "takes a number"),
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
        ("nothing to change", "nothing to change"),
    ],
)
def test_remedies_read_as_options(message: str, shown: str) -> None:
    assert as_options(message) == shown


def test_a_quoted_query_is_not_rewritten() -> None:
    error = QueryError("fit with levels=", "levels= high", 8)
    assert said(error) == "fit with --levels\n  levels= high\n          ^"
    assert said(FullspanError("fit both with the same levels=")) == "fit both with the same --levels"
