"""The factor graph ``p(x) = exp( sum_f g_f(x_f) ) / Z``: log factors as tables over small sets of variables.

Every model of bounded order has this form, whatever its basis. A table holds ``g_f`` with one axis per variable of
its scope, in the scope's order; -inf forbids a state. All tables live in one array, so that compiled code reads them
without touching Python objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from fullspan.data.space import Space
from fullspan.errors import FullspanError
from fullspan.model.algebra.basis import Basis, Term, small_exponents
from fullspan.model.loglinear import LogLinear, checked_codes

_HELD_DIGITS = 1 << 20
"""Digits of states looked up together."""

Scope = tuple[int, ...]


class Scopes(Sequence[Scope]):
    """The scopes of factors that lie behind each other in one array, made when they are asked for."""

    def __init__(self, variables: NDArray[np.int64], starts: NDArray[np.int64]) -> None:
        self._variables, self._starts = variables, starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, f: int) -> Scope: ...
    @overload
    def __getitem__(self, f: slice) -> tuple[Scope, ...]: ...
    def __getitem__(self, f: int | slice) -> Scope | tuple[Scope, ...]:
        if isinstance(f, slice):
            return tuple(self[i] for i in range(len(self))[f])
        f = range(len(self))[f]
        return tuple(self._variables[self._starts[f] : self._starts[f + 1]].tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


class Tables(Sequence[NDArray[np.float64]]):
    """The tables of factors that lie behind each other in one array, as views made when they are asked for."""

    def __init__(self, values: NDArray[np.float64], starts: NDArray[np.int64], scopes: Scopes, space: Space) -> None:
        self._values, self._starts, self._scopes, self._cards = values, starts, scopes, space.cards

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, f: int) -> NDArray[np.float64]: ...
    @overload
    def __getitem__(self, f: slice) -> tuple[NDArray[np.float64], ...]: ...
    def __getitem__(self, f: int | slice) -> NDArray[np.float64] | tuple[NDArray[np.float64], ...]:
        if isinstance(f, slice):
            return tuple(self[i] for i in range(len(self))[f])
        f = range(len(self))[f]
        shape = [self._cards[i] for i in self._scopes[f]]
        return self._values[self._starts[f] : self._starts[f + 1]].reshape(shape)


@dataclass(frozen=True, eq=False)
class FactorGraph:
    """A product of positive (or zero) functions of a few variables each.

    Parameters
    ----------
    space : the variables.
    scopes : the variables of each factor, by position; all different within a factor. Scopes may repeat.
    tables : the log factors, one axis per variable of the scope; finite or -inf. They are copied.

    Attributes
    ----------
    values : all tables behind each other, flat, the last axis fastest; ``tables`` are views of it.
    variables, strides : the scopes behind each other, and the step in ``values`` of each variable's digit.
    scope_starts, table_starts : where each factor begins in ``variables`` and in ``values``, and the end.

    Raises
    ------
    FullspanError : an unknown or repeated variable, a table of the wrong shape, NaN or +inf.

    Examples
    --------
    >>> from fullspan.data.space import Space
    >>> graph = FactorGraph(Space.of_cards((2, 3)), ((0,), (0, 1)), (np.zeros(2), np.arange(6.0).reshape(2, 3)))
    >>> graph.log_weight([[1, 2], [0, 1]]).tolist()
    [5.0, 1.0]
    """

    kind: ClassVar[str] = "graph"
    space: Space
    scopes: Sequence[Scope]
    tables: Sequence[NDArray[np.float64]]
    values: NDArray[np.float64] = field(init=False, repr=False)
    variables: NDArray[np.int64] = field(init=False, repr=False)
    strides: NDArray[np.int64] = field(init=False, repr=False)
    scope_starts: NDArray[np.int64] = field(init=False, repr=False)
    table_starts: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        scopes = tuple(map(tuple, self.scopes))
        if len(scopes) != len(self.tables):
            raise FullspanError(f"{len(scopes)} scopes need as many tables, but {len(self.tables)} were given")
        tables = [np.asarray(table, dtype=np.float64) for table in self.tables]
        starts = _starts(np.fromiter(map(len, scopes), dtype=np.int64, count=len(scopes)))
        variables = np.fromiter(chain.from_iterable(scopes), dtype=np.int64, count=int(starts[-1]))
        self._check_scopes(scopes, variables, starts)
        self._check_shapes(scopes, variables, tables)
        self._hold(starts, variables, np.concatenate([table.ravel() for table in tables]) if tables else np.zeros(0))

    @classmethod
    def of_arrays(cls, space: Space, scope_starts: Any, variables: Any, values: Any) -> FactorGraph:
        """A graph from flat arrays, without an object for each factor: a million of them take a second.

        Parameters
        ----------
        scope_starts, variables, values : as the attributes; ``values`` are copied.

        Raises
        ------
        FullspanError : as by the constructor, or the lengths of the arrays do not fit each other.
        """
        starts, scoped = np.array(scope_starts, dtype=np.int64), np.array(variables, dtype=np.int64)
        if not len(starts) or starts[0] != 0 or starts[-1] != len(scoped) or (np.diff(starts) < 0).any():
            raise FullspanError(
                f"scope_starts begins with 0, never falls and ends with the number of variables, {len(scoped)}; "
                f"{starts[:3].tolist()} ... {starts[-1:].tolist()} was given"
            )
        graph = object.__new__(cls)
        object.__setattr__(graph, "space", space)
        graph._check_scopes(Scopes(scoped, starts), scoped, starts)
        graph._hold(starts, scoped, np.array(values, dtype=np.float64).reshape(-1))
        return graph

    def _hold(self, starts: NDArray[np.int64], variables: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Set the arrays of checked scopes, and check the values."""
        strides = _strides(self.cards[variables], starts)
        sizes, filled = np.ones(len(starts) - 1, dtype=np.int64), np.diff(starts) > 0
        first = starts[:-1][filled]
        sizes[filled] = strides[first] * self.cards[variables[first]]
        ends, scopes = _starts(sizes), Scopes(variables, starts)
        if ends[-1] != len(values):
            raise FullspanError(f"the factors have {ends[-1]} entries, but {len(values)} values were given")
        values.flags.writeable = False
        for name, value in {
            "scopes": scopes,
            "tables": Tables(values, ends, scopes, self.space),
            "values": values,
            "variables": variables,
            "strides": strides,
            "scope_starts": starts,
            "table_starts": ends,
        }.items():
            object.__setattr__(self, name, value)
        self._check_values()

    @classmethod
    def of(cls, model: LogLinear | FactorGraph) -> FactorGraph:
        """The factors of a log-linear model, or the graph itself."""
        return model if isinstance(model, cls) else cls.of_loglinear(model)  # type: ignore[arg-type]

    @classmethod
    def of_loglinear(cls, model: LogLinear) -> FactorGraph:
        """The same model as tables: the terms of each maximal scope are summed into one, ``sum theta_y Phi_y(x_f)``.

        No table is larger than the scope of some term, and log Z is the sum of ``exp(theta . Phi)``.

        Raises
        ------
        FullspanError : the model is an average of others, which has no such factors.
        """
        model.require_single("a factor graph")
        gathered: dict[Scope, dict[Term, float]] = {}
        home = homes([tuple(i for i, _ in term) for term in model.terms])
        for term, weight in model:
            gathered.setdefault(home[tuple(i for i, _ in term)], {})[term] = weight
        tables = [_summed(model.basis, scope, weights) for scope, weights in gathered.items()]
        return cls(model.space, tuple(gathered), tuple(tables))

    def reordered(self, order: Sequence[int]) -> FactorGraph:
        """The same factors of the variables in another order."""
        place = np.empty(len(order), dtype=np.int64)
        place[list(order)] = np.arange(len(order))
        return FactorGraph.of_arrays(self.space.reordered(order), self.scope_starts, place[self.variables], self.values)

    def factors_alone(self) -> FactorGraph:
        """The graph itself."""
        return self

    @cached_property
    def cards(self) -> NDArray[np.int64]:
        """Numbers of levels, as an array."""
        return np.asarray(self.space.cards, dtype=np.int64)

    def require_single(self, what: str) -> None:
        """Do nothing: factors are those of one model."""

    def log_z_by_table(self, most: int) -> float | None:
        """None: factors are summed by elimination, which is as quick where there are few states."""
        return None

    @property
    def width(self) -> int:
        """Most variables of a factor, less one."""
        return int(np.diff(self.scope_starts).max(initial=1)) - 1

    @property
    def n_parameters(self) -> int:
        """Entries of all tables."""
        return len(self.values)

    def log_weight(self, states: Any) -> NDArray[np.float64]:
        """``sum_f g_f(x_f)`` of states (m, n) -> (m,): log p without its normaliser.

        Raises
        ------
        DataError : the states have the wrong shape or type, or a code is out of range.
        """
        rows = checked_codes(states, self.space)
        total = np.empty(len(rows))
        step = max(1, _HELD_DIGITS // max(1, len(self.variables)))
        for start in range(0, len(rows), step):
            digits = rows[start : start + step][:, self.variables] * self.strides
            # Sums over scopes of different lengths as differences of cumulated ones: integers, so nothing is lost.
            ends = np.pad(np.cumsum(digits, axis=1), ((0, 0), (1, 0)))
            places = ends[:, self.scope_starts[1:]] - ends[:, self.scope_starts[:-1]] + self.table_starts[:-1]
            total[start : start + step] = self.values[places].sum(axis=1)
        return total

    # -- what a factor must be --------------------------------------------------------------------------------

    def _check_scopes(self, scopes: Sequence[Scope], variables: NDArray[Any], starts: NDArray[Any]) -> None:
        n = len(self.space)
        owner = np.repeat(np.arange(len(scopes)), np.diff(starts))
        unknown = np.flatnonzero((variables < 0) | (variables >= n))
        if unknown.size:
            f = int(owner[unknown[0]])
            raise FullspanError(
                f"factor {f} is over the variables {scopes[f]}, but there are only positions 0 to {n - 1}"
            )
        # One number for each (factor, variable): repeated ones are neighbours once sorted.
        keys = np.sort(owner * n + variables)
        again = np.flatnonzero(keys[1:] == keys[:-1])
        if again.size:
            f, i = divmod(int(keys[again[0]]), n)
            raise FullspanError(f"factor {f} names the variable {self.space.names[i]!r} twice: {scopes[f]}")

    def _check_shapes(self, scopes: Sequence[Scope], variables: NDArray[Any], tables: Sequence[NDArray[Any]]) -> None:
        cards = self.cards[variables].tolist()
        shapes = list(chain.from_iterable(table.shape for table in tables))
        ranks = [table.ndim for table in tables]
        # All shapes in one comparison; which factor is wrong is asked only if one is.
        if shapes == cards and ranks == list(map(len, scopes)):
            return
        for f, (scope, table) in enumerate(zip(scopes, tables, strict=True)):
            needed = tuple(self.space.variables[i].card for i in scope)
            if table.shape != needed:
                raise FullspanError(f"factor {f} over {scope} has a table of shape {table.shape}; {needed} is needed")

    def _check_values(self) -> None:
        wrong = np.flatnonzero(np.isnan(self.values) | (self.values == np.inf))
        if wrong.size:
            f = int(np.searchsorted(self.table_starts, wrong[0], side="right")) - 1
            raise FullspanError(
                f"factor {f} over {self.scopes[f]} holds {self.values[wrong[0]]}; a log factor is finite or -inf"
            )


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of several parts begins, and the end of the last."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


def _strides(cards: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row-major strides of every scope entry: the product of the cards after it in its scope."""
    strides = np.ones(len(cards), dtype=np.int64)
    lengths = np.diff(starts)
    for back in range(2, int(lengths.max(initial=0)) + 1):
        here = starts[1:][lengths >= back] - back
        strides[here] = strides[here + 1] * cards[here + 1]
    return strides


def homes(scopes: Sequence[Scope]) -> dict[Scope, Scope]:
    """For each scope a largest one that holds it; scopes are looked up through their rarest variable."""
    at: dict[int, list[Scope]] = {}
    found: dict[Scope, Scope] = {}
    # Largest first: whatever holds a scope has been seen before it.
    for scope in sorted(set(scopes), key=len, reverse=True):
        rarest = min((at.get(i, []) for i in scope), key=len)
        found[scope] = next((home for home in rarest if set(scope) <= set(home)), scope)
        if found[scope] is scope:
            for i in scope:
                at.setdefault(i, []).append(scope)
    return found


def _summed(basis: Basis, scope: Scope, weights: dict[Term, float]) -> NDArray[np.float64]:
    """Table of ``sum theta_y Phi_y`` over one scope."""
    local = Basis(basis.name, tuple(basis.cards[i] for i in scope))
    place = {i: a for a, i in enumerate(scope)}
    table = small_exponents(local, {tuple((place[i], j) for i, j in term): w for term, w in weights.items()})
    return table.reshape(local.cards, order="F")
