"""Importing the package and asking for help stay quick: nothing heavy is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fullspan

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


def test_every_name_the_root_promises_is_there() -> None:
    assert dir(fullspan) == sorted(fullspan.__all__)
    for name in fullspan.__all__:
        assert getattr(fullspan, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'FullSpam'"):
        _ = fullspan.FullSpam
    assert not hasattr(fullspan, "FullSpam")


def test_the_version_is_that_of_the_installed_package() -> None:
    from importlib import metadata

    assert fullspan.__version__ == metadata.version("fullspan")
