"""The interaction graph of a model: variables, the pairs that go with or against each other, and larger groups."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullspan.pictures.labels import extent, lines
from fullspan.pictures.layout import positions
from fullspan.pictures.legend import N_GROUPS, WORDS, Key, line_keys

MAX_NODES, MAX_EDGES, MAX_GROUPS = 40, 90, 6
LINE, LINES = 18, 4
"""Letters in a line of a label, and most lines."""
_LETTER, _HEIGHT, _SECOND = 0.0135, 0.052, 0.03
"""Width of a letter, height of a label and of each further line, in heights of a picture that is not crowded."""
_ROOM = np.array([1.25, 1.7])
"""Of a label with the space around it, in its own size."""
_LABELS_SHARE = 0.5
"""Most of the picture that labels with their space may cover; a crowded picture is taller."""


@dataclass(frozen=True)
class Frame:
    """What a picture is drawn in: width over height, and how large letters are next to those of a wide picture."""

    aspect: float
    letters: float = 1.0


WIDE, NARROW = Frame(1.6), Frame(0.7, 1.08)
"""Of a page, and of a telephone."""


@dataclass(frozen=True)
class Hyperedge:
    """Variables that a term joins, how strong that is, and its direction: +1 with, -1 against, 0 neither."""

    variables: tuple[str, ...]
    strength: float
    direction: int = 0


@dataclass(frozen=True)
class Edge:
    """A pair by positions, with its strength from 0 to 1 and its direction."""

    nodes: tuple[int, int]
    strength: float
    direction: int


@dataclass(frozen=True)
class Group:
    """Three variables or more by positions, with its strength from 0 to 1."""

    nodes: tuple[int, ...]
    strength: float


@dataclass(frozen=True, eq=False)
class InteractionGraph:
    """What is drawn.

    Attributes
    ----------
    names, labels : of the variables, in full and as lines of text.
    at, sizes : positions (n, 2) in the unit square, and widths and heights of the labels in it.
    edges, groups : strongest first.
    left_out : variables, pairs and groups that are left out because the picture would be too full.
    most : strength of the strongest edge.
    tall : height, where 1 is that of the frame.
    measure, neutral : what strengths and lines without a direction are, for the legend.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    at: NDArray[np.float64]
    sizes: NDArray[np.float64]
    edges: tuple[Edge, ...]
    groups: tuple[Group, ...]
    left_out: tuple[int, int, int]
    most: float
    tall: float
    measure: str
    neutral: str
    frame: Frame = WIDE

    @classmethod
    def of(
        cls,
        names: Iterable[str],
        interactions: Iterable[Hyperedge],
        measure: str = "nats saved",
        neutral: str = WORDS[0],
        frame: Frame = WIDE,
    ) -> InteractionGraph:
        """The graph of the strongest interactions; terms of the same variables are added up."""
        everyone = tuple(names)
        pairs, groups = _gathered(interactions)
        kept = _strongest_nodes(everyone, pairs, groups)
        place = {name: i for i, name in enumerate(kept)}
        edges = [(k, v) for k, v in pairs.items() if set(k) <= set(kept)][:MAX_EDGES]
        larger = [(k, v) for k, v in groups.items() if set(k) <= set(kept)][:MAX_GROUPS]
        top, top_group = _largest(v for _, (v, _) in edges), _largest(v for _, v in larger)
        drawn = tuple(Edge((place[a], place[b]), value / top, direction) for (a, b), (value, direction) in edges)
        shaded = tuple(Group(tuple(place[x] for x in k), v / top_group) for k, v in larger)
        labels = tuple(lines(name, LINE, LINES) for name in kept)
        sizes = frame.letters * np.array([_size(label) for label in labels]).reshape(-1, 2)
        links = [e.nodes for e in drawn[: max(2 * len(kept), 20)]] + [
            (g.nodes[i], g.nodes[j]) for g in shaded for i in range(len(g.nodes)) for j in range(i)
        ]
        at, tall = _placed(links, sizes * _ROOM, frame.aspect)
        left_out = (len(everyone) - len(kept), len(pairs) - len(drawn), len(groups) - len(shaded))
        sizes = sizes / (frame.aspect, tall)
        return cls(kept, labels, at, sizes, drawn, shaded, left_out, top, tall, measure, neutral, frame)

    @property
    def keys(self) -> tuple[Key, ...]:
        """The legend: the lines and shades that occur, and what the width of a line is."""
        found = list(line_keys({edge.direction for edge in self.edges}, self.neutral))
        if self.groups:
            roles = tuple(f"group{k}" for k in range(min(len(self.groups), N_GROUPS)))
            found.append(Key("areas", roles, "three or more variables"))
        if len({edge.strength for edge in self.edges}) > 1:
            found.append(Key("widths", ("muted",), f"thicker: more {self.measure} (at most {self.most:,.3g})"))
        return tuple(found)


