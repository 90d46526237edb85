"""Wrong input of every kind: exit code 2, words on standard error, no traceback, no file left behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.running import VOTES, Done, spawn
from fullspan.people.cli import app as application

Run = Callable[..., Done]
HOSTILE = [b"", b"{", b"\x80\x04K\x01.", b"[" * 100_000, b"{}", b'{"format": "fullspan-model"}']


def refused(done: Done, message: str = "") -> None:
    assert done.code == 2, (done.code, done.err)
    assert done.out == ""
    assert message in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2\n3\n", ""),
        (b"a,a\n1,2\n", "several columns named 'a'"),
        (b"\x00\xff\xfe\x00garbage", ""),
        (b"a,b\n1,\xff\xfe\n", ""),
    ],
)
def test_tables_that_are_none(run: Run, tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    refused(run("fit", path, "-o", tmp_path / "m.fsm"), message)
    assert os.listdir(tmp_path) == ["table.csv"]


@pytest.mark.parametrize("command", ["show", "query", "sample", "impute", "score"])
@pytest.mark.parametrize(
    "content", [b"", b"{", b"\x80\x04K\x01.", b"[" * 100_000, b"{}", b'{"format": "fullspan-model"}']
)
def test_models_that_are_none(run: Run, tmp_path: Path, command: str, content: bytes) -> None:
    model = tmp_path / "bad.fsm"
    model.write_bytes(content)
    more = {
        "query": ["P(a=1)"],
        "impute": [VOTES, "-o", tmp_path / "o.csv"],
        "score": [VOTES],
    }.get(command, [])
    refused(run(command, model, *more), "bad.fsm")
    assert os.listdir(tmp_path) == ["bad.fsm"]


def test_half_a_model(run: Run, votes_model: Path, tmp_path: Path) -> None:
    half = tmp_path / "half.fsm"
    half.write_bytes(votes_model.read_bytes()[: votes_model.stat().st_size // 2])
    refused(run("show", half), "half.fsm")


def test_as_a_process_of_its_own(tmp_path: Path) -> None:
    refused(spawn("fit", tmp_path / "no.csv", "-o", tmp_path / "m.fsm"), "there is no file")
    refused(spawn("show", tmp_path / "no.fsm"), "no.fsm")


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit"],
        ["fit", VOTES],
        ["fit", VOTES, "-o", "m.fsm", "--missing", "perhaps"],
        ["fit", VOTES, "-o", "m.fsm", "--max-order", "0"],
        ["fit", VOTES, "-o", "m.fsm", "--l1", "-1"],
        ["fit", VOTES, "-o", "m.fsm", "--missing", "drop", "--penalty", "cheap"],
        ["fit", VOTES, "-o", "m.fsm", "--missing", "drop", "--penalty", "nan"],
        ["fit", VOTES, "-o", "m.fsm", "--missing", "drop", "--columns", "party,waters"],
        ["fit", VOTES, "-o", "m.fsm", "--missing", "drop", "--max-levels", "1"],
        ["fit", VOTES, "-o", "m.fsm", "--missing", "drop", "--levels", '{"party": ["democrat"]}'],
        ["fit", VOTES, "-o", "m.fsm", "--missing", "drop", "--count-column", "party"],
        ["fit", VOTES, "-o", "m.fsm", "--missing", "drop", "--max-memory", "1k"],
        ["fit", VOTES, "-o", "m.fsm", "--missing", "drop", "--max-memory", "0"],
        ["fit", VOTES, "-o", "no/such/folder/m.fsm"],
        ["unknown"],
        ["--unknown"],
    ],
    ids=lambda a: " ".join(map(str, a[1:] if len(a) > 1 else a)).replace(str(VOTES), "votes"),
)
def test_wrong_usage(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    refused(run(*arguments))
    assert os.listdir(tmp_path) == []


def test_the_data_is_never_replaced(run: Run, votes_model: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text(VOTES.read_text())
    refused(run("fit", data, "-o", data, "--missing", "drop", "--force"), "is read by this command")
    refused(run("fit", data, "-o", tmp_path / "m.fsm", "--checkpoint", data), "is read by this command")
    refused(run("impute", votes_model, data, "-o", data), "is read by this command")
    refused(run("score", votes_model, data, "--per-row", "-o", data), "is read by this command")
    assert data.read_text() == VOTES.read_text()
    refused(run("score", votes_model, data, "-o", tmp_path / "x.csv"), "-o is for --per-row")
    refused(run("sample", votes_model, "-o", tmp_path / "x.xlsx"), "not known by its suffix")


def test_a_level_the_model_has_not_seen(run: Run, votes_model: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text(VOTES.read_text().replace("republican", "whig", 1))
    refused(run("score", votes_model, data), "whig")
    refused(run("score", votes_model, data, "--per-row"), "whig")
    refused(run("impute", votes_model, data, "-o", tmp_path / "o.csv"), "whig")
    data.write_text("party\ndemocrat\n")
    refused(run("score", votes_model, data), "no column 'infants'")


@pytest.mark.parametrize("given", ["crime=maybe", "crim=y", "crime", "crime=y |"])
def test_evidence_that_makes_no_sense(run: Run, votes_model: Path, given: str) -> None:
    refused(run("sample", votes_model, "-n", 1, "--given", given))


def test_a_sample_larger_than_memory(run: Run, votes_model: Path, tmp_path: Path) -> None:
    refused(run("sample", votes_model, "-n", 10**12), "a sample of 1,000,000,000,000 states of 17 variables needs")
    refused(run("sample", votes_model, "-n", 10**30, "-o", tmp_path / "x.csv"), "draw fewer at once")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(run("demo", tmp_path / "file"), "exists")


def test_a_fault_of_the_program_is_not_hidden(run: Run, votes_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("fullspan.model.files.log_linear.read", broken)
    with pytest.raises(ZeroDivisionError):
        run("show", votes_model)
    assert application.INTERRUPTED == 130
