"""The variables in a model file: names, levels, and how numbers are cut into bins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullspan.data.contents import Contents
from fullspan.data.space import Level, Space, Variable
from fullspan.errors import ModelFileError
from fullspan.model.files.strict_json import Node

MAX_VARIABLES = 1 << 16
_EXACT_INTEGERS = 2**53


def space_record(space: Space) -> list[dict[str, Any]]:
    """The variables as a file holds them.

    Raises
    ------
    ModelFileError : there are more variables than are read.
    """
    if len(space) > MAX_VARIABLES:
        raise ModelFileError(f"{len(space):,} variables cannot be written; up to {MAX_VARIABLES:,} are read again")
    return [_variable(v) for v in space.variables]


def _variable(variable: Variable) -> dict[str, Any]:
    record: dict[str, Any] = {"name": variable.name, "levels": [_plain(level) for level in variable.levels]}
    if variable.edges is not None:
        # JSON has no infinite numbers
        record["edges"] = [edge if math.isfinite(edge) else str(edge) for edge in map(float, variable.edges)]
    elif variable.ordered:
        record["ordered"] = True
    if variable.contents is not None and any(inside.is_counted for inside in variable.contents):
        record["contents"] = [_contents(inside) for inside in variable.contents]
    elif variable.contents is not None:
        record["bin_values"] = [list(inside.low) for inside in variable.contents]
    return record


def _contents(inside: Contents) -> list[list[float]]:
    """Values and weights of the runs of a bin, or least values, greatest values and weights; whole numbers as such."""
    runs = [inside.low, inside.weights] if inside.low == inside.high else [inside.low, inside.high, inside.weights]
    return [[int(x) if x.is_integer() and abs(x) < _EXACT_INTEGERS else x for x in map(float, own)] for own in runs]


def _plain(level: Level) -> Any:
    return level.item() if isinstance(level, np.generic) else level


def read_space(root: Node) -> Space:
    """The variables of a document."""
    node = root["space"]["variables"]
    variables = list(node.items())
    if not 1 <= len(variables) <= MAX_VARIABLES:
        raise node.refuse(f"{len(variables)} variables; 1 to {MAX_VARIABLES} are possible")
    with node.refusing():
        return Space(tuple(map(_read_variable, variables)))


def _read_variable(node: Node) -> Variable:
    levels = tuple(read_level(level) for level in node["levels"].items())
    fields = node.fields()
    edges = tuple(map(_read_edge, node["edges"].items())) if "edges" in fields else None
    ordered = "ordered" in fields and node["ordered"].truth()
    contents = None
    if "contents" in fields:
        contents = tuple(map(_read_contents, node["contents"].items()))
    elif "bin_values" in fields:
        contents = tuple(map(_read_bin_values, node["bin_values"].items()))
    with node.refusing():
        return Variable(node["name"].text(), levels, edges, ordered, contents)


def read_level(node: Node, what: str = "level") -> Level:
    """A value that a level or group may have: text, a number or a truth value."""
    if not isinstance(node.value, str | int | float | bool):
        raise node.refuse(f"a {what} is text, a number, true or false")
    return node.value


def _read_edge(node: Node) -> float:
    return float(node.value) if node.value in ("inf", "-inf") else node.number()


def _read_bin_values(node: Node) -> Contents:
    """The values of a bin in a file of an earlier version, which did not count their rows."""
    return Contents.uncounted(value.number() for value in node.items())


def _read_contents(node: Node) -> Contents:
    runs = [tuple(value.number() for value in own.items()) for own in node.items()]
    if len(runs) not in (2, 3):
        raise node.refuse(f"{len(runs)} lists describe what a bin holds; there are two or three")
    with node.refusing():
        return Contents(runs[0], runs[-2], runs[-1])
