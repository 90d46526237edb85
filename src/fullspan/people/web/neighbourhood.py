"""The part of an interaction graph that a page can show: all of a small one, or what is near a variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fullspan.estimators.explain.links import Link

MAX_NODES = 150
"""Most variables in one answer."""
MAX_EDGES, MAX_GROUPS = 600, 40


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
            "nodes": [{"name": name, "degree": len(self._of[name])} for name in kept],
            "edges": [_edge(link) for link in pairs[:MAX_EDGES]],
            "groups": [{"members": list(link.row.variables), **_facts(link)} for link in groups[:MAX_GROUPS]],
            "total_edges": len(pairs),
            "total_groups": len(groups),
            "total_nodes": len(self.names),
            "total_interactions": len(self.links),
        }

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
