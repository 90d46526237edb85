"""Importing the package and asking for help stay quick: nothing heavy is loaded."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import fullspan
from fullspan.lazy import Seam

HEAVY = ("numba", "duckdb", "sklearn", "scipy", "pandas", "polars", "pyarrow", "rich", "ibis")


@pytest.mark.parametrize(
    "code",
    [
        "import fullspan; dir(fullspan); fullspan.errors; fullspan.Space; fullspan.__version__",
        "import fullspan.people.cli; assert fullspan.people.cli.main(['--help']) == 0",
        "import fullspan.people.cli; assert fullspan.people.cli.main(['fit', '--help']) == 0",
    ],
)
def test_nothing_heavy_is_imported(code: str) -> None:
    report = f"{code}\nimport sys\nprint('loaded:', sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.endswith("loaded: []\n"), done.stdout


def test_a_network_is_read_and_answers_without_scikit_learn_or_a_compiler(tmp_path: Path) -> None:
    """Which take a second each, five times as long as the rest."""
    (tmp_path / "pair.uai").write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n3 1 1 3\n")
    script = (
        "import sys, fullspan as fs; network = fs.read_graph('pair.uai'); network.marginals(); "
        "assert round(network.probability('x0=1 | x1=1'), 9) == 0.75; "
        "print(sorted({'sklearn', 'pandas', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "[]\n"


def test_every_name_the_root_promises_is_there() -> None:
    assert dir(fullspan) == sorted({*fullspan.__all__, "__version__"})
    for name in dir(fullspan):
        assert getattr(fullspan, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'FullSpam'"):
        _ = fullspan.FullSpam
    assert not hasattr(fullspan, "FullSpam")


def _seams() -> list[Seam]:
    """Of every package that loads its names on first use."""
    found = pkgutil.walk_packages(fullspan.__path__, "fullspan.")
    packages = [importlib.import_module(module.name) for module in found if module.ispkg]
    return [package.__getattr__ for package in packages if isinstance(getattr(package, "__getattr__", None), Seam)]


@pytest.mark.parametrize("seam", _seams(), ids=lambda seam: seam.package)
def test_every_name_of_a_seam_is_there_after_its_modules_were_imported(seam: Seam) -> None:
    """A module of the same name would hide it, but only once that module was imported."""
    package = importlib.import_module(seam.package)
    for home in seam.homes.values():
        importlib.import_module(home)
    for name, home in seam.homes.items():
        assert getattr(package, name) is getattr(importlib.import_module(home), name)
    with pytest.raises(AttributeError, match="no attribute 'FullSpam'"):
        _ = package.FullSpam


def test_the_version_is_that_of_the_installed_package() -> None:
    from importlib import metadata

    assert fullspan.__version__ == metadata.version("fullspan")
