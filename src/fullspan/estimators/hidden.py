"""Hidden units as people write them: a number, names, or names with levels."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from fullspan.errors import FullspanError
from fullspan.space import Level, Variable

Hidden = int | Sequence[str] | Mapping[str, Sequence[Level]]
"""``3``: binary h1, h2, h3; ``["mood"]``: binary; ``{"class": ["low", "middle", "high"]}``."""


def hidden_variables(hidden: Any) -> list[Variable]:
    """The hidden variables, never observed.

    Raises
    ------
    FullspanError : it is none of these, a name is given twice, or a variable has fewer than two levels.

    Examples
    --------
    >>> [(v.name, v.levels) for v in hidden_variables({"class": ["low", "high"]})]
    [('class', ('low', 'high'))]
    """
    if isinstance(hidden, Mapping):
        named = {str(name): tuple(levels) for name, levels in hidden.items()}
    elif isinstance(hidden, numbers.Integral) and not isinstance(hidden, bool) and int(hidden) >= 0:
        named = {f"h{j}": (0, 1) for j in range(1, int(hidden) + 1)}
    elif isinstance(hidden, Sequence) and not isinstance(hidden, str) and all(isinstance(n, str) for n in hidden):
        if len(set(hidden)) != len(hidden):
            raise FullspanError(
                f"hidden is {list(hidden)!r}, which has a name twice; every hidden variable needs its own"
            )
        named = {name: (0, 1) for name in hidden}
    else:
        raise FullspanError(f"hidden is {hidden!r}; a number of units, a list of names or {{name: levels}} is needed")
    for name, levels in named.items():
        if len(levels) < 2:
            raise FullspanError(f"the hidden variable {name!r} has {len(levels)} levels; at least 2 are needed")
    return [Variable(name, levels) for name, levels in named.items()]
