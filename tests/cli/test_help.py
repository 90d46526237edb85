"""Help pages: their examples run as printed, and they can be read in a terminal of 80 columns."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from cli.running import COMMAND, VOTES, Done
from fullspan.people.cli import main
from fullspan.people.cli.app import app
from fullspan.people.cli.options.from_estimators import NAMES
from fullspan.people.cli.options.headings import COMMON, FIRST, READING


def _commands(group: object, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, command in getattr(group, "commands", {}).items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*before, name))
        else:
            yield (*before, name)


ALL = list(_commands(typer.main.get_command(app)))
PARTIES = {"democrat": 258, "republican": 177}
WITHOUT = {("bench", "density"), ("bench", "synthetic"), ("bench", "counting")}
"""Their data sets are not part of the package."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, votes_model: Path) -> Path:
    """The files that examples name."""
    where = tmp_path_factory.mktemp("examples")
    complete = [line for line in VOTES.read_text().splitlines() if "?" not in line]
    (where / "votes.csv").write_text(VOTES.read_text())
    for name in ("test.csv", "train.csv"):
        (where / name).write_text("\n".join(complete) + "\n")
    (where / "house.json").write_text(json.dumps({"margins": [[{"party": p, "count": n} for p, n in PARTIES.items()]]}))
    for name in ("votes.fsm", "a.fsm", "b.fsm"):
        (where / name).write_bytes(votes_model.read_bytes())
    assert main(["convert", str(votes_model), "-o", str(where / "votes.uai")]) == 0
    (where / "votes.uai.evid").write_text("1 0 0\n")
    return where


def _help(command: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    capsys.readouterr()
    assert main([*command, "--help"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_examples_run_as_printed(command, folder, capsys, monkeypatch):
    """Every line that begins with "Example:" in a terminal of 80 columns is a command that ends well."""
    text = _help(command, capsys, monkeypatch)
    monkeypatch.chdir(folder)
    found = re.findall(r"^ *Example: (fullspan .*)$", text, re.MULTILINE)
    assert bool(found) != (command in WITHOUT)
    for example in found:
        words = shlex.split(example)
        assert words[1 : 1 + len(command)] == list(command)
        if command == ("serve",):
            _serve(words[1:], folder)
            continue
        capsys.readouterr()
        done = Done(main(words[1:]), *capsys.readouterr())
        assert done.code == 0, (example, done.err)


def _serve(arguments: list[str], folder: Path) -> None:
    """The address is printed; on a free port, for other tests may serve too."""
    environment = {**os.environ, "BROWSER": "true"}
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    try:
        assert any("http://127.0.0.1" in line for line in iter(process.stdout.readline, ""))
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.mark.parametrize("command", [(), *ALL], ids=" ".join)
def test_help_fits_into_80_columns(command, capsys, monkeypatch):
    text = _help(command, capsys, monkeypatch)
    assert max(map(len, text.splitlines())) <= 80
    assert command or not re.search(r"^  \w.*\.\.\.$", text, re.MULTILINE)  # no command's line is cut short


def test_fit_shows_what_most_people_need_first(capsys, monkeypatch):
    """A dozen options come first, the others stand under headings, by model, and none is lost."""
    text = _help(("fit",), capsys, monkeypatch)
    shown = re.findall(r"^(\S.*):$", text, re.MULTILINE)
    assert shown[:3] == ["Arguments", FIRST, READING]
    assert shown[3:] == [f"--model {name}" for name in NAMES.values()]
    assert len(COMMON) - 1 == 13
    for parameter in typer.main.get_command(app).commands["fit"].params:
        assert re.search(rf"{re.escape(max(parameter.opts, key=len))}(?![\w-])", text)


@pytest.mark.parametrize("model", NAMES.values())
def test_the_help_of_a_model_has_its_own_options_only(model, capsys, monkeypatch):
    text = _help(("fit", "--model", model), capsys, monkeypatch)
    assert re.findall(r"^(--model .*):$", text, re.MULTILINE) == [f"--model {model}"]
    examples = re.findall(r"--model (\S+)", text.split("\n  Example: ", 1)[1].partition("fullspan fit --model NAME")[0])
    assert set(examples) == {model}
    assert ("--pseudo-count" in text) == (model == "chow-liu")
    assert ("--seed" in text) == (model != "chow-liu")
    assert max(map(len, text.splitlines())) <= 80
