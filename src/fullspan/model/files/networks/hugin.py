"""Hugin's format of Bayesian networks (``.net``).

    file      = "net" block {node | potential}
    node      = ["discrete"] "node" name "{" {attribute} "}"            one attribute is states = ( level {level} ) ;
    potential = "potential" "(" child ["|" {parent}] ")" "{" {attribute} "}"
    data      = "data" "=" nested lists ";"                             first parent slowest, child fastest
    attribute = name "=" value ";"

Comments begin with ``%``. Nodes of other kinds (decisions, utilities, continuous ones) are refused.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fullspan.arrays import Array
from fullspan.model.files.disk import read_bytes
from fullspan.model.files.networks.draft import MAX_BYTES, Draft
from fullspan.model.files.networks.tokens import Syntax, Tokens
from fullspan.model.graph import FactorGraph

SYNTAX = Syntax("{}()=|;,", "%", blocks=False)


def read_net(path: str | os.PathLike[str]) -> FactorGraph:
    """Read a Bayesian network, gzipped or not; as :func:`fullspan.model.files.networks.bif.read_bif`."""
    tokens = Tokens.of(read_bytes(Path(path), MAX_BYTES, unpack=True), str(path), SYNTAX)
    return _Reader(tokens, Draft.at(tokens)).network()


@dataclass
class _Reader:
    tokens: Tokens
    draft: Draft

    def network(self) -> FactorGraph:
        self.tokens.expect("net", "{")
        while not self.tokens.skip("}"):
            self._attribute()
        while not self.tokens.at_end():
            if self.tokens.skip("potential"):
                self._potential()
                continue
            self.tokens.skip("discrete")
            if not self.tokens.skip("node"):
                kind = self.tokens.take("a node")
                raise self.tokens.refuse_last(f"'node' or 'potential' is expected, not {kind!r}: chance nodes alone")
            self._node()
        return self.draft.graph()

    def _attribute(self) -> None:
        """One that has no meaning here."""
        self.tokens.name("an attribute")
        self.tokens.expect("=")
        self.tokens.pass_to(";")

    def _node(self) -> None:
        name = self.tokens.name("a node's name")
        self.draft.check_new(name)
        self.tokens.expect("{")
        levels: tuple[str, ...] | None = None
        while not self.tokens.skip("}"):
            if not self.tokens.skip("states"):
                self._attribute()
            elif levels is None:
                self.tokens.expect("=", "(")
                levels = self.tokens.names(")", f"a state of {name!r}")
                self.tokens.expect(";")
            else:
                raise self.tokens.refuse_last(f"the states of {name!r} were given before")
        if levels is None:
            raise self.tokens.refuse_last(f"the node {name!r} has no 'states = ( ... );'")
        self.draft.declare(name, levels)

    def _potential(self) -> None:
        self.tokens.expect("(")
        child = self._position()
        parents = []
        if not self.tokens.skip(")"):
            self.tokens.expect("|")
            while not self.tokens.skip(")"):
                parents.append(self._position())
                self.tokens.skip(",")
        scope, table = self.draft.open(child, parents)
        self.tokens.expect("{")
        while not self.tokens.skip("}"):
            if self.tokens.skip("data"):
                self.draft.fill_whole(scope, table, self._data(table), child_last=True)
            else:
                self._attribute()
        self.draft.close(scope, table)

    def _position(self) -> int:
        return self.draft.position(self.tokens.name("a node's name"))

    def _data(self, table: Array) -> Array:
        """The numbers of nested lists: each innermost one is a distribution of the child, or all is one list."""
        self.tokens.expect("=")
        values: list[float] = []
        depth = start = 0
        while not self.tokens.skip(";"):
            if self.tokens.skip("("):
                depth, start = depth + 1, len(values)
            elif self.tokens.skip(")"):
                depth -= 1
                held = len(values) - start
                if depth < 0 or (held and held not in (table.shape[-1], table.size)):
                    what = f"{held} numbers" if depth >= 0 else "')'"
                    raise self.tokens.refuse_last(
                        f"{what} where a list of {table.shape[-1]}, one for each state, is expected"
                    )
                start = len(values)
            elif not self.tokens.skip(","):
                values.append(self.tokens.real("a probability"))
        if depth:
            raise self.tokens.refuse_last("a '(' is not closed")
        return self.draft.probabilities(values, table.size)
