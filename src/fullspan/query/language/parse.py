"""Questions as text, such as ``P(party=democrat | crime=n, age >= 44)``.

    question  = "P" "(" asked ["|" condition] ")" | asked ["|" condition]        a probability, or a table of them
              | "H" "(" [names] ["|" known] ")"                                  entropy
              | "I" "(" names ";" names ["|" known] ")"                          mutual information
              | "mode" "(" [names] ["|" condition] ")"                           the most probable state
              | "N" "(" condition ")"                                            expected rows, with an interval
    asked     = item {"," item}               item = any | name     a bare name asks for its whole distribution
    known     = item {"," item}               a bare name is averaged over
    condition = any {"," any}                 a comma means "and", and binds less than "or"
    any       = all {"or" all}
    all       = one {"and" one}
    one       = "not" one | "(" condition ")" | event
    event     = name ("=" | "==" | "!=" | "≠") level | name ["not"] "in" "{" level {"," level} "}"
              | name ("<" | "<=" | "≤" | ">" | ">=" | "≥") bound | name ["not"] "in" bound ".." bound
    name, level, bound = a word, or '...' or "..." with the escapes \\\\ \\' \\" \\n \\t

White space is free. A level of a binned variable may be a number, which falls into its bin. A bound inside a bin cuts
it: the text is then read again, with the pieces of the bin in place of the bin. An event that contradicts the condition
has probability 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from fullspan.data.space import Space, Variable
from fullspan.errors import QueryError
from fullspan.query.language.boxes import EVERYTHING, Boxes, Codes, complement, intersection, union
from fullspan.query.language.comparisons import code_of, compared, within
from fullspan.query.language.cuts import CutNeeded, Cuts
from fullspan.query.language.text import Text

Kind = Literal["probability", "entropy", "mutual_information", "mode", "count"]

_NAME = re.compile(r"""[^\s,|=!(){}<>≤≥≠'"]+""")
_NAME_IN_LIST = re.compile(r"""[^\s,|=!(){}<>≤≥≠'";]+""")
_LEVEL = re.compile(r"""[^\s,|(){}'"]+""")
_BOUND = re.compile(r"""(?:(?!\.\.)[^\s,|(){}'"])+""")
_EQUALITY = re.compile(r"==|=|!=|≠")
_ORDER = re.compile(r"<=|>=|<|>|≤|≥")
_SIGNS = {"≤": "<=", "≥": ">="}
_IN = re.compile(r"""(not\s+)?in(?=[\s{'"])""", re.IGNORECASE)
_EVENT = re.compile(rf"{_EQUALITY.pattern}|{_ORDER.pattern}|(?i:(?:not\s+)?in\b)")
_NOT = re.compile(r"not(?:(?=\()|\s+(?=[^\s=!<>≤≥≠,|)])(?!in\b))", re.IGNORECASE)
_AND, _OR = (re.compile(rf"{word}(?=[\s(])", re.IGNORECASE) for word in ("and", "or"))
_FUNCTION = re.compile(r"\s*(?!not\b)([^\W\d]\w*)\s*\(", re.IGNORECASE)
_BAR = re.compile(r"\|")
_CLOSING, _PARENTHESIS, _BRACE = re.compile(r"[|)]|$"), re.compile(r"\("), re.compile(r"\{")
_OPENING = re.compile(r"\s*(P|H|I|N|mode)\s*\(", re.IGNORECASE)
_KINDS: dict[str, Kind] = {
    "p": "probability",
    "h": "entropy",
    "i": "mutual_information",
    "n": "count",
    "mode": "mode",
}
_SLIPS = (
    (re.compile(r"&"), "write 'and' instead of '&'"),
    (re.compile(r";"), "write ',' instead of ';', which stands in I(a; b) only"),
    (re.compile(r"between\b", re.IGNORECASE), "write a range as 'in 20..30'"),
    (re.compile(r"is\b", re.IGNORECASE), "write '=' instead of 'is'"),
)
"""How other languages write it, and how it is written here."""
MAX_DEPTH = 100
"""Most parentheses and 'not' inside one another; each takes some calls of Python's stack."""
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
    event : what is asked about, as disjoint boxes of pieces.
    given : the condition, as disjoint boxes of pieces.
    kind : what is asked for.
    others : the variables after the semicolon of ``I(a; b)``.
    known : variables given by bare name, over which ``H(a | b)`` and ``I(a; b | c)`` are averaged.
    cuts : the pieces that bins are cut into; None, or empty, where a piece is a whole level.
    whole_bins : a sentence for each number that stands for the bin around it.
    """

    variables: tuple[int, ...] = ()
    event: Boxes = EVERYTHING
    given: Boxes = EVERYTHING
    kind: Kind = "probability"
    others: tuple[int, ...] = ()
    known: tuple[int, ...] = ()
    cuts: Cuts | None = field(default=None, compare=False)
    whole_bins: tuple[str, ...] = field(default=(), compare=False)


def parse(text: str, space: Space, cuts: Cuts | None = None) -> Query:
    """Read a question about the variables of ``space``; bins that are cut already stay so.

    Raises
    ------
    QueryError : with a caret at the place that cannot be read.
    """
    cuts = cuts or Cuts(space)
    while True:
        reader = _Reader(text, cuts)
        try:
            return replace(reader.query(), whole_bins=tuple(dict.fromkeys(reader.whole_bins)))
        except CutNeeded as needed:
            cuts = cuts.finer(reader.compared, needed.bound)


def parse_event(text: str, space: Space) -> Boxes:
    """Read an event of whole levels, such as ``crime=y, age >= 44``.

    Raises
    ------
    QueryError : it cannot be read, asks for something, or cuts a bin.
    """
    reader = _Reader(text, Cuts(space))
    try:
        return event_of(reader.query(), text)
    except CutNeeded as needed:
        raise reader.error(str(needed), reader.compared_at) from None


def event_of(query: Query, text: str) -> Boxes:
    """What was read, which must be an event.

    Raises
    ------
    QueryError : it asks for something.
    """
    if query.variables or query.given != EVERYTHING or query.kind != "probability":
        raise QueryError(f"{text!r} is a question, not evidence; write for example 'crime=y, education=n'")
    return query.event


def kind_of(text: str) -> Kind:
    """What a question asks for, without reading it."""
    opening = _OPENING.match(text)
    return _KINDS[opening[1].lower()] if opening else "probability"


def is_wrapped(text: str) -> bool:
    """Whether a question begins with ``P(``, ``H(``, ``I(``, ``N(`` or ``mode(``."""
    return _OPENING.match(text) is not None


class _Reader(Text):
    def __init__(self, text: str, cuts: Cuts) -> None:
        super().__init__(text)
        self.cuts, self.space, self.name, self.depth = cuts, cuts.space, _NAME, 0
        self.compared, self.compared_at = 0, 0
        """The variable that was compared last, and where its bound stands."""
        self.whole_bins: list[str] = []

    # -- questions --------------------------------------------------------------------------------------------

    def query(self) -> Query:
        opening = _OPENING.match(self.text)
        if not opening and (function := _FUNCTION.match(self.text)):
            raise self.error(f"there is no function {function[1]!r}; there are P, H, I, N and mode", function.start(1))
        self.place = opening.end() if opening else 0
        kind = kind_of(self.text)
        query = self._measure(kind) if kind not in ("probability", "count") else self._probability(kind)
        if opening:
            self._close(opening.end() - 1)
        if not self.at_end():
            raise self.error(
                "'and', 'or', ',', '|' or the end of the query is expected here; "
                + (self._slip() or "quote names and levels that hold spaces or signs")
            )
        return query

    def _probability(self, kind: Kind) -> Query:
        """What stands between the parentheses of P and N; rows are counted of one event, and not given another."""
        variables, event = self._items(bare=kind == "probability")
        if kind == "count":
            if self.comes(_BAR):
                raise self.error("N(...) counts the rows of an event, without a condition; join both with 'and'")
            return Query((), event, EVERYTHING, kind, cuts=self.cuts)
        given = self._items(bare=False)[1] if self.skip("|") else EVERYTHING
        return Query(variables, event, given, cuts=self.cuts)

    def _measure(self, kind: Kind) -> Query:
        """What stands between the parentheses of H, I and mode."""
        self.name = _NAME_IN_LIST
        variables = self._names() if not self.comes(_CLOSING) or kind == "mutual_information" else ()
        others: tuple[int, ...] = ()
        if kind == "mutual_information":
            if not self.skip(";"):
                raise self.error("';' is expected here: I(a; b) is the information of a and b about each other")
            others = self._names()
        known, given = self._items(bare=kind != "mode") if self.skip("|") else ((), EVERYTHING)
        return Query(variables, EVERYTHING, given, kind, others, known, self.cuts)

    def _names(self) -> tuple[int, ...]:
        found: list[int] = []
        while True:
            start, i = self._variable()
            if i in found:
                raise self.error(f"{self.space.names[i]!r} occurs twice on this side", start)
            if self.comes(_EVENT):
                raise self.error("only names are possible here; write the condition after '|'")
            found.append(i)
            if not self.skip(","):
                return tuple(found)

    def _items(self, bare: bool) -> tuple[tuple[int, ...], Boxes]:
        """One side of the query: the bare variables, and the event of all the others."""
        variables: list[int] = []
        named: set[int] = set()
        event = EVERYTHING
        while True:
            start = self.start()
            i = self._bare() if bare else None
            if i is not None:
                if i in named or i in variables:
                    raise self._twice(i, "use the name alone, or its event", start)
                variables.append(i)
            else:
                found = self._any()
                event = self._both(event, found, variables, start)
                named.update(*found)
            if not self.skip(","):
                return tuple(variables), event

    def _both(self, event: Boxes, found: Boxes, bare: list[int], start: int) -> Boxes:
        """One more part of a side, which may not contradict those before it: that is a slip."""
        with self._at(start):
            met = intersection(event, found)
        for i in {i for box in found for i in box}:
            if i in bare:
                raise self._twice(i, "use the name alone, or its event", start)
            if any(i in box for box in event) and (not met or met[0].get(i) == ()):
                raise self._twice(i, "nothing satisfies both; use 'or', or one 'in {...}'", start)
        return met

    def _twice(self, i: int, advice: str, start: int) -> QueryError:
        return self.error(f"{self.space.names[i]!r} occurs twice on this side: {advice}", start)

    # -- events -----------------------------------------------------------------------------------------------

    def _any(self) -> Boxes:
        start, found = self.start(), self._all()
        while self.match(_OR):
            other = self._all()
            with self._at(start):
                found = union(found, other, self.cuts.cards)
        return found

    def _all(self) -> Boxes:
        start, found = self.start(), self._one()
        while self.match(_AND):
            other = self._one()
            with self._at(start):
                found = intersection(found, other)
        return found

    def _one(self) -> Boxes:
        start = self.start()
        if self.match(_NOT):
            with self._deeper(start):
                negated = self._one()
            with self._at(start):
                return complement(negated, self.cuts.cards)
        if self.skip("("):
            with self._deeper(start):
                _, found = self._items(bare=False)
            self._close(start)
            return found
        _, i = self._variable()
        return ({i: self._event(i)},)

    def _event(self, i: int) -> Codes:
        """The pieces allowed by what follows a name."""
        variable = self.space.variables[i]
        if sign := self.match(_EQUALITY):
            codes = self.cuts.of_levels(i, (self._level(variable),))
            return self._complement(i, codes) if sign[0] in ("!=", "≠") else codes
        if sign := self.match(_ORDER):
            start, bound = self.start(), self.word(_LEVEL, "a bound")
            self.compared, self.compared_at = i, start
            with self._at(start):
                return compared(self.cuts, i, _SIGNS.get(sign[0], sign[0]), bound)
        if among := self.match(_IN):
            is_set = self.comes(_BRACE)
            codes = self.cuts.of_levels(i, sorted(self._set(variable))) if is_set else self._range(i)
            return self._complement(i, codes) if among[1] else codes
        raise self._event_expected(i)

    def _complement(self, i: int, codes: Codes) -> Codes:
        return tuple(x for x in range(self.cuts.cards[i]) if x not in codes)

    def _set(self, variable: Variable) -> set[int]:
        opening = self.start()
        self.skip("{")
        codes: set[int] = set()
        while True:
            codes.add(self._level(variable))
            if self.skip("}"):
                return codes
            if self.at_end():
                raise self.error("this brace is not closed", opening)
            if not self.skip(","):
                raise self.error("',' or '}' is expected here")

    def _range(self, i: int) -> Codes:
        start = self.start()
        self.compared, self.compared_at = i, start
        low = self.word(_BOUND, "'{' or a range such as 20..40")
        if not self.skip(".."):
            raise self.error("'{' or a range such as 20..40 is expected after 'in'", start)
        if self.text.startswith(".", self.place):
            raise self.error(
                "a range has two dots, such as 1..3; write a bound below 1 with its zero, such as 0..0.3",
                self.place - 2,
            )
        high = self.word(_BOUND, "the upper bound of the range")
        with self._at(start):
            return within(self.cuts, i, low, high)

    def _level(self, variable: Variable) -> int:
        start = self.start()
        text = self.word(_LEVEL, f"a level of {variable.name!r}")
        for reading in _READINGS:
            try:
                code = code_of(variable, reading(text))
                break
            except (KeyError, ValueError):  # QueryError is a ValueError
                continue
        else:
            with self._at(start):
                code = code_of(variable, text)
        if variable.edges is not None and text != str(level := variable.levels[code]):
            self.whole_bins.append(f"{variable.name}: {text} stands for its whole bin {level}")
        return code

    # -- words ------------------------------------------------------------------------------------------------

    def _variable(self) -> tuple[int, int]:
        start = self.start()
        name = self.word(self.name, "a variable's name")
        with self._at(start):
            return start, self.space.position(name)

    def _bare(self) -> int | None:
        """The variable that stands here without an event; None, and nothing read, if there is an event."""
        start = self.start()
        if self.comes(_NOT) or self.comes(_PARENTHESIS):
            return None
        _, i = self._variable()
        if self.comes(_EVENT):
            self.place = start
            return None
        if self.comes(_AND) or self.comes(_OR):
            raise self._event_expected(i)
        return i

    def _close(self, opening: int) -> None:
        if self.skip(")"):
            return
        if self.at_end():
            raise self.error("this parenthesis is not closed", opening)
        slip = self._slip()
        raise self.error(f"')' is expected here{'; ' * bool(slip)}{slip}")

    def _event_expected(self, i: int) -> QueryError:
        slip = self._slip()
        expected = f"'=', '!=', '<', '>' or 'in' is expected after {self.space.names[i]!r}"
        return self.error(f"{expected}{'; ' * bool(slip)}{slip}")

    def _slip(self) -> str:
        """How to write what comes next, if it is a usual slip; else nothing."""
        return next((advice for pattern, advice in _SLIPS if self.comes(pattern)), "")

    @contextmanager
    def _deeper(self, start: int) -> Iterator[None]:
        """One more level of nesting."""
        if self.depth == MAX_DEPTH:
            raise self.error(f"parentheses and 'not' are nested at most {MAX_DEPTH} deep", start)
        self.depth += 1
        yield
        self.depth -= 1

    @contextmanager
    def _at(self, start: int) -> Iterator[None]:
        """Put a caret at ``start`` under what is wrong."""
        try:
            yield
        except QueryError as error:
            raise self.error(str(error), start) from None
