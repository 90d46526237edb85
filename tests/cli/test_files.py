"""Output files are whole or absent, and inputs are never replaced."""

from __future__ import annotations

import csv
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cli.running import COMMAND, VOTES
from fullspan.data import Space, Variable, count, encode
from fullspan.errors import FullspanError
from fullspan.estimators.registry import read_fitted as load
from fullspan.model.files import read_uai, write_atomically
from fullspan.people.cli.running import files

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
    with pytest.raises(FullspanError, match="not a Fullspan model; give another name, or --force"):
        files.check_model_target(other)


# -- pipes and devices ----------------------------------------------------------------------------------------


def test_a_model_written_to_a_pipe_comes_out_of_it(tmp_path: Path) -> None:
    """``-o /dev/stdout | cat``: the pipe holds the model alone, the summary goes to standard error."""
    command = ["fit", str(VOTES), "--columns", "party,crime", "--missing", "drop", "-o", "/dev/stdout"]
    done = subprocess.run([*COMMAND, *command], capture_output=True, text=True, timeout=120, check=True)
    path = tmp_path / "m.fsm"
    path.write_text(done.stdout)
    assert load(path).n_rows == 435
    assert "written to /dev/stdout" in done.stderr


def test_text_and_models_are_written_to_named_pipes_whole(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for write, expected in [
        (lambda: files.write_text(pipe, "text"), b"text"),
        (lambda: write_atomically(pipe, b"bytes"), b"bytes"),
        (lambda: files.write_table(TABLE.select(["n"]), pipe), b"n\n1\n2\n3\n"),
    ]:
        with ThreadPoolExecutor(1) as pool:
            got = pool.submit(pipe.read_bytes)
            files.check_model_target(pipe)  # does not read what is written
            write()
            assert got.result(10) == expected
    assert os.listdir(tmp_path) == ["pipe.csv"]


def test_pipes_as_inputs_are_refused_at_once(tmp_path: Path) -> None:
    for name, reader in [("t.csv", count), ("t.parquet", count), ("m.fsm", load), ("n.uai", read_uai)]:
        pipe = tmp_path / name
        os.mkfifo(pipe)
        with pytest.raises(FullspanError, match=r"a pipe or a device|is not a file"):
            reader(pipe)


@pytest.mark.parametrize("write", [files.write_text, lambda path, text: write_atomically(path, text.encode())])
def test_an_error_of_the_system_names_the_file_that_was_given(write: Any) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write(Path("/proc/x.csv"), "a")
    assert caught.value.filename == "/proc/x.csv"
