"""The reference says what the code does: every parameter, true defaults, an example; and so do the pages."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import fullspan as fs
from docs.examples import ROOT
from fullspan.estimators.inputs import documented

MODULES = ("datasets", "geometry", "graphs")
FUNCTIONS = {name: getattr(fs, name) for name in fs.__all__ if name != "FullspanError" and name[0] != "_"}
FUNCTIONS = {name: thing for name, thing in FUNCTIONS.items() if not inspect.ismodule(thing)}
FUNCTIONS |= {
    f"{module}.{name}": thing
    for module in MODULES
    for name, thing in vars(getattr(fs, module)).items()
    if callable(thing) and name[0] != "_" and thing.__module__.startswith("fullspan") and name != "FullspanError"
}


def methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods of the public classes, each once."""
    seen = set()
    for owner in filter(inspect.isclass, FUNCTIONS.values()):
        for name, found in inspect.getmembers(owner, inspect.isfunction):
            function = inspect.unwrap(found)
            if not name.startswith("_") and function.__module__.startswith("fullspan") and function not in seen:
                seen.add(function)
                yield function.__qualname__, function


DESCRIBED = {name: thing for name, thing in [*FUNCTIONS.items(), *methods()] if documented(inspect.getdoc(thing))}


def parameters(thing: Any) -> dict[str, inspect.Parameter]:
    return {name: p for name, p in inspect.signature(thing).parameters.items() if name not in ("self", "cls")}


@pytest.mark.parametrize("name", DESCRIBED)
def test_described_parameters_are_those_of_the_signature(name: str) -> None:
    assert set(documented(inspect.getdoc(DESCRIBED[name]))) == set(parameters(DESCRIBED[name]))


@pytest.mark.parametrize("name", DESCRIBED)
def test_what_holds_by_default_is_the_meaning_of_none(name: str) -> None:
    """A default that the signature shows is not repeated in words, which could drift from it."""
    known, texts = parameters(DESCRIBED[name]), documented(inspect.getdoc(DESCRIBED[name]))
    wrong = [p for p, text in texts.items() if re.search(r"\b[Bb]y default\b", text) and known[p].default is not None]
    assert wrong == []


def test_most_functions_with_parameters_are_described() -> None:
    assert len(DESCRIBED) > 40


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if "." not in name])
def test_every_public_name_begins_with_a_sentence_and_has_an_example(name: str) -> None:
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    assert text.split("\n\n")[0].endswith((".", ":"))
    assert ">>>" in text


CLAIMS = (
    r"`(?P<pairs>\w+=[^`]+)`,? \(default\)",
    r"[Tt]he default,? `(?P<pairs>\w+=[^`]+)`",
    r"`(?P<pairs>\w+=[^`]+)`, the default",
    r"(?:at most|by more than) `(?P<pairs>\w+=[\d.e-]+)`",
    r"`(?P<pairs>[a-z_]+=`) \((?P<value>[\d,.]+)\)",
)
"""How pages say what a default is: ``a=1, b=2`` (default), ``a=`` (1) and the like."""


def claims() -> list[tuple[str, str, str]]:
    """(page, parameter, value) of every default that the guide names."""
    found = set()
    for page in (ROOT / "docs").rglob("*.md"):
        text = " ".join(page.read_text(encoding="utf-8").split())
        for claim in (claim for pattern in CLAIMS for claim in re.finditer(pattern, text)):
            given = claim["pairs"] if "value" not in claim.groupdict() else claim["pairs"][:-1] + claim["value"]
            for name, value in re.findall(r"(\w+)=([^=]+?)(?=, \w+=|$)", given):
                found.add((str(page.relative_to(ROOT / "docs")), name, value.replace(",", "").replace('"', "'")))
    return sorted(found)


@pytest.mark.parametrize(("page", "name", "value"), claims())
def test_a_default_that_a_page_names_is_true(page: str, name: str, value: str) -> None:
    """In the class that the page is about, if it is about one; otherwise in a public class or function."""
    title = re.search(r"^# (\w+)", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert title is not None
    own = FUNCTIONS.get(title[1])
    about = [*FUNCTIONS.values(), *DESCRIBED.values()]
    if own is not None:
        about = [own, *(method for _, method in inspect.getmembers(own, inspect.isfunction))]
    defaults = {repr(parameters(thing)[name].default) for thing in about if name in parameters(thing)}
    assert value in defaults or float(value) in {float(d) for d in defaults if re.fullmatch(r"[\d.e+-]+", d)}


def test_pages_name_defaults() -> None:
    assert len(claims()) >= 9
