"""Texts of the command line as values of parameters, by the type that the class declares."""

from __future__ import annotations

import ast
import csv
import json
import re
from typing import Any

from fullspan.errors import FullspanError

_WHOLE = re.compile(r"[+-]?\d+")


class Unset(Exception):
    """The text asks for the class's own default: ``auto`` where the class has no such choice."""


def members(kind: str) -> list[ast.expr]:
    """The alternatives of a type such as ``int | None``."""

    def split(node: ast.expr) -> list[ast.expr]:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return [*split(node.left), *split(node.right)]
        return [node]

    try:
        return split(ast.parse(kind, mode="eval").body)
    except SyntaxError:  # a type of another package, in words of its own
        return []


def choices(kind: str) -> list[str]:
    """The values of ``Literal[...]`` in a type.

    Examples
    --------
    >>> choices("Literal['full', 'paper'] | None")
    ['full', 'paper']
    """
    found = []
    for node in members(kind):
        if isinstance(node, ast.Subscript) and _name(node.value) == "Literal":
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            found += [str(ast.literal_eval(value)) for value in inner]
    return found


def value(option: str, text: str, kind: str) -> Any:
    """A text as a value of a type.

    Raises
    ------
    FullspanError : it is not of that type; names the option and what is needed.
    Unset : it asks for the default.

    Examples
    --------
    >>> value("order", "3", "int | None"), value("penalty", "bic", "str | float"), value("n", "4,2", "Sequence[int]")
    (3, 'bic', [4, 2])
    """
    kinds, known = members(kind), choices(kind)
    names = [_name(node) for node in kinds]
    if text.lower() == "none" and any(isinstance(node, ast.Constant) and node.value is None for node in kinds):
        return None
    if text in known:
        return text
    if known and text == "auto":
        raise Unset
    for name in ("int", "float"):
        if name in names and (number := _number(text, name)) is not None:
            return number
    for node in kinds:
        if isinstance(node, ast.Subscript) and _name(node.value) in ("Sequence", "list", "tuple"):
            return _sequence(option, text, node)
    if "str" in names:
        return text
    if known or {"int", "float"} & set(names):
        raise FullspanError(f"--{option.replace('_', '-')} is {text!r}; {_needed(names, known)}")
    return _anything(option, text)


def names(text: str) -> list[str]:
    """``a,b,"c, d"`` as a list."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def read_json(option: str, text: str) -> Any:
    """The value of a JSON text, with an error that names the option."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FullspanError(
            f"--{option.replace('_', '-')} is not valid JSON: {error}; names are in double quotes, and the shell needs "
            """single ones around it all, as in '{"age": 4}'"""
        ) from error


def _number(text: str, name: str) -> int | float | None:
    if name == "int":
        return int(text) if _WHOLE.fullmatch(text.strip()) else None
    try:
        return float(text)
    except ValueError:
        return None


def _sequence(option: str, text: str, node: ast.Subscript) -> Any:
    if text.lstrip().startswith("["):
        return read_json(option, text)
    return [value(option, part, ast.unparse(node.slice)) for part in names(text)]


def _anything(option: str, text: str) -> Any:
    """JSON where it begins as such, a whole number, or the text itself."""
    if text.lstrip().startswith(("{", "[")):
        return read_json(option, text)
    return int(text) if _WHOLE.fullmatch(text.strip()) else text


def _needed(names: list[str], known: list[str]) -> str:
    if known:
        return f"choose one of {', '.join(map(repr, known))}"
    return "a number is needed" if "float" in names else "a whole number is needed"


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
