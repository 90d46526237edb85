"""The state space: named variables with ordered levels, and the mixed-radix index of a joint state.

A state is a row of codes ``x = (x_0, ..., x_{n-1})`` with ``0 <= x_i < |X_i|``. Its index is
``sum_i x_i * stride_i`` with ``stride_0 = 1`` and ``stride_{i+1} = stride_i |X_i|``: variable 0 is the least
significant digit, so that binary states are bit-packed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.contents import Contents
from fullspan.errors import DataError, QueryError

Level = str | int | float | bool
"""A level is what a cell of the table holds: text, number or truth value."""

_MAX_BITS = 10_000
MISSING = "(missing)"
"""The last level of a variable whose empty cells count as a level of their own; it has no bin edges."""


@dataclass(frozen=True)
class Variable:
    """One column: its name, its levels, and the bin edges if it was numeric.

    ``edges`` has one entry more than there are bins and is increasing; level ``l`` holds the half-open
    interval ``[edges[l], edges[l+1])``, the last one closed, values outside falling into the end bins.
    A last level :data:`MISSING` takes the empty cells and is not a bin. ``contents`` says of each bin what the data
    hold in it: imputed numbers are taken from there, and a question whose bound cuts the bin is answered by it.

    ``ordered`` says that the order of the levels has a meaning, so that "44 or more" is a range: it is True for bins,
    for levels that were listed, and for ordered categories. It changes no state, and two variables that differ in it
    alone are equal.

    Examples
    --------
    >>> age = Variable("age", ("[0, 18)", "[18, 65]"), edges=(0, 18, 65))
    >>> age.code(40), age.card
    (1, 2)
    """

    name: str
    levels: tuple[Level, ...]
    edges: tuple[float, ...] | None = None
    ordered: bool = field(default=False, compare=False, repr=False)
    contents: tuple[Contents, ...] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.levels) < 1:
            raise DataError(f"variable {self.name!r} has no level")
        if len(set(map(_level_key, self.levels))) != len(self.levels):
            raise DataError(f"variable {self.name!r} lists a level twice: {list(self.levels)!r}")
        if self.edges is not None:
            if len(self.edges) != self.n_bins + 1:
                raise DataError(
                    f"variable {self.name!r} has {self.n_bins} bins and {len(self.edges)} bin edges; "
                    "one edge more than bins is needed"
                )
            if not all(a < b for a, b in zip(self.edges, self.edges[1:], strict=False)):
                raise DataError(f"the bin edges of {self.name!r} do not increase: {list(self.edges)!r}")
            object.__setattr__(self, "ordered", True)
        if self.contents is not None:
            self._check_contents(self.contents)

    def _check_contents(self, contents: tuple[Contents, ...]) -> None:
        if self.edges is None or len(contents) != self.n_bins:
            n = 0 if self.edges is None else self.n_bins
            raise DataError(f"variable {self.name!r} has {n} bins and values for {len(contents)}")
        numbers = [x for inside in contents for x in (*inside.low, *inside.high)]
        bins = [code for code, inside in enumerate(contents) for _ in range(2 * len(inside.low))]
        for number, expected, found in zip(numbers, bins, self._bins(numbers), strict=True):
            if found != expected:
                raise DataError(f"the value {number!r} of {self.name!r} is not in its bin {self.levels[expected]}")

    @property
    def card(self) -> int:
        """Number of levels, |X_i|."""
        return len(self.levels)

    @property
    def missing_code(self) -> int | None:
        """Code of the level :data:`MISSING`, if the variable has it."""
        return self.card - 1 if self.levels[-1] == MISSING else None

    @property
    def n_bins(self) -> int:
        """Number of levels that hold a value: all but :data:`MISSING`."""
        return self.card - (self.missing_code is not None)

    @cached_property
    def _codes(self) -> dict[Any, int]:
        return {_level_key(level): code for code, level in enumerate(self.levels)}

    @cached_property
    def _codes_by_text(self) -> dict[str, int]:
        return {str(level): code for code, level in enumerate(self.levels)}

    def code(self, level: Any) -> int:
        """Code of a level given as itself or as its text; a number falls into its bin.

        Raises
        ------
        QueryError : the level is unknown; the message lists the known ones.
        """
        key = _level_key(level)
        if key in self._codes:
            return self._codes[key]
        if isinstance(level, int) and level.bit_length() > _MAX_BITS:  # Python refuses to write it out
            raise QueryError(f"{self.name!r} has no level that is a number of {level.bit_length()} bits")
        if str(level) in self._codes_by_text:
            return self._codes_by_text[str(level)]
        if self.edges is not None and (number := _as_number(level)) is not None and not math.isnan(number):
            return self._bins([number])[0]
        hint = did_you_mean(level, tuple(map(str, self.levels)))
        raise QueryError(f"{self.name!r} has no level {level!r}{hint}; its levels are: {_first(self.levels)}")

    def _bins(self, numbers: Sequence[float]) -> list[int]:
        """Codes of the bins that numbers fall into."""
        codes = np.searchsorted(self.edges or (), numbers, side="right") - 1
        bins: list[int] = np.clip(codes, 0, self.n_bins - 1).tolist()
        return bins


@dataclass(frozen=True)
class Space:
    """The product of the variables' level sets, ``|X| = prod_i |X_i|`` states.

    Examples
    --------
    >>> space = Space((Variable("rain", ("n", "y")), Variable("road", ("dry", "damp", "wet"))))
    >>> space.n_states, space.position("road"), space.labels([1, 2])
    (6, 1, {'rain': 'y', 'road': 'wet'})
    """

    variables: tuple[Variable, ...]
    _positions: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = [variable.name for variable in self.variables]
        positions = dict(zip(names, range(len(names)), strict=True))
        if len(positions) < len(names):
            twice = next(name for i, name in enumerate(names) if positions[name] != i)
            raise DataError(f"two variables are named {twice!r}; rename one")
        object.__setattr__(self, "_positions", positions)

    @classmethod
    def of_cards(cls, cards: Iterable[int]) -> Space:
        """Variables ``x0, x1, ...`` with levels ``0 .. card-1``, for arrays and tests."""
        counts = list(map(int, cards))
        kinds = {c: Variable("x", tuple(range(c))) for c in set(counts)}
        return cls(tuple(_renamed(kinds[c], f"x{i}") for i, c in enumerate(counts)))

    def reordered(self, order: Sequence[int]) -> Space:
        """The variables in another order: place i holds the variable that was at ``order[i]``."""
        return Space(tuple(self.variables[i] for i in order))

    def __len__(self) -> int:
        return len(self.variables)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(v.name for v in self.variables)

    @cached_property
    def cards(self) -> tuple[int, ...]:
        return tuple(v.card for v in self.variables)

    @property
    def n_states(self) -> int:
        """|X| as a Python integer: it never overflows."""
        return math.prod(self.cards)

    @property
    def strides(self) -> tuple[int, ...]:
        """Weight of each variable's digit in the index, as Python integers."""
        strides, stride = [], 1
        for card in self.cards:
            strides.append(stride)
            stride *= card
        return tuple(strides)

    def position(self, name: str) -> int:
        """Position of a variable by name.

        Raises
        ------
        QueryError : there is no such variable; the nearest names are suggested.
        """
        if name in self._positions:
            return self._positions[name]
        hint = did_you_mean(name, self.names)
        raise QueryError(f"there is no variable {name!r}{hint}; the variables are: {_first(self.names)}")

    def index(self, states: NDArray[Any]) -> NDArray[np.int64]:
        """Indices of states, shape (m, n) -> (m,). Needs ``|X| < 2**63``."""
        return np.asarray(states, dtype=np.int64) @ np.array(self.strides, dtype=np.int64)

    def states(self, index: NDArray[Any] | Sequence[int]) -> NDArray[np.int64]:
        """States of indices, shape (m,) -> (m, n); the inverse of :meth:`index`."""
        rest = np.asarray(index, dtype=np.int64)[:, None]
        return rest // np.array(self.strides, dtype=np.int64) % np.array(self.cards, dtype=np.int64)

    def labels(self, state: Sequence[int]) -> dict[str, Level]:
        """A state as ``{name: level}``."""
        return {v.name: v.levels[int(c)] for v, c in zip(self.variables, state, strict=True)}


