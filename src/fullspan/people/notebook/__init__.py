"""``model.explore()``: the explorer's evidence and graph as a widget in Jupyter, VS Code and marimo.

:mod:`opening` checks the model and the extra package, :mod:`widget` answers the messages of the module in ``static``,
which is built from ``web/`` with npm. The answers are those of :class:`fullspan.people.web.Explorer`.
"""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
