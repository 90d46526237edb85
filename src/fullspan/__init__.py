"""Exact probability models of discrete data: log-linear models and Boltzmann machines of any order.

>>> import fullspan as fs
>>> fs.Space.of_cards([2, 3]).n_states
6

Importing the package is cheap: what ``__init__.pyi`` names is loaded on first use.
"""

from __future__ import annotations

from fullspan.lazy import Seam

__version__ = "0.1.0"

__getattr__ = Seam(__name__)


def __dir__() -> list[str]:
    return sorted([*__getattr__("__all__"), "__version__"])
