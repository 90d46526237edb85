"""What ships: a lock that can be trusted anywhere, the bundled table with its credit, commands that are documented."""

from __future__ import annotations

import csv
import os
import re
import tomllib
from pathlib import Path

import pytest

from fullspan.datasets import house_votes_path, spikes_path
from fullspan.people.cli.app import app

ROOT = Path(__file__).resolve().parents[2]


def test_the_lock_has_a_hash_for_everything_and_names_no_host() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    pinned = re.findall(r"^[A-Za-z0-9_.-]+==\S+.*\\$", lock, re.MULTILINE)
    others = [line for line in lock.splitlines() if not re.match(r"^(    --hash=sha256:[0-9a-f]{64}|\S+==)", line)]
    assert len(pinned) > 20
    assert len(pinned) == len(re.findall("==", re.sub(r";.*", "", lock)))
    assert others == []
    assert "://" not in lock


def test_the_lock_covers_every_requirement() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    locked = {
        name.lower().replace("_", "-")
        for name in re.findall(r"^(\S+?)==", (ROOT / "requirements.lock").read_text(), re.M)
    }
    assert {re.split(r"[\[<>=~! ]", text)[0].lower() for text in wanted} <= locked


def test_the_bundled_table_is_whole_and_credited() -> None:
    with house_votes_path().open(newline="") as file:
        header, *rows = list(csv.reader(file))
    assert len(header) == len(set(header)) == 17
    assert len(rows) == 435
    assert sum(row.count("?") for row in rows) == 392
    assert {len(row) for row in rows} == {17}
    credits = (house_votes_path().parent / "CREDITS.md").read_text()
    assert "CC BY 4.0" in credits
    assert "UCI Machine Learning Repository" in credits
    assert all(f"| {name} |" in credits for name in header)


@pytest.mark.parametrize(("path", "n_columns", "total"), [(spikes_path(), 10, 40_000)])
def test_counted_tables_are_whole_and_credited(path: Path, n_columns: int, total: int) -> None:
    with path.open(newline="") as file:
        header, *rows = list(csv.reader(file))
    assert len(header) == n_columns + 1
    assert len({tuple(row[:-1]) for row in rows}) == len(rows)
    assert sum(int(row[-1]) for row in rows) == total
    assert f"## {path.name}" in (path.parent / "CREDITS.md").read_text()


def test_every_bundled_table_has_its_licence() -> None:
    folder = house_votes_path().parent
    sections = (folder / "CREDITS.md").read_text().split("\n## ")[1:]
    licences = {section.split("\n")[0]: "Licence: " in section for section in sections}
    assert licences == {path.name: True for path in folder.glob("*.csv")}


def test_every_command_is_in_the_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    missing = [c.name for c in app.registered_commands if c.name is not None and c.name not in text]
    assert missing == []


@pytest.mark.parametrize("name", ["LICENSE", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"])
def test_what_a_newcomer_looks_for_is_there(name: str) -> None:
    assert (ROOT / name).is_file()


def test_ci_runs_make_test() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text()
