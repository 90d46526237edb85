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

from dataclasses import dataclass

from fullspan.arrays import Array
from fullspan.errors import FullspanError
from fullspan.model.files.networks.bayes import Scope
from fullspan.model.files.networks.reader import Reader
from fullspan.model.files.networks.tokens import Syntax
from fullspan.model.graph import FactorGraph


@dataclass
class Bif(Reader):
    """A reader of BIF."""

    syntax = Syntax("{}()[]|,;", "//")
    called, levels_word, levels_form = "variable", "type", "type discrete [ n ] { ... }"

    def network(self) -> FactorGraph:
        self.tokens.expect("network")
        while not self.tokens.skip("{"):  # a name of any number of words
            self.tokens.take("'{'")
        while not self.tokens.skip("}"):
            self.attribute()
        while self.tokens.skip("variable"):
            self.variable()
        while not self.tokens.at_end():
            self.tokens.expect("probability")
            self._factor()
        return self.draft.graph()

    def attribute(self) -> None:
        self.tokens.expect("property")
        self.tokens.pass_to(";")

    def levels(self, name: str) -> tuple[str, ...]:
        return self.counted_levels(name)

    def _factor(self) -> None:
        scope, table = self.family()
        default: Array | None = None
        self.tokens.expect("{")
        while not self.tokens.skip("}"):
            if self.tokens.is_next("property"):
                self.attribute()
            elif self.tokens.skip("table"):
                self.draft.fill_whole(scope, table, self.numbers(table.size), child_last=False)
            elif default is None and self.tokens.skip("default"):
                default = self.numbers(table.shape[-1])
            else:
                self._row(scope, table)
        self.draft.close(scope, table, default)

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
        self.draft.fill_row(scope, table, state, self.numbers(table.shape[-1]))


read_bif = Bif.read
"""Read a Bayesian network; see :meth:`fullspan.model.files.networks.reader.Reader.read`."""
