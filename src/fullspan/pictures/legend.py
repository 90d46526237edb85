"""Legends as data: every colour and line style that occurs in a picture, and what it means."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from fullspan.pictures.palette import ROLES

Mark = Literal["line", "dashed", "areas", "widths", "bar", "whisker", "arrow", "dot"]
WORDS = {1: "goes with", -1: "goes against", 0: "no single direction"}
"""What the colour of a direction means, in the words of the tables."""


@dataclass(frozen=True)
class Key:
    """One entry of a legend: a mark in the colours of some roles, and its meaning."""

    mark: Mark
    roles: tuple[str, ...]
    text: str


def line_keys(directions: Collection[int], neutral: str = WORDS[0]) -> Iterator[Key]:
    """Of lines: full ones go with each other, dashed ones against; ``neutral`` names those that do neither."""
    for direction, words in {**WORDS, 0: neutral}.items():
        if direction in directions:
            yield Key("dashed" if direction < 0 else "line", (ROLES[direction],), words)


def bar_keys(roles: Collection[str], neutral: str = WORDS[0]) -> Iterator[Key]:
    """Of bars, by the roles that colour them."""
    for direction, words in {**WORDS, 0: neutral}.items():
        if ROLES[direction] in roles:
            yield Key("bar", (ROLES[direction],), words)
