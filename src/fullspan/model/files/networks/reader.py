"""What readers of Bayesian networks as text share; BIF, Hugin's ``.net`` and Microsoft's ``.dsc`` differ in words.

A text names variables, each with a block that lists its levels, and then a distribution for each, given its parents.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fullspan.arrays import Array
from fullspan.model.files.disk import read_bytes
from fullspan.model.files.networks.bayes import Scope
from fullspan.model.files.networks.draft import MAX_BYTES, Draft
from fullspan.model.files.networks.tokens import Syntax, Tokens
from fullspan.model.graph import FactorGraph


@dataclass
class Reader(ABC):
    """A reader at its place in a text.

    Attributes
    ----------
    syntax : how the format cuts its text.
    called : what the format calls a variable.
    levels_word, levels_form : the word with which its levels begin, and the whole of that as an error names it.
    needs_bar : whether a bar stands between a child and its parents; else it may be a comma, or nothing.
    """

    tokens: Tokens
    draft: Draft
    syntax: ClassVar[Syntax]
    called: ClassVar[str]
    levels_word: ClassVar[str]
    levels_form: ClassVar[str]
    needs_bar: ClassVar[bool] = False

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> FactorGraph:
        """The network in a file, gzipped or not; its factors are the logarithms of the tables, the child last.

        Every distribution is divided by its sum, which rounding has left a little off 1.

        Raises
        ------
        ModelFileError : the file is missing, or not sound; the message names the file, the line and the reason.
        """
        tokens = Tokens.of(read_bytes(Path(path), MAX_BYTES, unpack=True), str(path), cls.syntax)
        return cls(tokens, Draft.at(tokens)).network()

    @abstractmethod
    def network(self) -> FactorGraph:
        """The whole text."""

    @abstractmethod
    def levels(self, name: str) -> tuple[str, ...]:
        """The levels of a variable, behind their first word."""

    @abstractmethod
    def attribute(self) -> None:
        """Step over one that has no meaning here."""

    def variable(self) -> None:
        """A name and a block, in which the levels are given once."""
        name = self.tokens.name(f"a {self.called}'s name")
        self.draft.check_new(name)
        self.tokens.expect("{")
        levels: tuple[str, ...] | None = None
        while not self.tokens.skip("}"):
            if not self.tokens.skip(self.levels_word):
                self.attribute()
            elif levels is None:
                levels = self.levels(name)
            else:
                raise self.tokens.refuse_last(f"the levels of {name!r} are given twice")
        if levels is None:
            raise self.tokens.refuse_last(f"the {self.called} {name!r} has no '{self.levels_form}'")
        self.draft.declare(name, levels)

    def counted_levels(self, name: str, *between: str) -> tuple[str, ...]:
        """``discrete [ n ]``, the signs ``between``, and the levels, which must be n."""
        self.tokens.expect("discrete", "[")
        card = self.tokens.whole(f"the number of levels of {name!r}")
        self.tokens.expect("]", *between, "{")
        levels = self.tokens.names("}", f"a level of {name!r}")
        if len(levels) != card:
            raise self.tokens.refuse_last(f"{name!r} should have {card} levels, but {len(levels)} are listed")
        self.tokens.expect(";")
        return levels

    def position(self) -> int:
        """That of the variable named next."""
        return self.draft.position(self.tokens.name(f"a {self.called}'s name"))

    def family(self) -> tuple[Scope, Array]:
        """The scope and the table of ``( child | parents )``; commas between the parents or not."""
        self.tokens.expect("(")
        child = self.position()
        if not self.needs_bar:
            self.tokens.skip("|") or self.tokens.skip(",")
        elif not self.tokens.is_next(")"):
            self.tokens.expect("|")
        parents: list[int] = []
        while not self.tokens.skip(")"):
            parents.append(self.position())
            self.tokens.skip(",")
        return self.draft.open(child, parents)

    def numbers(self, count: int) -> Array:
        """Probabilities up to a semicolon."""
        return self.draft.probabilities(self.tokens.reals(";"), count)
