"""Tables in a terminal of 80 and 100 columns: no line is longer, no number is cut, and all words are there."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = "a_rather_long_name_of_a_column,another_long_name_for_a_column,third\n"
CELLS = {
    ("never", "strongly disagree", "x"): 40,
    ("always", "strongly agree", "y"): 50,
    ("never", "strongly agree", "x"): 8,
}


def in_terminal(arguments: list[str], columns: int, folder: Path) -> list[str]:
    """What a command prints in a terminal of a width."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "fullspan", *arguments]
    with subprocess.Popen(command, stdout=follower, stderr=subprocess.PIPE, env=environment, cwd=folder) as process:
        os.close(follower)
        said = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
        assert process.wait() == 0
    os.close(leader)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said.decode()).replace("\r", "").splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("widths")
    rows = [",".join(cell) for cell, n in CELLS.items() for _ in range(n)]
    rows += ["always,strongly disagree,y"] * 9
    (folder / "t.csv").write_text(ROWS + "\n".join(rows) + "\n")
    run = [sys.executable, "-m", "fullspan", "fit", "t.csv", "-o", "t.fsm", "--quiet"]
    subprocess.run(run, cwd=folder, check=True)
    subprocess.run([*run[:5], "-o", "m.fsm", "--quiet", "--model", "boltzmann"], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "t.fsm"],
        ["show", "t.fsm", "--terms"],
        ["show", "m.fsm"],
        ["query", "t.fsm", "P(third | a_rather_long_name_of_a_column=never)"],
        ["compare", "t.fsm", "m.fsm", "--data", "t.csv", "--no-baselines"],
    ],
    ids=["interactions", "terms", "machine", "query", "compare"],
)
def test_tables_fit_the_terminal(arguments: list[str], columns: int, folder: Path) -> None:
    lines = in_terminal(arguments, columns, folder)
    table = (
        lines[next(k for k, line in enumerate(lines) if set(line.strip()) == {"─"}) - 1 :]
        if "─" in "".join(lines)
        else lines
    )
    assert all(len(line) <= columns for line in table), "\n".join(lines)
    assert "…" not in "\n".join(table)


@pytest.mark.parametrize("columns", [80, 100])
def test_the_words_of_an_interaction_are_whole(columns: int, folder: Path) -> None:
    """Long words go on in the next line; put together they are those of a wide terminal."""
    wide = "\n".join(in_terminal(["show", "t.fsm"], 300, folder))
    words = re.search(r"(a_rather_long_name_of_a_column=\S+ goes (?:with|against) .*?\))", wide)
    assert words is not None
    narrow = "".join(line[: columns - 30].strip() for line in in_terminal(["show", "t.fsm"], columns, folder))
    squeezed = re.sub(r"\s", "", narrow)
    assert all(re.sub(r"\s", "", word) in squeezed for word in re.findall(r"\w+=\w+", words.group(1)))
