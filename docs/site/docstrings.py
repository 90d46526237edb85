"""Docstrings as this package writes them, for the API reference: ``name : what it is`` on one line, roles of Sphinx."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

import griffe

_SECTIONS = ("Parameters", "Attributes", "Raises", "Warns")
_ITEM = re.compile(r"^(?P<names>[\w*]+(?:, [\w*]+)*) : (?P<text>.*)$")
_ROLE = re.compile(r":\w+:`~?(?:fullspan\.)?(?:[a-z_]+\.)*(\w+)`")


class HouseStyle(griffe.Extension):
    """Rewrites docstrings into what a parser of numpydoc expects."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = numpydoc(whole(obj))


def whole(obj: griffe.Object) -> str:
    """The docstring; of an estimator with the parameters that it shares with others, which are added on import."""
    assert obj.docstring is not None
    if not obj.is_class or not obj.path.startswith("fullspan.estimators."):
        return obj.docstring.value
    return inspect.getdoc(getattr(import_module(obj.parent.path), obj.name)) or obj.docstring.value  # type: ignore[union-attr]


def numpydoc(text: str) -> str:
    """Put what an item is on a line of its own, so that it is no type, and plain text before all sections."""
    lines: list[str] = []
    section, start = "", 0
    source = fenced(_ROLE.sub(r"`\1`", text)).splitlines()
    for line, after in zip(source, [*source[1:], ""], strict=True):
        if after and set(after) == {"-"}:
            section, start = line.strip(), start or len(lines)
        item = _ITEM.match(line) if section in _SECTIONS else None
        stray = section in _SECTIONS and line[:1].strip() and not item and line != section and set(line) != {"-"}
        if item:
            lines += [item["names"], f"    {item['text']}"]
        elif stray:
            lines.insert(start, line)
            start += 1
        else:
            lines.append(line)
    lines.insert(start, "")
    return "\n".join(lines)


def fenced(text: str) -> str:
    """Sessions outside the section of examples, which would be taken for quotations, as blocks of code."""
    free, *examples = re.split(r"^(?=Examples\n-+$)", text, maxsplit=1, flags=re.MULTILINE)
    session = re.compile(r"^>>> .*(?:\n(?!\n).+)*", re.MULTILINE)
    return "".join([session.sub(lambda found: f"```pycon\n{found[0]}\n```", free), *examples])
