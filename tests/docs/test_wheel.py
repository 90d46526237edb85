"""The wheel holds all that is needed: the commands, the bundled table, the report and the explorer's page."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
ROOT = Path(__file__).resolve().parents[2]
EXTRAS = {"gpu", "web", "plots", "notebook", "spark", "ibis"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built and unpacked into an empty folder."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = (folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(installed: Path, code: str, cwd: Path) -> str:
    """Run code with the unpacked wheel first on the path."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "NUMBA_DISABLE_JIT": "1"}  # compiling takes a minute
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_has_its_extras_and_no_stray_file(installed: Path) -> None:
    metadata = Parser().parsestr(next(installed.glob("*.dist-info/METADATA")).read_text(encoding="utf-8"))
    assert set(metadata.get_all("Provides-Extra") or ()) >= EXTRAS
    assert {entry.name.split("-")[0] for entry in installed.iterdir()} == {"fullspan"}
    kinds = {path.suffix for path in (installed / "fullspan").rglob("*") if path.is_file()}
    assert kinds <= {".py", ".pyi", ".typed", ".csv", ".md", ".html", ".js", ".css", ".cu", ""}


def test_the_commands_the_report_and_the_page_work_from_it(installed: Path, tmp_path: Path) -> None:
    """Fit, report, and the files of the explorer, from the unpacked wheel alone."""
    code = f"""
import fullspan, pathlib
assert pathlib.Path(fullspan.__file__).is_relative_to({str(installed)!r}), fullspan.__file__
from fullspan.people.cli import main
votes = str(fullspan.datasets.house_votes_path())
columns = "party,crime,education"
assert main(["fit", votes, "-o", "v.fsm", "--missing", "em", "--columns", columns, "--quiet"]) == 0
assert main(["report", "v.fsm", "-o", "v.html", "--no-refit", "--data", votes]) == 0
from importlib.resources import files
print(sorted(entry.name for entry in (files("fullspan.people.web") / "static").iterdir()))
"""
    assert run(installed, code, tmp_path).strip() == "['explorer.css', 'explorer.js', 'index.html']"
    assert "</html>" in (tmp_path / "v.html").read_text(encoding="utf-8")
