"""A Bayesian network as a reader of any format finds it: variables, then the distribution of each, checked at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space, Variable
from fullspan.errors import FullspanError, ModelFileError
from fullspan.model.files.networks.bayes import MAX_SCOPE, ROUNDING, Scope, cycle, unnormalised
from fullspan.model.files.networks.tokens import Tokens
from fullspan.model.graph import FactorGraph

MAX_BYTES = 256 << 20
MAX_ENTRIES = 1 << 26
"""Largest number of conditional probabilities; a default can stand for many."""


@dataclass
class Draft:
    """What has been read so far. Tables have one axis for each parent, in the order of the file, and the child last.

    Attributes
    ----------
    file : its name.
    refuse : the error that names the place where the reader stands.
    """

    file: str
    refuse: Callable[[str], ModelFileError]
    variables: list[Variable] = field(default_factory=list)
    positions: dict[str, int] = field(default_factory=dict)
    factors: dict[int, tuple[Scope, Array]] = field(default_factory=dict)
    n_entries: int = 0

    @classmethod
    def at(cls, tokens: Tokens) -> Draft:
        """That of a reader of tokens."""
        return cls(tokens.file, tokens.refuse_last)

    @cached_property
    def space(self) -> Space:
        """The variables so far."""
        return Space(tuple(self.variables))

    def check_new(self, name: str) -> None:
        """Refuse a variable that is there already."""
        if name in self.positions:
            raise self.refuse(f"there are two variables {name!r}")

    def declare(self, name: str, levels: Sequence[str]) -> None:
        """Add a variable."""
        self.check_new(name)
        try:
            variable = Variable(name, tuple(levels))
        except FullspanError as error:
            raise self.refuse(str(error)) from error
        self.positions[name] = len(self.variables)
        self.variables.append(variable)
        self.__dict__.pop("space", None)

    def position(self, name: str) -> int:
        """Of a variable by its name."""
        if name not in self.positions:
            raise self.refuse(f"there is no variable {name!r}")
        return self.positions[name]

    def open(self, child: int, parents: Sequence[int]) -> tuple[Scope, Array]:
        """The scope of a distribution and its table, NaN where nothing is known yet."""
        name, scope = self.variables[child].name, (*parents, child)
        if child in self.factors:
            raise self.refuse(f"the probability of {name!r} is given twice")
        if len(set(scope)) < len(scope):
            raise self.refuse(f"a variable occurs twice in the probability of {name!r}")
        if len(scope) > MAX_SCOPE:
            raise self.refuse(f"{name!r} has {len(parents)} parents; up to {MAX_SCOPE - 1} are possible")
        shape = tuple(self.variables[i].card for i in scope)
        self.n_entries += math.prod(shape)
        if self.n_entries > MAX_ENTRIES:
            raise self.refuse(
                f"the probability of {name!r} has {math.prod(shape)} entries; all tables together may have "
                f"{MAX_ENTRIES}"
            )
        return scope, np.full(shape, np.nan)

    def probabilities(self, values: Sequence[float], count: int) -> Array:
        """Numbers that are probabilities, and as many as are needed."""
        for value in values:
            if not 0.0 <= value <= 1.0 + ROUNDING:
                raise self.refuse(f"{value!r} is not a probability")
        if len(values) != count:
            raise self.refuse(f"{len(values)} probabilities are given; {count} are needed")
        return np.array(values)

    def fill_row(self, scope: Scope, table: Array, state: Sequence[int], values: Array) -> None:
        """The distribution of the child given the codes of its parents."""
        if not np.isnan(table[(*state, 0)]):
            levels = ", ".join(str(self.variables[i].levels[x]) for i, x in zip(scope, state, strict=False))
            raise self.refuse(f"the row ({levels}) is given twice")
        table[tuple(state)] = values

    def fill_whole(self, scope: Scope, table: Array, values: Array, *, child_last: bool) -> None:
        """All distributions at once, with the child's levels running fastest or slowest; the parents as they stand."""
        if not np.isnan(table).all():
            raise self.refuse("a part of this table is given twice")
        fastest = values.reshape(table.shape)
        slowest = np.moveaxis(values.reshape((table.shape[-1], *table.shape[:-1])), 0, -1)
        right, wrong = (fastest, slowest) if child_last else (slowest, fastest)
        # Programs disagree about the order of the numbers; a table that sums to 1 in the other one shows it.
        if unnormalised(self.space, scope, right) and not unnormalised(self.space, scope, wrong):
            run, ought = ("slowest", "fastest") if child_last else ("fastest", "slowest")
            raise self.refuse(
                f"in this table the levels of {self.variables[scope[-1]].name!r} run {run}, but in the format they run "
                f"{ought}; give the numbers in that order"
            )
        table[...] = right

    def close(self, scope: Scope, table: Array, default: Array | None = None) -> None:
        """Keep a distribution; every row of it is divided by its sum, which rounding has left a little off 1."""
        if default is not None:
            # NaN marks rows that the file has not named.
            table[np.isnan(table[..., 0])] = default
        absent = np.argwhere(np.isnan(table[..., 0]))
        if len(absent):
            levels = ", ".join(
                str(self.variables[i].levels[int(x)]) for i, x in zip(scope[:-1], absent[0], strict=True)
            )
            of = f"P({self.variables[scope[-1]].name}{' | ' + levels if levels else ''})"
            raise self.refuse(f"{of} is not given")
        if problem := unnormalised(self.space, scope, table):
            raise self.refuse(problem)
        self.factors[scope[-1]] = scope, np.asarray(table / table.sum(axis=-1, keepdims=True))

    def graph(self) -> FactorGraph:
        """The network, its factors the logarithms of the tables."""
        missing = [v.name for i, v in enumerate(self.variables) if i not in self.factors]
        if missing or not self.variables:
            what = f"a probability of {missing[0]!r}" if missing else "any variable"
            raise self.refuse(f"the text ends without {what}")
        n = len(self.variables)
        scopes = tuple(self.factors[i][0] for i in range(n))
        if loop := cycle(scopes):
            names = " -> ".join(self.variables[i].name for i in loop)
            raise ModelFileError(f"{self.file} is not a Bayesian network: it has the cycle {names}")
        with np.errstate(divide="ignore"):
            return FactorGraph(self.space, scopes, tuple(np.log(self.factors[i][1]) for i in range(n)))
