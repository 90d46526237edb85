"""Names, numbers and signs of the text of a network, and refusals that name the file and the line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fullspan.errors import ModelFileError

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_SHOWN = 40


@dataclass(frozen=True)
class Syntax:
    """How a format cuts its text.

    Attributes
    ----------
    signs : characters that are tokens of their own.
    comment : what begins a comment that ends with the line.
    blocks : whether ``/* ... */`` is a comment.
    """

    signs: str
    comment: str
    blocks: bool = True

    @property
    def skipped(self) -> re.Pattern[str]:
        """Space and comments of one line."""
        return re.compile(rf"\s+|{re.escape(self.comment)}[^\n]*")

    @property
    def token(self) -> re.Pattern[str]:
        """Text in quotation marks, a sign, or all up to the next sign or space."""
        signs = re.escape(self.signs)
        return re.compile(rf'"[^"\n]*"|[{signs}]|[^\s{signs}"]+')


@dataclass
class Tokens:
    """The tokens of a text with their offsets, and the place of the next one."""

    text: str
    file: str
    syntax: Syntax
    tokens: list[str]
    offsets: list[int]
    place: int = 0

    @classmethod
    def of(cls, data: bytes, file: str, syntax: Syntax) -> Tokens:
        """Cut a text into tokens; linear in its length.

        Raises
        ------
        ModelFileError : it is not UTF-8, or a comment or quotation mark is not closed.
        """
        read = cls(text_of(data, file), file, syntax, [], [])
        skipped, token, at = syntax.skipped, syntax.token, 0
        while at < len(read.text):
            at = read._next(at, skipped, token)
        return read

    def _next(self, at: int, skipped: re.Pattern[str], token: re.Pattern[str]) -> int:
        """Take what stands at an offset; the offset after it."""
        if self.syntax.blocks and self.text.startswith("/*", at):
            end = self.text.find("*/", at + 2)
            if end < 0:
                raise self._refuse("this comment is not closed", at)
            return end + 2
        if found := skipped.match(self.text, at):
            return found.end()
        found = token.match(self.text, at)
        if found is None:
            raise self._refuse("this quotation mark is not closed", at)
        self.tokens.append(found[0])
        self.offsets.append(at)
        return found.end()

    # -- errors -----------------------------------------------------------------------------------------------

    def refuse(self, problem: str, back: int = 0) -> ModelFileError:
        """The error that names the file and the line of the next token, or of one ``back`` from there."""
        place = max(self.place - back, 0)
        return self._refuse(problem, self.offsets[place] if place < len(self.offsets) else len(self.text.rstrip()))

    def refuse_last(self, problem: str) -> ModelFileError:
        """The error at the token that was taken last."""
        return self.refuse(problem, back=1)

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

    def expect(self, *tokens: str) -> None:
        """Step over tokens that must be the next."""
        for token in tokens:
            found = self.take(repr(token))
            if found != token:
                raise self.refuse_last(f"{token!r} is expected, not {_short(found)}")

    def pass_to(self, sign: str) -> None:
        """Step over all up to a sign, and over the sign."""
        while not self.skip(sign):
            self.take(repr(sign))

    def name(self, what: str) -> str:
        """The next token as a name, without its quotation marks."""
        token = self.take(what)
        if token in self.syntax.signs:
            raise self.refuse_last(f"{what} is expected, not {token!r}")
        return token[1:-1] if token.startswith('"') else token

    def names(self, close: str, what: str) -> tuple[str, ...]:
        """Names up to a closing sign, commas between them or not."""
        found: list[str] = []
        while not self.skip(close):
            found.append(self.name(what))
            self.skip(",")
        return tuple(found)

    def whole(self, what: str) -> int:
        """The next token as a whole number."""
        token = self.take(what)
        if not (token.isascii() and token.isdigit()) or len(token) > 9:
            raise self.refuse_last(f"{_short(token)} is not {what}: a whole number is needed")
        return int(token)

    def real(self, what: str) -> float:
        """The next token as a number."""
        token = self.take(what)
        if not (token.isascii() and _NUMBER.fullmatch(token)):
            raise self.refuse_last(f"{_short(token)} is not {what}: a number is needed")
        return float(token)

    def reals(self, close: str) -> list[float]:
        """Probabilities up to a closing sign, commas between them or not."""
        found: list[float] = []
        while not self.skip(close):
            found.append(self.real("a probability"))
            self.skip(",")
        return found


def text_of(data: bytes, file: str) -> str:
    """The text of a file.

    Raises
    ------
    ModelFileError : it is not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ModelFileError(f"{file}, line {line}: this is not UTF-8 text") from error


def _short(token: str) -> str:
    return repr(token if len(token) <= _SHOWN else token[:_SHOWN] + "...")
