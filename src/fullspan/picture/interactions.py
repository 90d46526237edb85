"""The interaction graph of a model: variables, the pairs that go with or against each other, and larger groups."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullspan.picture.layout import positions

MAX_NODES, MAX_EDGES, MAX_GROUPS = 40, 90, 6
ASPECT = 1.6
_LETTER, _HEIGHT = 0.0135, 0.052
"""Width of a letter and height of a label, in heights of the picture."""


@dataclass(frozen=True)
class Interaction:
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
    names, at, sizes : the labels, their positions (n, 2) in the unit square, and their widths and heights in it.
    edges, groups : strongest first.
    left_out : variables, pairs and groups that are left out because the picture would be too full.
    """

    names: tuple[str, ...]
    at: NDArray[np.float64]
    sizes: NDArray[np.float64]
    edges: tuple[Edge, ...]
    groups: tuple[Group, ...]
    left_out: tuple[int, int, int]

    @classmethod
    def of(cls, names: Iterable[str], interactions: Iterable[Interaction]) -> InteractionGraph:
        """The graph of the strongest interactions; terms of the same variables are added up."""
        everyone = tuple(names)
        pairs, groups = _gathered(interactions)
        kept = _strongest_nodes(everyone, pairs, groups)
        place = {name: i for i, name in enumerate(kept)}
        edges = [(k, v) for k, v in pairs.items() if set(k) <= set(kept)][:MAX_EDGES]
        larger = [(k, v) for k, v in groups.items() if set(k) <= set(kept)][:MAX_GROUPS]
        top, top_group = _largest(v for _, (v, _) in edges), _largest(v for _, v in larger)
        drawn = tuple(Edge((place[a], place[b]), value / top, way) for (a, b), (value, way) in edges)
        shaded = tuple(Group(tuple(place[x] for x in k), v / top_group) for k, v in larger)
        shown = tuple(_short(name) for name in kept)
        sizes = np.array([(_LETTER * (len(name) + 2.2), _HEIGHT) for name in shown]).reshape(-1, 2)
        links = [e.nodes for e in drawn[: max(2 * len(kept), 20)]] + [
            (g.nodes[i], g.nodes[j]) for g in shaded for i in range(len(g.nodes)) for j in range(i)
        ]
        at = _placed(len(kept), links, sizes * (1.25, 1.7))
        left_out = (len(everyone) - len(kept), len(pairs) - len(drawn), len(groups) - len(shaded))
        return cls(shown, at, sizes / (ASPECT, 1.0), drawn, shaded, left_out)


def _placed(n: int, links: list[tuple[int, int]], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions in the unit square: what is joined above, what stands alone in rows at the bottom."""
    joined = sorted({i for link in links for i in link})
    alone = [i for i in range(n) if i not in set(joined)]
    rows: list[list[int]] = []
    for i in alone:
        if not rows or sum(sizes[j, 0] for j in rows[-1]) + sizes[i, 0] > ASPECT:
            rows.append([])
        rows[-1].append(i)
    strip = len(rows) * _HEIGHT * 1.5 if joined else 1.0
    place = {i: k for k, i in enumerate(joined)}
    at = np.zeros((n, 2))
    if joined:
        inner = positions(len(joined), [(place[a], place[b]) for a, b in links], sizes[joined], ASPECT / (1 - strip))
        at[joined] = inner * (1.0, 1 - strip)
    for r, row in enumerate(rows):
        for c, i in enumerate(row):
            at[i] = (c + 0.5) / len(row), 1 - strip + strip * (r + 0.5) / len(rows)
    return at


def _short(name: str) -> str:
    return name if len(name) <= 18 else name[:17] + "…"


def _largest(values: Iterable[float]) -> float:
    return max([v for v in values if v > 0], default=1.0)


def _gathered(
    interactions: Iterable[Interaction],
) -> tuple[dict[tuple[str, ...], tuple[float, int]], dict[tuple[str, ...], float]]:
    """Pairs with their direction, and groups, each strongest first."""
    pairs: dict[tuple[str, ...], tuple[float, int]] = {}
    groups: dict[tuple[str, ...], float] = {}
    for term in interactions:
        strength = term.strength if math.isfinite(term.strength) else 0.0
        if len(term.variables) == 2:
            before, way = pairs.get(term.variables, (0.0, term.direction))
            pairs[term.variables] = (before + strength, way if way == term.direction else 0)
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
