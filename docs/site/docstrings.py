"""Docstrings as this package writes them, for the API reference: ``name : what it is`` on one line, roles of Sphinx."""

from __future__ import annotations

import re
from typing import Any

import griffe

_SECTIONS = ("Parameters", "Attributes", "Raises", "Warns")
_ITEM = re.compile(r"^(?P<names>[\w*]+(?:, [\w*]+)*) : (?P<text>.*)$")
_ROLE = re.compile(r":\w+:`~?(?:fullspan\.)?(?:[a-z_]+\.)*(\w+)`")
_TABLE = re.compile(r"^\s*\|")


class HouseStyle(griffe.Extension):
    """Rewrites docstrings into what a parser of numpydoc expects."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = numpydoc(obj.docstring.value)


def numpydoc(text: str) -> str:
    """Put what an item is on a line of its own, where it is not taken for a type."""
    lines: list[str] = []
    section = ""
    source = _ROLE.sub(r"`\1`", text).splitlines()
    for line, after in zip(source, [*source[1:], ""], strict=True):
        if after and set(after) == {"-"}:
            section = line.strip()
        item = _ITEM.match(line) if section in _SECTIONS else None
        lines += [item["names"], f"    {item['text']}"] if item else [line]
    return "\n".join(lines)
