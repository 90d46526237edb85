"""Codes of one model's variables as those of another's: columns and levels are matched by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.space import Space
from fullspan.errors import FullspanError


def translation(name: str, source: Space, target: Space) -> Callable[[NDArray[Any]], NDArray[np.int64]]:
    """Codes of one space as codes of another with the same variables and levels, in whatever order.

    Raises
    ------
    FullspanError : the variables or levels differ.
    """
    if set(source.names) != set(target.names):
        odd = sorted(set(source.names) ^ set(target.names))
        verb = "is" if len(odd) == 1 else "are"
        raise FullspanError(
            f"{name!r} has other variables than the first model: {', '.join(odd[:6])} {verb} in one of them only; "
            "compare models of the same columns"
        )
    order, tables = [], []
    for variable in target.variables:
        position = source.position(variable.name)
        other = source.variables[position]
        if set(map(str, other.levels)) != set(map(str, variable.levels)) or other.edges != variable.edges:
            raise FullspanError(
                f"{name!r} has other levels of {variable.name!r} than the first model: {list(variable.levels)[:8]} "
                f"and {list(other.levels)[:8]}; fit both with the same levels="
            )
        order.append(position)
        tables.append(np.array([*(variable.code(level) for level in other.levels), -1]))

    def translate(codes: NDArray[Any]) -> NDArray[np.int64]:
        columns = [table[codes[:, i].astype(np.int64)] for i, table in zip(order, tables, strict=True)]
        return np.stack(columns, axis=1)

    return translate
