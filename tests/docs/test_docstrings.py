"""The examples in docstrings run as written."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from importlib.util import find_spec
from types import ModuleType

import pytest

import fullspan

NEED_JAX = tuple(f"fullspan.engine.sharded.{name}" for name in ("step", "table", "transform"))
MODULES = ["fullspan"] + [
    module.name
    for module in pkgutil.walk_packages(fullspan.__path__, "fullspan.")
    if not module.name.endswith("__main__") and not (module.name in NEED_JAX and find_spec("jax") is None)
]


EXTRAS = ("anywidget", "fastapi", "pydantic", "starlette", "uvicorn")


def imported(name: str) -> ModuleType:
    """A module; one that needs an extra that is not installed is skipped."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        pytest.skip(f"{name} needs {error.name}")


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(imported(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


def test_some_modules_have_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = [
        test
        for name in MODULES
        if not name.startswith(("fullspan.people.web", "fullspan.people.notebook"))
        for test in finder.find(imported(name))
        if test.examples
    ]
    assert len(examples) >= 5
