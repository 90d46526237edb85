"""``model.explore()``: a fitted model as a widget in a notebook."""

from __future__ import annotations

from typing import Any

from fullspan.estimators.inputs.evidence import Evidence, event_of
from fullspan.estimators.registry import resolved

_WIDGET = "fullspan.people.notebook:explore"
"""Named and not imported: what people touch stands on the estimators."""


class Explorable:
    """A fitted model that can be explored in a notebook."""

    def explore(self: Any, given: Evidence = None) -> Any:
        """Explore the model in Jupyter, VS Code or marimo: its graph, and what follows for each variable from others.

        It needs anywidget, ``pip install 'fullspan[notebook]'``.

        Parameters
        ----------
        given : the evidence to begin with.

        Returns
        -------
        A widget. Its attribute ``given`` is what is clamped in it, and can be set.

        Raises
        ------
        FullspanError : the extra package is not installed; or the model predicts some columns from others, or answers
            by sampling only.
        QueryError : the evidence names an unknown variable or level, or has probability 0.
        """
        return resolved(_WIDGET)(self, event_of(given, self.distribution_.space) or {})
