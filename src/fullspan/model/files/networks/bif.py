"""The Interchange Format of Bayesian networks (BIF 0.15), read only.

    network  = "network" name block
    variable = "variable" name "{" "type" "discrete" "[" card "]" "{" level {"," level} "}" ";" "}"
    factor   = "probability" "(" child ["|" parent {"," parent}] ")" "{" {row} "}"
    row      = "table" numbers ";"                      child slowest, last parent fastest
             | "(" level {"," level} ")" numbers ";"    the distribution of the child given these levels
             | "default" numbers ";"                    the same for all levels of the parents not named

Commas and the bar are optional, blocks may hold ``property ... ;``, comments are those of C++.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space, Variable
from fullspan.errors import FullspanError, ModelFileError
from fullspan.model.files.disk import read_bytes
from fullspan.model.files.networks.bayes import MAX_SCOPE, ROUNDING, Scope, cycle, unnormalised
from fullspan.model.files.networks.bif_tokens import Tokens
from fullspan.model.graph import FactorGraph

MAX_BYTES = 256 << 20
MAX_ENTRIES = 1 << 26
"""Largest number of conditional probabilities; ``default`` can stand for many."""


def read_bif(path: str | os.PathLike[str]) -> FactorGraph:
    """Read a Bayesian network, gzipped or not; its factors are the logarithms of the tables, the child last.

    Every distribution is divided by its sum, which rounding has left a little off 1.

    Raises
    ------
    ModelFileError : the file is missing, or not sound; the message names the file, the line and the reason.
    """
    data = read_bytes(Path(path), MAX_BYTES, unpack=True)
    return _Reader(Tokens.of(data, str(path))).network()


@dataclass
class _Reader:
    tokens: Tokens
    variables: list[Variable] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    factors: dict[int, tuple[Scope, Array]] = field(default_factory=dict)
    n_entries: int = 0

    def network(self) -> FactorGraph:
        self.tokens.expect("network")
        while not self.tokens.is_next("{"):
            self.tokens.take("'{'")
        self._properties()
        while self.tokens.is_next("variable"):
            self._variable()
        space = Space(tuple(self.variables))
        while not self.tokens.at_end():
            self.tokens.expect("probability")
            self._factor(space)
        return self._graph(space)

    def _graph(self, space: Space) -> FactorGraph:
        missing = [name for i, name in enumerate(space.names) if i not in self.factors]
        if missing or not len(space):
            what = f"a probability of {missing[0]!r}" if missing else "any variable"
            raise self.tokens.refuse(f"the text ends without {what}")
        scopes = tuple(self.factors[i][0] for i in range(len(space)))
        if loop := cycle(scopes):
            names = " -> ".join(space.names[i] for i in loop)
            raise ModelFileError(f"{self.tokens.file} is no Bayesian network: it has the cycle {names}")
        with np.errstate(divide="ignore"):
            return FactorGraph(space, scopes, tuple(np.log(self.factors[i][1]) for i in range(len(space))))

    def _properties(self) -> None:
        """A block that holds nothing but properties."""
        self.tokens.expect("{")
        while not self.tokens.skip("}"):
            self._property()

    def _property(self) -> None:
        self.tokens.expect("property")
        while not self.tokens.skip(";"):
            self.tokens.take("';'")

    # -- variables --------------------------------------------------------------------------------------------

    def _variable(self) -> None:
        self.tokens.expect("variable")
        name = self.tokens.name("a variable's name")
        if name in self.names:
            raise self.tokens.refuse(f"there are two variables {name!r}", back=1)
        self.tokens.expect("{")
        levels: tuple[str, ...] | None = None
        while not self.tokens.skip("}"):
            if self.tokens.is_next("property"):
                self._property()
            elif levels is None:
                levels = self._levels(name)
            else:
                raise self.tokens.refuse(f"the levels of {name!r} were given before")
        if levels is None:
            raise self.tokens.refuse(f"the variable {name!r} has no 'type discrete [ n ] {{ ... }}'", back=1)
        try:
            self.variables.append(Variable(name, levels))
        except FullspanError as error:
            raise self.tokens.refuse(str(error), back=1) from error
        self.names.add(name)

    def _levels(self, name: str) -> tuple[str, ...]:
        for word in ("type", "discrete", "["):
            self.tokens.expect(word)
        card = self.tokens.whole(f"the number of levels of {name!r}")
        for word in ("]", "{"):
            self.tokens.expect(word)
        levels = self._list("}", f"a level of {name!r}")
        if len(levels) != card:
            raise self.tokens.refuse(f"{name!r} is to have {card} levels, but {len(levels)} are listed", back=1)
        self.tokens.expect(";")
        return levels

    def _list(self, close: str, what: str) -> tuple[str, ...]:
        """Names up to a closing sign, commas between them or not."""
        names: list[str] = []
        while not self.tokens.skip(close):
            names.append(self.tokens.name(what))
            self.tokens.skip(",")
        return tuple(names)

    # -- probabilities ----------------------------------------------------------------------------------------

    def _factor(self, space: Space) -> None:
        self.tokens.expect("(")
        child = self._position(space)
        self.tokens.skip("|") or self.tokens.skip(",")
        parents: list[int] = []
        while not self.tokens.skip(")"):
            parents.append(self._position(space))
            self.tokens.skip(",")
        if child in self.factors:
            raise self.tokens.refuse(f"the probability of {space.names[child]!r} was given before", back=1)
        if len({child, *parents}) <= len(parents):
            raise self.tokens.refuse(f"a variable stands twice in the probability of {space.names[child]!r}", back=1)
        if len(parents) >= MAX_SCOPE:
            raise self.tokens.refuse(
                f"{space.names[child]!r} has {len(parents)} parents; up to {MAX_SCOPE - 1} are possible", back=1
            )
        scope = (*parents, child)
        shape = tuple(space.variables[i].card for i in scope)
        self.n_entries += math.prod(shape)
        if self.n_entries > MAX_ENTRIES:
            raise self.tokens.refuse(
                f"the probability of {space.names[child]!r} has {math.prod(shape)} entries; all tables together may "
                f"have {MAX_ENTRIES}",
                back=1,
            )
        self.factors[child] = scope, self._table(space, scope, np.full(shape, np.nan))

    def _position(self, space: Space) -> int:
        name = self.tokens.name("a variable's name")
        if name not in self.names:
            raise self.tokens.refuse(f"there is no variable {name!r}", back=1)
        return space.position(name)

    def _table(self, space: Space, scope: Scope, table: Array) -> Array:
        """Fill ``table``, NaN where nothing is known yet, from the rows of a block."""
        default: Array | None = None
        self.tokens.expect("{")
        while not self.tokens.skip("}"):
            if self.tokens.is_next("property"):
                self._property()
            elif self.tokens.skip("table"):
                self._whole_table(space, scope, table)
            elif default is None and self.tokens.skip("default"):
                default = self._numbers(table.shape[-1])
            else:
                self._row(space, scope, table)
        if default is not None:
            table[np.isnan(table[..., 0])] = default
        absent = np.argwhere(np.isnan(table[..., 0]))
        if len(absent):
            levels = ", ".join(
                str(space.variables[i].levels[int(x)]) for i, x in zip(scope[:-1], absent[0], strict=True)
            )
            of = f"P({space.names[scope[-1]]}{' | ' + levels if levels else ''})"
            raise self.tokens.refuse(f"{of} is not given", back=1)
        if problem := unnormalised(space, scope, table):
            raise self.tokens.refuse(problem, back=1)
        return np.asarray(table / table.sum(axis=-1, keepdims=True))

    def _row(self, space: Space, scope: Scope, table: Array) -> None:
        self.tokens.expect("(")
        levels = self._list(")", "a level")
        if len(levels) != len(scope) - 1:
            raise self.tokens.refuse(
                f"{len(levels)} levels are named for the {len(scope) - 1} parents of {space.names[scope[-1]]!r}", back=1
            )
        state = []
        for i, level in zip(scope[:-1], levels, strict=True):
            try:
                state.append(space.variables[i].code(level))
            except FullspanError as error:
                raise self.tokens.refuse(str(error), back=1) from error
        if not np.isnan(table[(*state, 0)]):
            raise self.tokens.refuse(f"the row ({', '.join(levels)}) was given before", back=1)
        table[tuple(state)] = self._numbers(table.shape[-1])

    def _whole_table(self, space: Space, scope: Scope, table: Array) -> None:
        if not np.isnan(table).all():
            raise self.tokens.refuse("a part of this table was given before", back=1)
        values = self._numbers(table.size)
        table[...] = np.moveaxis(values.reshape((table.shape[-1], *table.shape[:-1])), 0, -1)
        if unnormalised(space, scope, table) and not unnormalised(space, scope, values.reshape(table.shape)):
            raise self.tokens.refuse(
                f"in this table the levels of {space.names[scope[-1]]!r} run fastest, but in the format they run "
                "slowest; give one row for each state of the parents instead",
                back=1,
            )

    def _numbers(self, count: int) -> Array:
        """Probabilities up to a semicolon."""
        values: list[float] = []
        while not self.tokens.skip(";"):
            value = self.tokens.real("a probability")
            if not 0.0 <= value <= 1.0 + ROUNDING:
                raise self.tokens.refuse(f"{value!r} is no probability", back=1)
            values.append(value)
            self.tokens.skip(",")
        if len(values) != count:
            raise self.tokens.refuse(f"{len(values)} probabilities stand here; {count} are needed", back=1)
        return np.array(values)