def _size(label: tuple[str, ...]) -> tuple[float, float]:
    return _LETTER * (max(map(extent, label)) + 2.2), _HEIGHT + _SECOND * (len(label) - 1)


def _placed(
    links: list[tuple[int, int]], sizes: NDArray[np.float64], aspect: float
) -> tuple[NDArray[np.float64], float]:
    """Positions in the unit square, what is joined above, what stands alone in rows at the bottom; and its height."""
    joined = sorted({i for link in links for i in link})
    rows = _rows([i for i in range(len(sizes)) if i not in set(joined)], sizes, aspect)
    heights = [0.9 * max(float(sizes[i, 1]) for i in row) for row in rows]
    strip = sum(heights)
    crowded = float(sizes[joined].prod(axis=1).sum()) / (_LABELS_SHARE * aspect)
    above = max(1 - strip, crowded, 0.2) if joined else 0.0
    tall = max(1.0, above + strip)
    at = np.zeros((len(sizes), 2))
    if joined:
        place = {i: k for k, i in enumerate(joined)}
        inner = positions(len(joined), [(place[a], place[b]) for a, b in links], sizes[joined] / above, aspect / above)
        at[joined] = inner * (1.0, above / tall)
    stretch = (tall - above) / strip if rows else 1.0
    top = above
    for row, height in zip(rows, heights, strict=True):
        space = (aspect - sum(float(sizes[i, 0]) for i in row)) / len(row)
        x = 0.0
        for i in row:
            at[i] = (x + (space + sizes[i, 0]) / 2) / aspect, (top + stretch * height / 2) / tall
            x += space + float(sizes[i, 0])
        top += stretch * height
    return at, tall


def _rows(nodes: list[int], sizes: NDArray[np.float64], aspect: float) -> list[list[int]]:
    """Rows of nodes that are no wider than the picture."""
    rows: list[list[int]] = []
    for i in nodes:
        if not rows or sum(sizes[j, 0] for j in rows[-1]) + sizes[i, 0] > aspect:
            rows.append([])
        rows[-1].append(i)
    return rows


def _largest(values: Iterable[float]) -> float:
    return max([v for v in values if v > 0], default=1.0)


def _gathered(
    interactions: Iterable[Hyperedge],
) -> tuple[dict[tuple[str, ...], tuple[float, int]], dict[tuple[str, ...], float]]:
    """Pairs with their direction, and groups, each strongest first."""
    pairs: dict[tuple[str, ...], tuple[float, int]] = {}
    groups: dict[tuple[str, ...], float] = {}
    for term in interactions:
        strength = term.strength if math.isfinite(term.strength) else 0.0
        if len(term.variables) == 2:
            before, direction = pairs.get(term.variables, (0.0, term.direction))
            pairs[term.variables] = (before + strength, direction if direction == term.direction else 0)
        elif len(term.variables) > 2:
            groups[term.variables] = groups.get(term.variables, 0.0) + strength
    by_pair = sorted(pairs.items(), key=lambda item: (-item[1][0], item[0]))
    by_group = sorted(groups.items(), key=lambda item: (-item[1], item[0]))
    return dict(by_pair), dict(by_group)


def _strongest_nodes(
    names: tuple[str, ...],
    pairs: dict[tuple[str, ...], tuple[float, int]],
    groups: dict[tuple[str, ...], float],
) -> tuple[str, ...]:
    """All variables if they are few, else those that the strongest interactions join."""
    if len(names) <= MAX_NODES:
        return names
    ranked = sorted([(v, k) for k, (v, _) in pairs.items()] + [(v, k) for k, v in groups.items()], reverse=True)
    chosen: dict[str, None] = {}
    for _, members in ranked:
        if len(chosen) + len([m for m in members if m not in chosen]) > MAX_NODES:
            break
        chosen.update(dict.fromkeys(members))
    return tuple(name for name in names if name in chosen) or names[:MAX_NODES]
