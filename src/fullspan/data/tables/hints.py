"""Hints about columns that may not be what they were read as: counts, identifiers, words for "missing"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fullspan.data.relations.columns import WORDS, Column
from fullspan.data.space import MISSING, Level
from fullspan.data.tables.groups import Groups
from fullspan.data.tables.missing import Coded
from fullspan.data.tables.overfull import COUNT_NAMES

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
_LEAST_LEVELS = 3
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
    if len(texts) < max(_LEAST_LEVELS, len(levels)):
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


LEAST_ROWS = 20
"""Rows from which on shares of cells say something about a column."""
LEVEL_SHARE = 0.2
"""Share of the cells of a column from which on a word for "missing" may be a level."""
_KEY = re.compile(r"(.*_)?(id|nr|no|index|key)", re.IGNORECASE)
"""What people call a column that names its rows."""


def hints(
    groups: Groups,
    coded: Sequence[Coded],
    cells: Mapping[str, Mapping[str, int]],
    weight: Column | None,
    *,
    cut_all: bool = False,
) -> list[str]:
    """What a person should know about the columns as they were read; ``cut_all`` where one rule cut all of them."""
    n_rows = int(groups.rows.sum())
    found = [*_words(groups, cells, n_rows)]
    if weight is None and len(coded) > 1:
        found += _counts(groups, coded, n_rows)
        found += _identifiers(groups, coded, n_rows)
        if cut_all and n_rows >= LEAST_ROWS:
            found += _cut_identifiers(groups, n_rows)
    for column, c in zip(groups.columns, coded, strict=True):
        levels = [level for level in c.variable.levels if level != MISSING]
        if not c.variable.ordered and column.levels is None and (order := ordered_as(levels)):
            found.append(
                f"the levels of {c.variable.name!r} are sorted alphabetically: {', '.join(map(str, levels))}; if they "
                f"have an order, levels= gives it: {', '.join(order)}"
            )
    return found


def _words(groups: Groups, cells: Mapping[str, Mapping[str, int]], n_rows: int) -> Iterator[str]:
    for column in groups.columns:
        for text, n in cells.get(column.name, {}).items():
            is_common = n_rows >= LEAST_ROWS and n >= LEVEL_SHARE * n_rows
            if is_common and text in WORDS and groups.relation.marks.is_usual(column):
                yield (
                    f"{n:,} of {n_rows:,} cells of {column.name!r} are {text!r} and are read as missing; if it is a "
                    "level, list the missing-value texts in na_values="
                )


def _counts(groups: Groups, coded: Sequence[Coded], n_rows: int) -> Iterator[str]:
    """Columns named and filled like counts, in a table whose rows differ without them."""
    for j, c in enumerate(coded):
        numbers = [v for v in c.variable.levels if isinstance(v, int) and not isinstance(v, bool)]
        if c.variable.name.casefold() not in COUNT_NAMES or len(numbers) < c.variable.card:
            continue
        others = np.stack([codes for k, codes in enumerate(groups.tokens.codes[: len(coded)]) if k != j], axis=1)
        if min(numbers) >= 0 and max(numbers) >= 2 and len(np.unique(others, axis=0)) == n_rows:
            yield (
                f"{c.variable.name!r} looks like the count of each row, and was read as a variable: its values are "
                f"whole numbers, and no other row has the same other cells; count_column={c.variable.name!r} reads it "
                "as counts"
            )


def _identifiers(groups: Groups, coded: Sequence[Coded], n_rows: int) -> Iterator[str]:
    for column, c in zip(groups.columns, coded, strict=True):
        is_inferred = column.name not in groups.given and column.levels is None
        is_name = not any(isinstance(level, float) for level in c.variable.levels)
        if is_inferred and is_name and n_rows >= LEAST_ROWS and c.variable.card == n_rows:
            yield (
                f"column {column.name!r} has a different value in each of the {n_rows} rows, as an identifier has; "
                "columns= leaves it out"
            )


def _cut_identifiers(groups: Groups, n_rows: int) -> Iterator[str]:
    """Columns of whole numbers, all different, that are named as an identifier or run through a range."""
    for column in groups.columns:
        edges = groups.given[column.name].edges if column.name in groups.given else None
        if edges is None or not (_KEY.fullmatch(column.name) or edges[-1] - edges[0] == n_rows - 1):
            continue
        if groups.relation.extents([column])[0].n_distinct < n_rows:
            continue
        if column.kind == "int" or all(float(v).is_integer() for v in groups.relation.some(column)):
            yield (
                f"column {column.name!r} has a different value in each of the {n_rows} rows, as an identifier has, and "
                "was cut into bins; columns= leaves it out"
            )
