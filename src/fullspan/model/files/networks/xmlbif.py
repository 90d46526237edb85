"""The XML form of the Interchange Format (``.xmlbif``, ``.bifxml``; XMLBIF 0.3).

    <BIF><NETWORK>
      <VARIABLE TYPE="nature"><NAME/> <OUTCOME/>...</VARIABLE> ...
      <DEFINITION><FOR/> <GIVEN/>... <TABLE> numbers </TABLE></DEFINITION> ...       first GIVEN slowest, FOR fastest
    </NETWORK></BIF>

Declared entities are refused: a few lines of them can stand for gigabytes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

from fullspan.errors import ModelFileError
from fullspan.model.files.disk import read_bytes
from fullspan.model.files.networks.draft import MAX_BYTES, Draft
from fullspan.model.graph import FactorGraph

_TEXTS = frozenset({"NAME", "OUTCOME", "VALUE", "FOR", "GIVEN", "TABLE"})
_SHOWN = 40


def read_xmlbif(path: str | os.PathLike[str]) -> FactorGraph:
    """Read a Bayesian network, gzipped or not; as :meth:`fullspan.model.files.networks.reader.Reader.read`."""
    reader = _Reader(str(path))
    reader.parse(read_bytes(Path(path), MAX_BYTES, unpack=True))
    return reader.draft.graph()


@dataclass
class _Reader:
    """Takes the elements as the parser meets them, and hands each variable and definition on when it ends."""

    file: str
    inside: list[str] = field(default_factory=list)
    kind: str = ""
    texts: dict[str, list[list[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parser = expat.ParserCreate()
        # Otherwise a long table arrives in pieces, which may split a number.
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._entity
        self.draft = Draft(self.file, self._refused)

    def parse(self, data: bytes) -> None:
        try:
            self.parser.Parse(data, True)
        except expat.ExpatError as error:
            raise ModelFileError(f"{self.file}, line {error.lineno}: {expat.ErrorString(error.code)}") from error
        except (LookupError, ValueError) as error:
            raise self._refused(f"this is not text in the encoding that it names ({error})") from error

    def _refused(self, problem: str) -> ModelFileError:
        return ModelFileError(f"{self.file}, line {self.parser.CurrentLineNumber}: {problem}")

    # -- elements ---------------------------------------------------------------------------------------------

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        depth = len(self.inside)
        if depth < 2 and name != ("BIF", "NETWORK")[depth]:
            raise self._refused(f"<{('BIF', 'NETWORK')[depth]}> is expected, not <{name}>")
        if depth == 2:
            self.kind, self.texts = attributes.get("TYPE", "nature"), {}
        if depth == 3 and name in _TEXTS:
            self.texts.setdefault(name, []).append([])
        self.inside.append(name)

    def _characters(self, text: str) -> None:
        if len(self.inside) == 4 and self.inside[3] in _TEXTS:
            self.texts[self.inside[3]][-1].append(text)

    def _end(self, name: str) -> None:
        self.inside.pop()
        if len(self.inside) == 2 and name == "VARIABLE":
            self._variable()
        if len(self.inside) == 2 and name == "DEFINITION":
            self._definition()

    def _entity(self, name: str, *_: Any) -> NoReturn:
        raise self._refused(f"the file declares the entity {name!r}, which networks do not need")

    def _variable(self) -> None:
        name = self._one("NAME", "a variable")
        if self.kind != "nature":
            raise self._refused(f"{name!r} is of the type {self.kind!r}; only 'nature' is possible")
        levels = [*self._all("OUTCOME"), *self._all("VALUE")]
        if not levels:
            raise self._refused(f"the variable {name!r} has no <OUTCOME>")
        self.draft.declare(name, levels)

    def _definition(self) -> None:
        child = self.draft.position(self._one("FOR", "a definition"))
        scope, table = self.draft.open(child, [self.draft.position(name) for name in self._all("GIVEN")])
        text = self._one("TABLE", f"the definition of {self.draft.variables[child].name!r}")
        values = self.draft.probabilities([self._number(word) for word in text.split()], table.size)
        self.draft.fill_whole(scope, table, values, child_last=True)
        self.draft.close(scope, table)

    def _all(self, element: str) -> list[str]:
        return ["".join(parts).strip() for parts in self.texts.get(element, [])]

    def _one(self, element: str, where: str) -> str:
        found = self._all(element)
        if len(found) != 1:
            raise self._refused(f"{where} has {len(found)} <{element}>; one is needed")
        return found[0]

    def _number(self, word: str) -> float:
        try:
            # float() takes 1_000 and digits of other scripts, which no other program reads as numbers.
            if "_" in word or not word.isascii():
                raise ValueError
            return float(word)
        except ValueError:
            shown = word if len(word) <= _SHOWN else word[:_SHOWN] + "..."
            raise self._refused(f"{shown!r} is not a probability") from None
