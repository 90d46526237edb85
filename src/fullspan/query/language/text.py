"""The characters of a question: words, quoted words and signs, and errors with a caret."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fullspan.errors import QueryError

_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t"}


@dataclass
class Text:
    """A text that is read from left to right; ``place`` is the next character."""

    text: str
    place: int = 0

    def word(self, pattern: re.Pattern[str], what: str) -> str:
        """The next word, quoted or as the pattern says.

        Raises
        ------
        QueryError : there is none.
        """
        start = self.start()
        if start < len(self.text) and self.text[start] in "'\"":
            return self._quoted(start)
        word = pattern.match(self.text, start)
        if word is None:
            raise self.error(f"{what} is expected here")
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
                    raise self.error("unknown escape; \\\\, \\', \\\", \\n and \\t are known", i - 1)
                letter = _ESCAPES[self.text[i]]
            letters.append(letter)
            i += 1
        raise self.error("this quotation mark is not closed", start)

    def start(self) -> int:
        """Move to the next character that is not white space."""
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1
        return self.place

    def skip(self, sign: str) -> bool:
        """Move past a sign, if it comes next."""
        found = self.text.startswith(sign, self.start())
        self.place += len(sign) * found
        return found

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Move past what a pattern matches, if it comes next."""
        found = pattern.match(self.text, self.start())
        if found:
            self.place = found.end()
        return found

    def comes(self, pattern: re.Pattern[str]) -> bool:
        """Whether a pattern comes next."""
        return pattern.match(self.text, self.start()) is not None

    def at_end(self) -> bool:
        return self.start() == len(self.text)

    def error(self, message: str, place: int | None = None) -> QueryError:
        """What is wrong, with a caret at the place."""
        return QueryError(message, re.sub(r"\s", " ", self.text), self.place if place is None else place)
