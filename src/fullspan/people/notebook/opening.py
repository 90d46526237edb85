"""A fitted model as a widget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fullspan.errors import FullspanError
from fullspan.people.web import Explorer


def explore(model: Any, given: Mapping[str, Any]) -> Any:
    """The widget of a fitted estimator or network, with evidence to begin with.

    Raises
    ------
    FullspanError : the extra ``notebook`` is not installed, or the marginals of the model are not summed exactly.
    QueryError : the evidence names an unknown variable or level, or has probability 0.
    """
    try:
        import anywidget  # noqa: F401
    except ImportError as error:
        raise FullspanError("explore() needs its extra packages: pip install 'fullspan[notebook]'") from error
    from fullspan.people.notebook.widget import ExplorerWidget

    explorer = Explorer(model)
    plain = {name: _plain(levels) for name, levels in given.items()}
    explorer.distributions(plain, [])
    return ExplorerWidget(explorer, plain)


def _plain(levels: Any) -> Any:
    """Levels in JSON's types, one alone rather than in a list."""
    if hasattr(levels, "tolist"):
        levels = levels.tolist()
    if not isinstance(levels, list | tuple | set | frozenset | range):
        return levels
    return _plain(next(iter(levels))) if len(levels) == 1 else [_plain(level) for level in levels]
