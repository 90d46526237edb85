"""The part of an interaction graph that a page can show: all of a small one, or what is near a variable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from fullspan.picture.interactions import Interaction

MAX_NODES = 150
"""Most variables in one answer."""
MAX_EDGES, MAX_GROUPS = 600, 40


class Neighbourhoods:
    """Answers which variables are near which; terms of the same variables are added up.

    Parameters
    ----------
    names : all variables.
    interactions : pairs and groups with their strengths.
    """

    def __init__(self, names: Sequence[str], interactions: Iterable[Interaction]) -> None:
        self.names = tuple(names)
        self.strength: dict[tuple[str, ...], float] = {}
        self.direction: dict[tuple[str, ...], int] = {}
        for term in interactions:
            key, value = term.variables, term.strength if math.isfinite(term.strength) else 0.0
            same = self.direction.get(key, term.direction) == term.direction
            self.direction[key] = term.direction if same else 0
            self.strength[key] = self.strength.get(key, 0.0) + value
        self._of: dict[str, list[tuple[str, ...]]] = {name: [] for name in self.names}
        for key in sorted(self.strength, key=lambda k: -self.strength[k]):
            for name in key:
                self._of[name].append(key)

    def near(self, focus: str | None, radius: int, limit: int) -> dict[str, Any]:
        """The graph within so many steps of a variable, nearest and strongest first; without one, the "
        "strongest part."""
        limit = min(limit, MAX_NODES)
        kept = self._around(focus, radius, limit) if focus is not None else self._strongest(limit)
        inside = [k for k in dict.fromkeys(k for name in kept for k in self._of[name]) if set(k) <= kept.keys()]
        inside.sort(key=lambda k: -self.strength[k])
        pairs, groups = [k for k in inside if len(k) == 2], [k for k in inside if len(k) > 2]
        return {
            "nodes": [{"name": name, "degree": len(self._of[name])} for name in kept],
            "edges": [
                {"a": k[0], "b": k[1], "strength": self.strength[k], "direction": self.direction[k]}
                for k in pairs[:MAX_EDGES]
            ],
            "groups": [{"members": list(k), "strength": self.strength[k]} for k in groups[:MAX_GROUPS]],
            "total_nodes": len(self.names),
            "total_terms": len(self.strength),
        }

    def _around(self, focus: str, radius: int, limit: int) -> dict[str, None]:
        kept, front = {focus: None}, [focus]
        for _ in range(radius):
            reached: list[str] = []
            for name in front:
                for key in self._of[name]:
                    for other in key:
                        if other not in kept and len(kept) < limit:
                            kept[other] = None
                            reached.append(other)
            front = reached
        return kept

    def _strongest(self, limit: int) -> dict[str, None]:
        if len(self.names) <= limit:
            return dict.fromkeys(self.names)
        kept: dict[str, None] = {}
        for key in sorted(self.strength, key=lambda k: -self.strength[k]):
            new = [name for name in key if name not in kept]
            if len(kept) + len(new) > limit:
                break
            kept.update(dict.fromkeys(new))
        return kept or dict.fromkeys(self.names[:limit])
