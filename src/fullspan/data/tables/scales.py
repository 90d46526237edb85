"""Words that have an order: low before medium before high, never before always, January before February."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fullspan.data.space import Level

SCALES = (
    "lowest, very low, low, lower, below average, medium, moderate, mid, middle, average, normal, above average, high, "
    "higher, very high, highest",
    "xxs, xs, extra small, tiny, very small, s, small, m, medium, l, large, big, very large, huge, xl, "
    "extra large, xxl",
    "never, almost never, hardly ever, rarely, seldom, occasionally, sometimes, often, frequently, usually, mostly, "
    "very often, almost always, always",
    "strongly disagree, disagree strongly, disagree, slightly disagree, somewhat disagree, disagree somewhat, neutral, "
    "undecided, neither, neither agree nor disagree, agree somewhat, somewhat agree, slightly agree, agree, "
    "agree strongly, strongly agree",
    "very dissatisfied, dissatisfied, somewhat dissatisfied, neutral, somewhat satisfied, satisfied, very satisfied",
    "very unlikely, unlikely, neutral, possible, likely, very likely, certain",
    "awful, terrible, very bad, very poor, bad, poor, fair, ok, okay, average, satisfactory, good, "
    "very good, excellent",
    "none, absent, minimal, trace, slight, mild, moderate, marked, severe, very severe, extreme",
    "not at all, slightly, a little, somewhat, moderately, quite, very, extremely, completely",
    "very slow, slow, medium, moderate, fast, very fast",
    "very short, short, medium, average, long, tall, very long, very tall",
    "cold, cool, mild, warm, hot",
    "baby, infant, child, teenager, adolescent, young, young adult, adult, middle aged, old, elderly, senior",
    "none, primary, elementary, secondary, high school, tertiary, college, bachelor, bachelors, university, master, "
    "masters, phd, doctorate",
    "first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth",
    "monday, tuesday, wednesday, thursday, friday, saturday, sunday",
    "mon, tue, wed, thu, fri, sat, sun",
    "january, february, march, april, may, june, july, august, september, october, november, december",
    "jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec",
)
_RANKS = [{word: rank for rank, word in enumerate(scale.split(", "))} for scale in SCALES]
_NUMBER = re.compile(r"\s*[<>≤≥=~]*\s*(\d+(?:\.\d+)?)")
_LEAST = 3
"""Two levels have no order that could be wrong: either of them is at an end."""


def ordered_as(levels: Sequence[Level]) -> list[str] | None:
    """The levels in the order that their words or leading numbers suggest; None if there is none, or they are in it.

    Examples
    --------
    >>> ordered_as(["High", "Low", "Medium"])
    ['Low', 'Medium', 'High']
    >>> ordered_as(["0-9", "10-19", "5 or so"]), ordered_as(["low", "middle"]), ordered_as(["blue", "red", "green"])
    (['0-9', '5 or so', '10-19'], None, None)
    """
    texts = [level for level in levels if isinstance(level, str)]
    if len(texts) < max(_LEAST, len(levels)):
        return None
    ranked = _by_scale(texts) or _by_number(texts)
    return None if ranked == texts else ranked


def _by_scale(texts: Sequence[str]) -> list[str] | None:
    words = [re.sub(r"[\s_-]+", " ", text).strip().casefold() for text in texts]
    for ranks in _RANKS:
        if all(word in ranks for word in words):
            return [text for _, text in sorted(zip((ranks[word] for word in words), texts, strict=True))]
    return None


def _by_number(texts: Sequence[str]) -> list[str] | None:
    """By the number that each text begins with, if all of these differ."""
    numbers = [float(found[1]) for text in texts if (found := _NUMBER.match(text))]
    if len(set(numbers)) < len(texts):
        return None
    return [text for _, text in sorted(zip(numbers, texts, strict=True))]
