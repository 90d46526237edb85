"""Names of a package that are loaded on first use.

A package lists the names that others use of it, its seam, in its ``__init__``. Importing them there would load numba
and SciPy with any module of the package, so a module-level ``__getattr__`` (PEP 562) finds them on first use.
The library itself imports from the modules, where the type checker follows; the seam is for tests and for people.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Seam:
    """The ``__getattr__`` of ``package``: for every module, the names that it gives, separated by spaces.

    A name must differ from that of every module of the package: importing a module sets the attribute.
    """

    def __init__(self, package: str, modules: dict[str, str]) -> None:
        self.package = package
        self.homes = {name: f"{package}.{module}" for module, names in modules.items() for name in names.split()}

    def __call__(self, name: str) -> Any:
        if name in self.homes:
            return getattr(import_module(self.homes[name]), name)
        raise AttributeError(f"module {self.package!r} has no attribute {name!r}")
