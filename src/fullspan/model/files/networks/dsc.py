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

from dataclasses import dataclass

from fullspan.arrays import Array
from fullspan.model.files.networks.bayes import Scope
from fullspan.model.files.networks.reader import Reader
from fullspan.model.files.networks.tokens import Syntax
from fullspan.model.graph import FactorGraph


@dataclass
class Dsc(Reader):
    """A reader of Microsoft's format."""

    syntax = Syntax("{}()[]|,;:=", "//")
    called, levels_word, levels_form = "node", "type", "type : discrete [ n ] = { ... };"

    def network(self) -> FactorGraph:
        self.tokens.skip("belief")
        self.tokens.expect("network")
        if not (self.tokens.at_end() or self.tokens.is_next("node")):
            self.tokens.name("the network's name")
        while not self.tokens.at_end():
            if self.tokens.skip("node"):
                self.variable()
            elif self.tokens.skip("probability"):
                self._probability()
            else:
                found = self.tokens.take("a node")
                raise self.tokens.refuse_last(f"'node' or 'probability' is expected, not {found!r}")
        return self.draft.graph()

    def attribute(self) -> None:
        self.tokens.pass_to(";")

    def levels(self, name: str) -> tuple[str, ...]:
        self.tokens.expect(":")
        return self.counted_levels(name, "=")

    def _probability(self) -> None:
        scope, table = self.family()
        default: Array | None = None
        self.tokens.expect("{")
        while not self.tokens.skip("}"):
            if default is None and self.tokens.skip("default"):
                self.tokens.expect(":")
                default = self.numbers(table.shape[-1])
            elif self.tokens.skip("("):
                state = self._state(scope)
                self.draft.fill_row(scope, table, state, self.numbers(table.shape[-1]))
            else:
                self.draft.fill_whole(scope, table, self.numbers(table.size), child_last=True)
        self.draft.close(scope, table, default)

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


read_dsc = Dsc.read
"""Read a Bayesian network; see :meth:`fullspan.model.files.networks.reader.Reader.read`."""
