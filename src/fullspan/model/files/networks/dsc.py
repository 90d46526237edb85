"""Microsoft's format of Bayesian networks (``.dsc``).

    file        = ["belief"] "network" [name] {node | probability}
    node        = "node" name "{" {attribute ";"} "}"                one is type : discrete [ n ] = { level {, level} }
    probability = "probability" "(" child ["|" parent {, parent}] ")" "{" {row ";"} "}"
    row         = numbers                                            of a child without parents
                | "(" code {, code} ")" ":" numbers                  given the levels of the parents, by number from 0
                | "default" ":" numbers                              the same for all levels not named

Comments are those of C++.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fullspan.arrays import Array
from fullspan.model.files.disk import read_bytes
from fullspan.model.files.networks.bayes import Scope
from fullspan.model.files.networks.draft import MAX_BYTES, Draft
from fullspan.model.files.networks.tokens import Syntax, Tokens
from fullspan.model.graph import FactorGraph

SYNTAX = Syntax("{}()[]|,;:=", "//")


def read_dsc(path: str | os.PathLike[str]) -> FactorGraph:
    """Read a Bayesian network, gzipped or not; as :func:`fullspan.model.files.networks.bif.read_bif`."""
    tokens = Tokens.of(read_bytes(Path(path), MAX_BYTES, unpack=True), str(path), SYNTAX)
    return _Reader(tokens, Draft.at(tokens)).network()


@dataclass
class _Reader:
    tokens: Tokens
    draft: Draft

    def network(self) -> FactorGraph:
        self.tokens.skip("belief")
        self.tokens.expect("network")
        if not (self.tokens.at_end() or self.tokens.is_next("node")):
            self.tokens.name("the network's name")
        while not self.tokens.at_end():
            if self.tokens.skip("node"):
                self._node()
            elif self.tokens.skip("probability"):
                self._probability()
            else:
                found = self.tokens.take("a node")
                raise self.tokens.refuse_last(f"'node' or 'probability' is expected, not {found!r}")
        return self.draft.graph()

    # -- variables --------------------------------------------------------------------------------------------

    def _node(self) -> None:
        name = self.tokens.name("a node's name")
        self.draft.check_new(name)
        self.tokens.expect("{")
        levels: tuple[str, ...] | None = None
        while not self.tokens.skip("}"):
            if not self.tokens.skip("type"):
                self.tokens.pass_to(";")
            elif levels is None:
                levels = self._levels(name)
            else:
                raise self.tokens.refuse_last(f"the levels of {name!r} were given before")
        if levels is None:
            raise self.tokens.refuse_last(f"the node {name!r} has no 'type : discrete [ n ] = {{ ... }};'")
        self.draft.declare(name, levels)

    def _levels(self, name: str) -> tuple[str, ...]:
        self.tokens.expect(":", "discrete", "[")
        card = self.tokens.whole(f"the number of levels of {name!r}")
        self.tokens.expect("]", "=", "{")
        levels = self.tokens.names("}", f"a level of {name!r}")
        if len(levels) != card:
            raise self.tokens.refuse_last(f"{name!r} is to have {card} levels, but {len(levels)} are listed")
        self.tokens.expect(";")
        return levels

    # -- probabilities ----------------------------------------------------------------------------------------

    def _probability(self) -> None:
        self.tokens.expect("(")
        child = self._position()
        self.tokens.skip("|")
        parents = []
        while not self.tokens.skip(")"):
            parents.append(self._position())
            self.tokens.skip(",")
        scope, table = self.draft.open(child, parents)
        default: Array | None = None
        self.tokens.expect("{")
        while not self.tokens.skip("}"):
            if default is None and self.tokens.skip("default"):
                self.tokens.expect(":")
                default = self._numbers(table.shape[-1])
            elif self.tokens.skip("("):
                state = self._state(scope)
                self.draft.fill_row(scope, table, state, self._numbers(table.shape[-1]))
            else:
                self.draft.fill_whole(scope, table, self._numbers(table.size), child_last=True)
        self.draft.close(scope, table, default)

    def _position(self) -> int:
        return self.draft.position(self.tokens.name("a node's name"))

    def _state(self, scope: Scope) -> list[int]:
        """Codes of the parents, up to the colon."""
        child, state = self.draft.variables[scope[-1]].name, []
        while not self.tokens.skip(")"):
            state.append(self.tokens.whole("the number of a level"))
            if len(state) >= len(scope) or state[-1] >= self.draft.variables[scope[len(state) - 1]].card:
                raise self.tokens.refuse_last(f"the parents of {child!r} have no level {state[-1]} there")
            self.tokens.skip(",")
        if len(state) != len(scope) - 1:
            raise self.tokens.refuse_last(
                f"{len(state)} levels are named for the {len(scope) - 1} parents of {child!r}"
            )
        self.tokens.expect(":")
        return state

    def _numbers(self, count: int) -> Array:
        return self.draft.probabilities(self.tokens.reals(";"), count)
