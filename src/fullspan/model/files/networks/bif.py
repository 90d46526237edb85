"""The Interchange Format of Bayesian networks (BIF 0.15).

    network  = "network" name block
    variable = "variable" name "{" "type" "discrete" "[" card "]" "{" level {"," level} "}" ";" "}"
    factor   = "probability" "(" child ["|" parent {"," parent}] ")" "{" {row} "}"
    row      = "table" numbers ";"                      child slowest, last parent fastest
             | "(" level {"," level} ")" numbers ";"    the distribution of the child given these levels
             | "default" numbers ";"                    the same for all levels of the parents not named

Commas and the bar are optional, blocks may hold ``property ... ;``, comments are those of C++.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fullspan.arrays import Array
from fullspan.errors import FullspanError
from fullspan.model.files.disk import read_bytes
from fullspan.model.files.networks.bayes import Scope
from fullspan.model.files.networks.draft import MAX_BYTES, Draft
from fullspan.model.files.networks.tokens import Syntax, Tokens
from fullspan.model.graph import FactorGraph

SYNTAX = Syntax("{}()[]|,;", "//")


def read_bif(path: str | os.PathLike[str]) -> FactorGraph:
    """Read a Bayesian network, gzipped or not; its factors are the logarithms of the tables, the child last.

    Every distribution is divided by its sum, which rounding has left a little off 1.

    Raises
    ------
    ModelFileError : the file is missing, or not sound; the message names the file, the line and the reason.
    """
    tokens = Tokens.of(read_bytes(Path(path), MAX_BYTES, unpack=True), str(path), SYNTAX)
    return _Reader(tokens, Draft.at(tokens)).network()


@dataclass
class _Reader:
    tokens: Tokens
    draft: Draft

    def network(self) -> FactorGraph:
        self.tokens.expect("network")
        while not self.tokens.is_next("{"):
            self.tokens.take("'{'")
        self._properties()
        while self.tokens.is_next("variable"):
            self._variable()
        while not self.tokens.at_end():
            self.tokens.expect("probability")
            self._factor()
        return self.draft.graph()

    def _properties(self) -> None:
        """A block that holds nothing but properties."""
        self.tokens.expect("{")
        while not self.tokens.skip("}"):
            self._property()

    def _property(self) -> None:
        self.tokens.expect("property")
        self.tokens.pass_to(";")

    # -- variables --------------------------------------------------------------------------------------------

    def _variable(self) -> None:
        self.tokens.expect("variable")
        name = self.tokens.name("a variable's name")
        self.draft.check_new(name)
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
            raise self.tokens.refuse_last(f"the variable {name!r} has no 'type discrete [ n ] {{ ... }}'")
        self.draft.declare(name, levels)

    def _levels(self, name: str) -> tuple[str, ...]:
        self.tokens.expect("type", "discrete", "[")
        card = self.tokens.whole(f"the number of levels of {name!r}")
        self.tokens.expect("]", "{")
        levels = self.tokens.names("}", f"a level of {name!r}")
        if len(levels) != card:
            raise self.tokens.refuse_last(f"{name!r} is to have {card} levels, but {len(levels)} are listed")
        self.tokens.expect(";")
        return levels

    # -- probabilities ----------------------------------------------------------------------------------------

    def _factor(self) -> None:
        self.tokens.expect("(")
        child = self._position()
        self.tokens.skip("|") or self.tokens.skip(",")
        parents: list[int] = []
        while not self.tokens.skip(")"):
            parents.append(self._position())
            self.tokens.skip(",")
        scope, table = self.draft.open(child, parents)
        default: Array | None = None
        self.tokens.expect("{")
        while not self.tokens.skip("}"):
            if self.tokens.is_next("property"):
                self._property()
            elif self.tokens.skip("table"):
                self.draft.fill_whole(scope, table, self._numbers(table.size), child_last=False)
            elif default is None and self.tokens.skip("default"):
                default = self._numbers(table.shape[-1])
            else:
                self._row(scope, table)
        self.draft.close(scope, table, default)

    def _position(self) -> int:
        return self.draft.position(self.tokens.name("a variable's name"))

    def _row(self, scope: Scope, table: Array) -> None:
        self.tokens.expect("(")
        levels = self.tokens.names(")", "a level")
        variables = [self.draft.variables[i] for i in scope]
        if len(levels) != len(scope) - 1:
            raise self.tokens.refuse_last(
                f"{len(levels)} levels are named for the {len(scope) - 1} parents of {variables[-1].name!r}"
            )
        state = []
        for variable, level in zip(variables, levels, strict=False):
            try:
                state.append(variable.code(level))
            except FullspanError as error:
                raise self.tokens.refuse_last(str(error)) from error
        self.draft.fill_row(scope, table, state, self._numbers(table.shape[-1]))

    def _numbers(self, count: int) -> Array:
        """Probabilities up to a semicolon."""
        return self.draft.probabilities(self.tokens.reals(";"), count)
