"""Which variables are near which: the graph as the page draws it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

from fullspan.estimators.explain.communities import communities
from fullspan.estimators.explain.links import Link

MAX_NODES = 500
"""Most variables in one answer."""
MAX_EDGES, MAX_GROUPS = 3000, 40


class Neighbourhoods:
    """Answers which variables are near which.

    Parameters
    ----------
    names : all variables.
    links : one per set of variables, strongest first.
    """

    def __init__(self, names: Sequence[str], links: Sequence[Link]) -> None:
        self.names, self.links = tuple(names), tuple(links)
        self._of: dict[str, list[int]] = {name: [] for name in self.names}
        for k, link in enumerate(self.links):
            for name in link.row.variables:
                self._of[name].append(k)

    def near(self, focus: str | None, radius: int, limit: int) -> dict[str, Any]:
        """The graph within ``radius`` steps of a variable, nearest first; without one, its strongest part."""
        limit = min(limit, MAX_NODES)
        kept = self._around(focus, radius, limit) if focus is not None else self._strongest(limit)
        near = sorted({k for name in kept for k in self._of[name]})
        inside = [self.links[k] for k in near if set(self.links[k].row.variables) <= kept.keys()]
        pairs = [link for link in inside if link.row.order == 2]
        groups = [link for link in inside if link.row.order > 2]
        return {
            "nodes": [
                {"name": name, "degree": len(self._of[name]), "community": self.communities[name]} for name in kept
            ],
            "edges": [_edge(link) for link in pairs[:MAX_EDGES]],
            "groups": [{"members": list(link.row.variables), **_facts(link)} for link in groups[:MAX_GROUPS]],
            "total_edges": len(pairs),
            "total_groups": len(groups),
            "total_nodes": len(self.names),
            "total_interactions": len(self.links),
        }

    def sharing(self, variables: Sequence[str], limit: int) -> list[Link]:
        """The strongest other links that one of some variables is in."""
        found = sorted({k for name in variables for k in self._of[name]})
        return [self.links[k] for k in found if set(self.links[k].row.variables) != set(variables)][:limit]

    @cached_property
    def communities(self) -> dict[str, int]:
        """The community of each variable by name, the largest 0."""
        place = {name: i for i, name in enumerate(self.names)}
        found = communities(len(place), self._strengths(place))
        return dict(zip(self.names, found, strict=True))

    def _strengths(self, place: dict[str, int]) -> Iterator[tuple[int, int, float]]:
        """Pairs; a larger set gives each of its pairs an equal part of its strength."""
        for link in self.links:
            pairs = list(combinations(link.row.variables, 2))
            for a, b in pairs:
                yield place[a], place[b], max(link.strength, 0.0) / len(pairs)

    def _around(self, focus: str, radius: int, limit: int) -> dict[str, None]:
        kept, front = {focus: None}, [focus]
        for _ in range(radius):
            reached: list[str] = []
            for name in front:
                for k in self._of[name]:
                    for other in self.links[k].row.variables:
                        if other not in kept and len(kept) < limit:
                            kept[other] = None
                            reached.append(other)
            front = reached
        return kept

    def _strongest(self, limit: int) -> dict[str, None]:
        if len(self.names) <= limit:
            return dict.fromkeys(self.names)
        kept: dict[str, None] = {}
        for link in self.links:
            new = [name for name in link.row.variables if name not in kept]
            if len(kept) + len(new) > limit:
                break
            kept.update(dict.fromkeys(new))
        return kept or dict.fromkeys(self.names[:limit])


def _edge(link: Link) -> dict[str, Any]:
    a, b = link.row.variables
    return {"a": a, "b": b, "direction": link.row.direction, **_facts(link)}


def _facts(link: Link) -> dict[str, Any]:
    return {"strength": link.strength, "approximate": link.approximate, "kind": link.kind, "words": link.row.words}
