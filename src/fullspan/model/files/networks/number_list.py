"""A text that is a list of numbers, read word by word; every refusal names the file and the line."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fullspan.errors import ModelFileError

_MOST_DIGITS = 18
_SHOWN = 40


@dataclass
class NumberList:
    """The words of a text, separated by white space, and the place of the next one.

    Nothing is allocated by a number found in the text: what is asked for must be there.
    """

    data: bytes
    file: str
    place: int = 0
    words: list[bytes] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.words = self.data.split()
        if b"_" in self.data:  # Python would read 1_000 as a number
            at = next(k for k, word in enumerate(self.words) if b"_" in word)
            raise self.refuse(f"{self.shown(at)} is neither a number nor a known word", at)

    def refuse(self, problem: str, at: int) -> ModelFileError:
        """The error that names the file and the line of a word, or of the end of the text."""
        line, before = 0, 0
        for line, text in enumerate(self.data.splitlines(), 1):  # noqa: B007
            before += len(text.split())
            if before > at:
                break
        return ModelFileError(f"{self.file}, line {max(line, 1)}: {problem}")

    def shown(self, at: int) -> str:
        """A word as messages show it."""
        word = self.words[at][:_SHOWN].decode("ascii", "backslashreplace")
        return repr(word + "...") if len(self.words[at]) > _SHOWN else repr(word)

    def take(self, what: str) -> bytes:
        """The next word.

        Raises
        ------
        ModelFileError : the text ends here.
        """
        return self.words[self.skip(1, what)]

    def skip(self, count: int, what: str) -> int:
        """Step over the next ``count`` words; the place of the first.

        Raises
        ------
        ModelFileError : the text ends before.
        """
        start, left = self.place, len(self.words) - self.place
        if count > left:
            raise self.refuse(f"the text ends before {what}: {left} of {count} numbers are left", len(self.words))
        self.place += count
        return start

    def whole(self, what: str, least: int = 0) -> int:
        """The next word as a whole number.

        Raises
        ------
        ModelFileError : it is none, or less than ``least``.
        """
        word = self.take(what)
        if not word.isdigit() or len(word) > _MOST_DIGITS:
            raise self._not_whole(self.place - 1, what)
        value = int(word)
        if value < least:
            raise self.refuse(f"{what} is {value}; at least {least} is needed", self.place - 1)
        return value

    def wholes(self, count: int, what: str) -> list[int]:
        """The next words as whole numbers of at least 0.

        Raises
        ------
        ModelFileError : one is none, or the text ends before.
        """
        start = self.skip(count, what)
        chosen = self.words[start : start + count]
        if chosen and not (b"".join(chosen).isdigit() and max(map(len, chosen)) <= _MOST_DIGITS):
            at = next(k for k, word in enumerate(chosen) if not word.isdigit() or len(word) > _MOST_DIGITS)
            raise self._not_whole(start + at, what)
        return list(map(int, chosen))

    def _not_whole(self, at: int, what: str) -> ModelFileError:
        return self.refuse(f"{self.shown(at)} is not {what}: a whole number is needed", at)

    def reals(self, start: int) -> NDArray[np.float64]:
        """All words from ``start`` on as doubles, also infinite ones and NaN.

        Raises
        ------
        ModelFileError : a word is no number.
        """
        chosen = self.words[start:]
        try:
            return np.fromiter(map(float, chosen), np.float64, len(chosen))
        except ValueError:
            at = next(k for k, word in enumerate(chosen) if not _is_number(word))
            raise self.refuse(f"{self.shown(start + at)} is not a number", start + at) from None

    def end(self) -> None:
        """Refuse words after the end.

        Raises
        ------
        ModelFileError : there are some.
        """
        if self.place < len(self.words):
            raise self.refuse(f"{self.shown(self.place)} stands after the end", self.place)


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
