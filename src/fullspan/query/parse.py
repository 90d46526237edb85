"""Questions as text, such as ``P(party=democrat | crime=n, education in {y, n})``.

    query   = "P" "(" body ")" | body
    body    = item {"," item} ["|" event {"," event}]
    item    = event | name                     a bare name asks for the variable's whole distribution
    event   = name ("=" | "==" | "!=") level | name ["not"] "in" "{" level {"," level} "}"
    name, level = a word, or '...' or "..." with the escapes \\\\ \\' \\" \\n \\t

White space is free. A level of a binned variable may be a number, which falls into its bin. A variable may stand once
on each side; an event that contradicts the condition has probability 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from fullspan.errors import QueryError
from fullspan.space import Space, Variable

Codes = tuple[int, ...]
"""Codes of one variable, increasing."""

_NAME = re.compile(r"""[^\s,|=!(){}<>'"]+""")
_LEVEL = re.compile(r"""[^\s,|(){}'"]+""")
_OPERATOR = re.compile(r"==|=|!=")
_SET = re.compile(r"(not\s+)?in\s*(?=\{)")
_WRAPPER = re.compile(r"\s*[Pp]\s*\(")
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t"}
_READINGS: tuple[Callable[[str], object], ...] = (
    str,
    lambda text: {"true": True, "false": False}[text.lower()],
    int,
    float,
)


@dataclass(frozen=True)
class Query:
    """A question about variables by position.

    Attributes
    ----------
    variables : those asked for by bare name, in order.
    event : codes allowed of the variables on the left.
    given : codes allowed of the variables on the right.
    """

    variables: tuple[int, ...] = ()
    event: dict[int, Codes] = field(default_factory=dict)
    given: dict[int, Codes] = field(default_factory=dict)


def parse(text: str, space: Space) -> Query:
    """Read a question about the variables of ``space``.

    Raises
    ------
    QueryError : with a caret at the place that cannot be read.
    """
    return _Reader(text, space).query()


@dataclass
class _Reader:
    text: str
    space: Space
    place: int = 0

    # -- grammar ----------------------------------------------------------------------------------------------

    def query(self) -> Query:
        wrapped = _WRAPPER.match(self.text)
        opening = wrapped.end() - 1 if wrapped else 0
        self.place = wrapped.end() if wrapped else 0
        query = self._body()
        if wrapped and not self._skip(")"):
            raise self._error(
                "this parenthesis is not closed" if self._at_end() else "')' is expected here",
                opening if self._at_end() else self.place,
            )
        if not self._at_end():
            raise self._error(
                "',', '|' or the end of the query is expected here; quote names and levels that hold spaces or signs"
            )
        return query

    def _body(self) -> Query:
        query = Query()
        variables = self._items(query.event, bare=True)
        if self._skip("|"):
            self._items(query.given, bare=False)
        return Query(tuple(variables), query.event, query.given)

    def _items(self, events: dict[int, Codes], bare: bool) -> list[int]:
        """One side of the query: fills ``events`` and returns the bare variables."""
        variables: list[int] = []
        while True:
            start, i = self._variable()
            if i in events or i in variables:
                raise self._error(f"{self.space.names[i]!r} stands twice on this side; use one 'in {{...}}'", start)
            codes = self._event(i)
            if codes is not None:
                events[i] = codes
            elif bare:
                variables.append(i)
            else:
                raise self._error(f"'=', '!=' or 'in {{...}}' is expected after {self.space.names[i]!r}")
            if not self._skip(","):
                return variables

    def _variable(self) -> tuple[int, int]:
        start = self._start()
        name = self._word(_NAME, "a variable's name")
        try:
            return start, self.space.position(name)
        except QueryError as error:
            raise self._error(str(error), start) from None

    def _event(self, i: int) -> Codes | None:
        """The codes allowed by what follows a name; None if nothing does."""
        variable, start = self.space.variables[i], self._start()
        if operator := _OPERATOR.match(self.text, start):
            self.place = operator.end()
            code = self._level(variable)
            return _complement(variable, {code}) if operator[0] == "!=" else (code,)
        if within := _SET.match(self.text, start):
            self.place = within.end()
            codes = self._set(variable)
            return _complement(variable, codes) if within[1] else tuple(sorted(codes))
        return None

    def _set(self, variable: Variable) -> set[int]:
        opening = self._start()
        self._skip("{")
        codes: set[int] = set()
        while True:
            codes.add(self._level(variable))
            if self._skip("}"):
                return codes
            if self._at_end():
                raise self._error("this brace is not closed", opening)
            if not self._skip(","):
                raise self._error("',' or '}' is expected here")

    def _level(self, variable: Variable) -> int:
        start = self._start()
        text = self._word(_LEVEL, f"a level of {variable.name!r}")
        for reading in _READINGS:
            try:
                return variable.code(reading(text))
            except (KeyError, ValueError):  # QueryError is a ValueError
                continue
        try:
            return variable.code(text)
        except QueryError as error:
            raise self._error(str(error), start) from None

    # -- characters -------------------------------------------------------------------------------------------

    def _word(self, pattern: re.Pattern[str], what: str) -> str:
        start = self._start()
        if start < len(self.text) and self.text[start] in "'\"":
            return self._quoted(start)
        word = pattern.match(self.text, start)
        if word is None:
            raise self._error(f"{what} is expected here")
        self.place = word.end()
        return word[0]

    def _quoted(self, start: int) -> str:
        letters: list[str] = []
        i = start + 1
        while i < len(self.text):
            letter = self.text[i]
            if letter == self.text[start]:
                self.place = i + 1
                return "".join(letters)
            if letter == "\\":
                i += 1
                if self.text[i : i + 1] not in _ESCAPES:
                    raise self._error("unknown escape; \\\\, \\', \\\", \\n and \\t are known", i - 1)
                letter = _ESCAPES[self.text[i]]
            letters.append(letter)
            i += 1
        raise self._error("this quotation mark is not closed", start)

    def _start(self) -> int:
        """Move to the next character that is not white space."""
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1
        return self.place

    def _skip(self, sign: str) -> bool:
        found = self.text.startswith(sign, self._start())
        self.place += found
        return found

    def _at_end(self) -> bool:
        return self._start() == len(self.text)

    def _error(self, message: str, place: int | None = None) -> QueryError:
        return QueryError(message, re.sub(r"\s", " ", self.text), self.place if place is None else place)


def _complement(variable: Variable, codes: set[int]) -> Codes:
    return tuple(x for x in range(variable.card) if x not in codes)
