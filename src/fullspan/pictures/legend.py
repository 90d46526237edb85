"""Legends as data: every colour and line style that occurs in a picture, and what it means.

Colours that people with every kind of colour vision tell apart (Okabe & Ito 2008), for light and dark pages.

Colour never speaks alone: what goes together is a full line, what goes against each other a dashed one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

LIGHT = {
    "ink": "#1b1f24",
    "muted": "#5c6670",
    "grid": "#dfe3e8",
    "paper": "#ffffff",
    "with": "#0072b2",
    "against": "#c04e00",
    "neutral": "#5c6670",
    "group0": "#009e73",
    "group1": "#cc79a7",
    "group2": "#e69f00",
    "group3": "#56b4e9",
}
"""Roles and their colours on a light page."""
DARK = {
    "ink": "#e8eaed",
    "muted": "#a3abb5",
    "grid": "#343b44",
    "paper": "#14181d",
    "with": "#56b4e9",
    "against": "#f0a35e",
    "neutral": "#a3abb5",
    "group0": "#2fc79b",
    "group1": "#e3a5c7",
    "group2": "#f0c04e",
    "group3": "#8fd0f5",
}
"""The same on a dark one."""
N_GROUPS = 4
ROLES = {1: "with", -1: "against", 0: "neutral"}
"""Directions by their colours: blue goes with, orange against, grey where there is no single direction."""


def css_variables(colours: dict[str, str]) -> str:
    """The roles as custom properties of CSS: ``--with:#0072b2;...``."""
    return ";".join(f"--{role}:{colour}" for role, colour in colours.items())


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
