"""Names, numbers and signs of a BIF text, and refusals that name the file and the line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fullspan.errors import ModelFileError

_SKIPPED = re.compile(r"\s+|//[^\n]*")
_TOKEN = re.compile(r'"[^"\n]*"|[{}()\[\]|,;]|[^\s{}()\[\]|,;"]+')
_SIGNS = frozenset("{}()[]|,;")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_SHOWN = 40


@dataclass
class Tokens:
    """The tokens of a text with their offsets, and the place of the next one."""

    text: str
    file: str
    tokens: list[str]
    offsets: list[int]
    place: int = 0

    @classmethod
    def of(cls, data: bytes, file: str) -> Tokens:
        """Cut a text into tokens; linear in its length.

        Raises
        ------
        ModelFileError : it is not UTF-8, or a comment or quotation mark is not closed.
        """
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise ModelFileError(f"{file}, line {line}: this is no UTF-8 text") from error
        read = cls(text, file, [], [])
        at = 0
        while at < len(text):
            at = read._next(at)
        return read

    def _next(self, at: int) -> int:
        """Take what stands at an offset; the offset after it."""
        if self.text.startswith("/*", at):
            end = self.text.find("*/", at + 2)
            if end < 0:
                raise self._refuse("this comment is not closed", at)
            return end + 2
        if skipped := _SKIPPED.match(self.text, at):
            return skipped.end()
        token = _TOKEN.match(self.text, at)
        if token is None:
            raise self._refuse("this quotation mark is not closed", at)
        self.tokens.append(token[0])
        self.offsets.append(at)
        return token.end()

    # -- errors -----------------------------------------------------------------------------------------------

    def refuse(self, problem: str, back: int = 0) -> ModelFileError:
        """The error that names the file and the line of the next token, or of one ``back`` from there."""
        place = max(self.place - back, 0)
        return self._refuse(problem, self.offsets[place] if place < len(self.offsets) else len(self.text.rstrip()))

    def _refuse(self, problem: str, offset: int) -> ModelFileError:
        return ModelFileError(f"{self.file}, line {self.text.count(chr(10), 0, offset) + 1}: {problem}")

    # -- tokens -----------------------------------------------------------------------------------------------

    def at_end(self) -> bool:
        return self.place == len(self.tokens)

    def is_next(self, token: str) -> bool:
        return not self.at_end() and self.tokens[self.place] == token

    def skip(self, token: str) -> bool:
        """Step over a token if it is the next."""
        found = self.is_next(token)
        self.place += found
        return found

    def take(self, what: str) -> str:
        """The next token.

        Raises
        ------
        ModelFileError : the text ends here.
        """
        if self.at_end():
            raise self.refuse(f"the text ends where {what} is expected")
        self.place += 1
        return self.tokens[self.place - 1]

    def expect(self, token: str) -> None:
        """Step over a token that must be the next."""
        found = self.take(repr(token))
        if found != token:
            raise self.refuse(f"{token!r} is expected, not {_short(found)}", back=1)

    def name(self, what: str) -> str:
        """The next token as a name, without its quotation marks."""
        token = self.take(what)
        if token in _SIGNS:
            raise self.refuse(f"{what} is expected, not {token!r}", back=1)
        return token[1:-1] if token.startswith('"') else token

    def whole(self, what: str) -> int:
        """The next token as a whole number."""
        token = self.take(what)
        if not (token.isascii() and token.isdigit()) or len(token) > 9:
            raise self.refuse(f"{_short(token)} is not {what}: a whole number is needed", back=1)
        return int(token)

    def real(self, what: str) -> float:
        """The next token as a number."""
        token = self.take(what)
        if not (token.isascii() and _NUMBER.fullmatch(token)):
            raise self.refuse(f"{_short(token)} is not {what}: a number is needed", back=1)
        return float(token)


def _short(token: str) -> str:
    return repr(token if len(token) <= _SHOWN else token[:_SHOWN] + "...")
