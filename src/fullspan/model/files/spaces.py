"""The variables in a model file: names, levels, and how numbers are cut into bins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullspan.data.space import Level, Space, Variable
from fullspan.errors import FullspanError, ModelFileError
from fullspan.model.files.strict_json import Node

MAX_VARIABLES = 1 << 16


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
    if variable.bin_values is not None:
        record["bin_values"] = [list(values) for values in variable.bin_values]
    return record


def _plain(level: Level) -> Any:
    return level.item() if isinstance(level, np.generic) else level


def read_space(root: Node) -> Space:
    """The variables of a document."""
    node = root["space"]["variables"]
    variables = list(node.items())
    if not 1 <= len(variables) <= MAX_VARIABLES:
        raise node.refuse(f"{len(variables)} variables; 1 to {MAX_VARIABLES} are possible")
    try:
        return Space(tuple(map(_read_variable, variables)))
    except ModelFileError:
        raise
    except FullspanError as error:
        raise node.refuse(str(error)) from error


def _read_variable(node: Node) -> Variable:
    levels = tuple(read_level(level) for level in node["levels"].items())
    fields = node.fields()
    edges = tuple(map(_read_edge, node["edges"].items())) if "edges" in fields else None
    ordered = "ordered" in fields and node["ordered"].truth()
    values = tuple(map(_read_bin_values, node["bin_values"].items())) if "bin_values" in fields else None
    try:
        return Variable(node["name"].text(), levels, edges, ordered, values)
    except ModelFileError:
        raise
    except FullspanError as error:
        raise node.refuse(str(error)) from error


def read_level(node: Node, what: str = "level") -> Level:
    """A value that a level or group may have: text, a number or a truth value."""
    if not isinstance(node.value, str | int | float | bool):
        raise node.refuse(f"a {what} is text, a number, true or false")
    return node.value


def _read_edge(node: Node) -> float:
    return float(node.value) if node.value in ("inf", "-inf") else node.number()


def _read_bin_values(node: Node) -> tuple[float, ...]:
    return tuple(value.number() for value in node.items())
