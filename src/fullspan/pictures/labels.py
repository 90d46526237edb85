"""Names that stay legible: on a few lines, broken where their words end; a very long one loses its middle."""

from __future__ import annotations

import re
import unicodedata

_WORDS, _PARTS = re.compile(r"\S+\s*"), re.compile(r"[^_\-./,;=]*(?:[_\-./,;=]+|$)")
"""Words of a text, and the parts of a word that is longer than a line."""
LABEL, LABEL_LINES = 44, 8
"""Letters in a line of a bar's label, and most lines."""


def extent(text: str) -> int:
    """Width in letters; those of Chinese, Japanese and Korean count twice.

    >>> extent("ab"), extent("党派")
    (2, 4)
    """
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def lines(text: str, width: int, most: int) -> tuple[str, ...]:
    """The text on at most ``most`` lines of about ``width`` letters; both ends of a longer one are kept.

    Text with line breaks of its own keeps these.

    >>> lines("household_income_before_taxes", 18, 2)
    ('household_income_', 'before_taxes')
    >>> lines("a_very_long_name_that_ends_in_a_number_17", 12, 2)
    ('a_very_long_', '…a_number_17')
    """
    if "\n" in text:
        parts = text.split("\n")
        return tuple(line for part in parts for line in lines(part, width, max(most // len(parts), 1)))
    found = min((_broken(text, w) for w in range(width, width + width // 4)), key=len)
    kept = min(len(text), width * most)
    while len(found) > most:
        kept -= 1  # names in one table often differ at their end, so the middle goes
        found = _broken(f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}", width)
    return tuple(_even(text, found))


def _even(text: str, found: list[str]) -> list[str]:
    """As many lines of more even length, where nothing was left out."""
    longest = max(map(extent, found))
    tried = (_broken(text, width) for width in range(longest // 2, longest))
    return next((even for even in tried if len(even) == len(found)), found)


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
