"""Margins instead of rows: tables of counts or probabilities for some sets of variables, checked against each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Level, Space, Variable
from fullspan.errors import DataError

Scope = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class MarginTables:
    """Margins of one distribution.

    Attributes
    ----------
    space : the variables, in the order in which they are first named.
    shares : ``{variables: probabilities}``, one axis per variable, the variables increasing.
    total : number of rows if the tables were counts, else None.
    """

    space: Space
    shares: dict[Scope, Array]
    total: float | None

    @property
    def names(self) -> list[list[str]]:
        """The variables of each margin by name."""
        return [[self.space.names[i] for i in scope] for scope in self.shares]

    @classmethod
    def of(
        cls,
        margins: Mapping[Any, Any],
        levels: Mapping[str, Sequence[Level]] | None = None,
        tolerance: float = 1e-6,
    ) -> MarginTables:
        """Read ``{("a", "b"): table, "c": table}``; without ``levels`` a variable has the levels 0, 1, ...

        Raises
        ------
        DataError : a table is not one of counts, sizes or levels disagree, or two margins differ by more than
            ``tolerance``, as a share of the total, on the variables they share.

        Examples
        --------
        >>> MarginTables.of({"a": [30, 70], ("b", "a"): [[10, 50], [20, 20]]}).shares[(0, 1)].tolist()
        [[0.1, 0.2], [0.5, 0.2]]
        """
        if not isinstance(margins, Mapping) or not margins:
            raise DataError(f"margins are {{('a', 'b'): table, ...}} with at least one table, not {margins!r}")
        if not (isinstance(tolerance, int | float) and 0 <= tolerance < 1):
            raise DataError(f"tolerance is {tolerance!r}; a share of the total from 0 to 1 is needed, such as 1e-6")
        tables = [(_names(key), _table(key, values)) for key, values in margins.items()]
        space = _space(tables, levels)
        placed = [_placed(space, names, table) for names, table in tables]
        total = _common_total(tables, tolerance)
        for (a, one), (b, two) in itertools.combinations(placed, 2):
            _compare(space, (a, one), (b, two), tolerance)
        shares: dict[Scope, Array] = {}
        for scope, table in placed:
            shares.setdefault(scope, table / table.sum())
        return cls(space, shares, None if abs(total - 1) <= max(tolerance, 1e-9) else total)


def _names(key: Any) -> tuple[str, ...]:
    names = (key,) if isinstance(key, str) else tuple(key) if isinstance(key, Iterable) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise DataError(f"a margin is named by its variables, 'a' or ('a', 'b'), not {key!r}")
    if len(set(names)) < len(names):
        raise DataError(f"the margin {key!r} names a variable twice")
    return names


def _table(key: Any, values: Any) -> Array:
    names = _names(key)
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the margin {_shown(names)} is no table of numbers: {error}") from error
    if table.ndim != len(names):
        raise DataError(f"the margin {_shown(names)} needs one axis per variable, but has the shape {table.shape}")
    if not (np.isfinite(table).all() and (table >= 0).all()):
        bad = table[~(np.isfinite(table) & (table >= 0))].flat[0]
        raise DataError(f"the margin {_shown(names)} holds {bad}; counts are finite and not negative")
    if not table.sum() > 0:
        raise DataError(f"the margin {_shown(names)} sums to 0")
    return table


def _space(tables: Sequence[tuple[tuple[str, ...], Array]], levels: Mapping[str, Sequence[Level]] | None) -> Space:
    sizes: dict[str, tuple[int, tuple[str, ...]]] = {}
    for names, table in tables:
        for name, size in zip(names, table.shape, strict=True):
            known, where = sizes.setdefault(name, (size, names))
            if known != size:
                raise DataError(f"{name!r} has {known} levels in {_shown(where)} and {size} in {_shown(names)}")
    for name in levels or {}:
        if name not in sizes:
            raise DataError(f"levels= names {name!r}, which is in no margin; the variables are {', '.join(sizes)}")
    return Space(tuple(_variable(name, size, (levels or {}).get(name)) for name, (size, _) in sizes.items()))


def _variable(name: str, size: int, levels: Sequence[Level] | None) -> Variable:
    listed = tuple(range(size)) if levels is None else tuple(levels)
    if len(listed) != size:
        raise DataError(f"levels= lists {len(listed)} levels of {name!r}, but its margins have {size}")
    return Variable(name, listed, ordered=levels is not None)


def _placed(space: Space, names: tuple[str, ...], table: Array) -> tuple[Scope, Array]:
    """The table with its axes in the order of the space."""
    where = [space.position(name) for name in names]
    order = np.argsort(where)
    return tuple(sorted(where)), table.transpose(order)


def _common_total(tables: Sequence[tuple[tuple[str, ...], Array]], tolerance: float) -> float:
    first, total = tables[0][0], float(tables[0][1].sum())
    for names, table in tables[1:]:
        other = float(table.sum())
        if abs(other - total) > max(tolerance, 1e-9) * max(total, other):
            raise DataError(
                f"inconsistent margins: {_shown(first)} sums to {total:.10g} and {_shown(names)} to {other:.10g}; "
                "divide each by its sum to give probabilities"
            )
    return total


def _compare(space: Space, one: tuple[Scope, Array], two: tuple[Scope, Array], tolerance: float) -> None:
    """Refuse two margins that disagree on the variables they share."""
    common = tuple(i for i in one[0] if i in two[0])
    a, b = (table.sum(axis=tuple(k for k, i in enumerate(scope) if i not in common)) for scope, table in (one, two))
    difference = np.abs(a - b)
    if not common or difference.max() <= max(tolerance, 1e-9) * max(float(a.sum()), float(b.sum())):
        return
    cell = np.unravel_index(int(difference.argmax()), difference.shape)
    where = ", ".join(f"{space.names[i]}={space.variables[i].levels[j]}" for i, j in zip(common, cell, strict=True))
    names = [_shown([space.names[i] for i in scope]) for scope, _ in (one, two)]
    raise DataError(
        f"inconsistent margins: for {where}, {names[0]} has {a[cell]:.10g} and {names[1]} has {b[cell]:.10g}; they may "
        f"differ by {tolerance:g} of the total, which is tolerance="
    )


def _shown(names: Sequence[str]) -> str:
    return f"({', '.join(names)})"
