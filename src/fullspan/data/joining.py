"""The variables of several parts of a table together: batches of a stream, machines that each hold some of the rows.

A part may not have seen every level. Levels that a table did not declare are sorted, so that the levels of the whole
are the sorted union of those of the parts; declared ones keep their order.
"""

from __future__ import annotations

from fullspan.data.space import MISSING, Level, Space, Variable
from fullspan.errors import DataError


def joined(a: Space, b: Space) -> Space:
    """The space of two parts: variables are found by name, and ordered as in the first.

    Raises
    ------
    DataError : the variables differ, or one has other bins or its levels in another order.
    """
    if a == b and all(v.edges is None for v in a.variables):  # parts differ in the values of their bins
        return a
    if set(a.names) != set(b.names):
        odd = sorted(set(a.names) ^ set(b.names))
        raise DataError(f"the parts have different variables: {', '.join(map(repr, odd))} is not in both of them")
    return Space(tuple(_joined_variable(v, b.variables[b.position(v.name)]) for v in a.variables))


def _joined_variable(a: Variable, b: Variable) -> Variable:
    if a.edges != b.edges:
        raise DataError(
            f"{a.name!r} is cut into other bins in another part; give the same edges to all parts: "
            f"bins={{{a.name!r}: {list(a.edges or b.edges or ())}}}"
        )
    absent = (MISSING,) if a.missing_code is not None or b.missing_code is not None else ()
    ordered, levels = a.ordered and b.ordered, _joined_levels(a.name, _seen(a), _seen(b)) + absent
    return Variable(a.name, levels, a.edges, ordered, _joined_values(a, b))


def _joined_values(a: Variable, b: Variable) -> tuple[tuple[float, ...], ...] | None:
    """Values of the first part in each bin, of the second where the first has none."""
    if a.bin_values is None or b.bin_values is None:
        return a.bin_values or b.bin_values
    return tuple(x or y for x, y in zip(a.bin_values, b.bin_values, strict=True))


def _seen(variable: Variable) -> tuple[Level, ...]:
    return variable.levels[: variable.n_bins]


def _joined_levels(name: str, a: tuple[Level, ...], b: tuple[Level, ...]) -> tuple[Level, ...]:
    """All levels in an order that agrees with both parts."""
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    kinds = {_kind(level) for level in (*a, *b)}
    if len(kinds) > 1:
        raise _disagreement(name, a, b)
    union = {float(v) if _is_float(a + b) else v for v in (*a, *b)}
    if [level for level in longer if level in set(shorter)] == list(shorter):
        return tuple(float(v) for v in longer) if _is_float(a + b) else longer
    if sorted(a) != list(a) or sorted(b) != list(b):
        raise _disagreement(name, a, b)
    return tuple(sorted(union))


def _kind(level: Level) -> str:
    return "number" if isinstance(level, int | float) and not isinstance(level, bool) else type(level).__name__


def _is_float(levels: tuple[Level, ...]) -> bool:
    return any(isinstance(level, float) for level in levels)


def _disagreement(name: str, a: tuple[Level, ...], b: tuple[Level, ...]) -> DataError:
    shown = " and ".join(str(list(levels[:6]))[:-1] + (", ...]" if len(levels) > 6 else "]") for levels in (a, b))
    return DataError(
        f"the parts have the levels of {name!r} in different types or orders: {shown}; give all parts the same levels="
    )
