"""Output files are whole or absent, and inputs are never replaced."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pyarrow as pa
import pytest

from fullspan.cli import files
from fullspan.data import encode
from fullspan.errors import FullspanError
from fullspan.space import Space, Variable

TABLE = pa.table({"a, b": ["x", 'say "hi"', None], "n": [1, 2, 3]})
SPACE = Space((Variable("a, b", ("x", 'say "hi"', "z")), Variable("n", (1, 2, 3))))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl", ".arrow", ".feather"])
def test_a_written_table_reads_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    files.check_table_target(path)
    files.write_table(TABLE, path)
    assert encode(path, SPACE, allow_missing=True).tolist() == [[0, 0], [1, 1], [-1, 2]]
    assert os.listdir(tmp_path) == [path.name]


def test_delimited_output_quotes_only_where_needed(capsys: pytest.CaptureFixture[str]) -> None:
    files.print_table(TABLE, as_json=False)
    out = capsys.readouterr().out
    assert out.splitlines()[1] == "x,1"
    assert list(csv.reader(out.splitlines()))[2] == ['say "hi"', "2"]
    files.print_table(TABLE, as_json=True)
    assert capsys.readouterr().out.splitlines()[0] == '{"a, b": "x", "n": 1}'


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(AttributeError):
        files.write_table("no table", path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_the_permissions_are_those_of_a_new_file(tmp_path: Path) -> None:
    files.write_text(tmp_path / "a", "text")
    (tmp_path / "b").write_text("text")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_targets_that_would_hurt_are_refused(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a\n1\n")
    for path, message in [
        (tmp_path, "is a folder"),
        (tmp_path / "no" / "x.csv", "there is no folder"),
        (data, "is read by this command"),
        (tmp_path / "." / "data.csv", "is read by this command"),
    ]:
        with pytest.raises(FullspanError, match=message):
            files.check_target(path, data)
    with pytest.raises(FullspanError, match=r"not known by its suffix; known suffixes: .csv"):
        files.check_table_target(tmp_path / "x.xlsx")
    files.check_table_target(None)


def test_a_fit_replaces_models_only(tmp_path: Path) -> None:
    other, model, empty = tmp_path / "notes.txt", tmp_path / "m.fsm", tmp_path / "empty"
    other.write_text("my notes")
    model.write_text('{"format": "fullspan-model", "version": 1')
    empty.write_text("")
    files.check_model_target(model)
    files.check_model_target(empty)
    files.check_model_target(tmp_path / "new.fsm")
    files.check_model_target(other, force=True)
    with pytest.raises(FullspanError, match="no Fullspan model; give another name, or --force"):
        files.check_model_target(other)