LABEL_DIGITS = 4
"""Least significant digits of the edges in the label of a bin."""


def edge_texts(edges: Sequence[float], digits: int = 6) -> tuple[str, ...]:
    """Bin edges as they are printed: with as few significant digits, but at least ``digits``, as keep them apart.

    >>> edge_texts((0.0, 1.80235971, 2.5, 1234567.0))
    ('0', '1.80236', '2.5', '1234570')
    """
    for n in range(digits, 18):
        texts = tuple(_without_exponent(f"{edge:.{n}g}") for edge in edges)
        if len(set(texts)) == len(texts):
            break
    return texts


def _without_exponent(text: str) -> str:
    """``51800`` for ``5.18e+04``: incomes and populations are read so; numbers beyond 10^15 stay as they are."""
    return f"{float(text):.0f}" if "e+" in text and abs(float(text)) < 1e15 else text


def did_you_mean(word: Any, known: Sequence[str]) -> str:
    """`` (did you mean 'CAD'?)``: the known words that are nearest; nothing if none is near."""
    found = nearest(word, known)
    return f" (did you mean {' or '.join(map(repr, found))}?)" if found else ""


def nearest(word: Any, known: Sequence[str]) -> list[str]:
    """Up to three known words that are like a word, whatever their case."""
    import difflib

    folded: dict[str, list[str]] = {}
    for own in known:
        folded.setdefault(own.casefold(), []).append(own)
    wanted = str(word).casefold()
    near = [wanted] if wanted in folded else difflib.get_close_matches(wanted, folded, n=3, cutoff=0.6)
    return [own for key in near for own in folded[key]][:3]


def _first(words: Sequence[Any], shown: int = 12) -> str:
    more = f", and {len(words) - shown:,} more" if len(words) > shown else ""
    return ", ".join(map(str, words[:shown])) + more


def _renamed(variable: Variable, name: str) -> Variable:
    """A variable with another name, whose levels have been checked; a million of them take a second."""
    other = object.__new__(Variable)
    other.__dict__.update(name=name, levels=variable.levels, edges=variable.edges)
    other.__dict__.update(ordered=variable.ordered, contents=variable.contents)
    return other


def levels_in_words(variable: Variable, codes: Sequence[int]) -> str:
    """``a=y`` or ``b in {n, y}``."""
    levels = [str(variable.levels[x]) for x in codes]
    return f"{variable.name}={levels[0]}" if len(levels) == 1 else f"{variable.name} in {{{', '.join(levels)}}}"


def cell_in_words(variables: Sequence[Variable], codes: Sequence[Any]) -> str:
    """``a=y, b=n``: a level of each of some variables."""
    return ", ".join(f"{v.name}={v.levels[int(x)]}" for v, x in zip(variables, codes, strict=True))


def _level_key(level: Any) -> Any:
    """Dictionary key under which 1, 1.0 and numpy's 1 agree, but True and 1 and "1" do not."""
    if isinstance(level, bool | np.bool_):
        return ("bool", bool(level))
    if isinstance(level, np.generic):
        level = level.item()
    return level


def _as_number(level: Any) -> float | None:
    try:
        return float(level)
    except (TypeError, ValueError, OverflowError):
        return None
