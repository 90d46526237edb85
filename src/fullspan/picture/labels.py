"""Names that stay legible: on a few lines, broken where their words end; a very long one loses its middle."""

from __future__ import annotations

import re
import unicodedata

_WORDS, _PARTS = re.compile(r"\S+\s*"), re.compile(r"[^_\-./,;=]*(?:[_\-./,;=]+|$)")
"""Words of a text, and the parts of a word that is longer than a line."""


def extent(text: str) -> int:
    """Width in letters; those of Chinese, Japanese and Korean count twice.

    >>> extent("ab"), extent("党派")
    (2, 4)
    """
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def lines(text: str, width: int, most: int) -> tuple[str, ...]:
    """The text on at most ``most`` lines of ``width`` letters; both ends of a longer one are kept.

    >>> lines("household_income_before_taxes", 18, 2)
    ('household_income_', 'before_taxes')
    >>> lines("a_very_long_name_that_ends_in_a_number_17", 12, 2)
    ('a_very_long_', '…a_number_17')
    """
    found, kept = _broken(text, width), min(len(text), width * most)
    while len(found) > most:
        kept -= 1  # names in one table often differ at their end, so the middle goes
        found = _broken(f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}", width)
    return tuple(found)


def _broken(text: str, width: int) -> list[str]:
    """Lines filled word by word; a word that is longer than a line is broken at its parts, or anywhere."""
    found = [""]
    for word in _WORDS.findall(text):
        parts = [word] if extent(word.rstrip()) <= width else _PARTS.findall(word)
        for part in filter(None, parts):
            if extent(found[-1] + part.rstrip()) > width and found[-1]:
                found.append("")
            for letter in part:
                if extent(found[-1] + letter) > width and not letter.isspace():
                    found.append("")
                found[-1] += letter
    return [line.strip() for line in found if line.strip()] or [""]
