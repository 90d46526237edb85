"""Hugin's format of Bayesian networks (``.net``).

    file      = "net" block {node | potential}
    node      = ["discrete"] "node" name "{" {attribute} "}"            one attribute is states = ( level {level} ) ;
    potential = "potential" "(" child ["|" {parent}] ")" "{" {attribute} "}"
    data      = "data" "=" nested lists ";"                             first parent slowest, child fastest
    attribute = name "=" value ";"

Comments begin with ``%``. Nodes of other kinds (decisions, utilities, continuous ones) are refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from fullspan.arrays import Array
from fullspan.model.files.networks.reader import Reader
from fullspan.model.files.networks.tokens import Syntax
from fullspan.model.graph import FactorGraph


@dataclass
class Hugin(Reader):
    """A reader of Hugin's format."""

    syntax = Syntax("{}()=|;,", "%", blocks=False)
    called, levels_word, levels_form = "node", "states", "states = ( ... );"
    needs_bar = True

    def network(self) -> FactorGraph:
        self.tokens.expect("net", "{")
        while not self.tokens.skip("}"):
            self.attribute()
        while not self.tokens.at_end():
            if self.tokens.skip("potential"):
                self._potential()
                continue
            self.tokens.skip("discrete")
            if not self.tokens.skip("node"):
                kind = self.tokens.take("a node")
                raise self.tokens.refuse_last(f"'node' or 'potential' is expected, not {kind!r}: chance nodes alone")
            self.variable()
        return self.draft.graph()

    def attribute(self) -> None:
        self.tokens.name("an attribute")
        self.tokens.expect("=")
        self.tokens.pass_to(";")

    def levels(self, name: str) -> tuple[str, ...]:
        self.tokens.expect("=", "(")
        levels = self.tokens.names(")", f"a state of {name!r}")
        self.tokens.expect(";")
        return levels

    def _potential(self) -> None:
        scope, table = self.family()
        self.tokens.expect("{")
        while not self.tokens.skip("}"):
            if self.tokens.skip("data"):
                self.draft.fill_whole(scope, table, self._data(table), child_last=True)
            else:
                self.attribute()
        self.draft.close(scope, table)

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


read_net = Hugin.read
"""Read a Bayesian network; see :meth:`fullspan.model.files.networks.reader.Reader.read`."""
