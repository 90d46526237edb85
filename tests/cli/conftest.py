"""Run commands in this process, and the model most of them are tried on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.running import VOTES, Done, spawn
from fullspan.people.cli import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Run a command in this process."""

    def runner(*arguments: object) -> Done:
        capsys.readouterr()
        code = main([str(a) for a in arguments])
        return Done(code, *capsys.readouterr())

    return runner


@pytest.fixture(scope="session")
def votes_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model of the bundled votes, complete rows only, fitted by the command itself."""
    path = tmp_path_factory.mktemp("model") / "votes.fsm"
    done = spawn("fit", VOTES, "-o", path, "--missing", "drop")
    assert done.code == 0, done.err
    assert os.listdir(path.parent) == ["votes.fsm"]
    return path
