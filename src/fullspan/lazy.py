"""Names of a package that are loaded on first use.

A package lists the names that others use of it, its seam, once: as imports in its stub, ``__init__.pyi``. Type checkers
and editors read the stub, and so does the module-level ``__getattr__`` (PEP 562) below. Importing the names in
``__init__.py`` instead would load numba and SciPy with any module of the package.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module


class Seam:
    """The ``__getattr__`` of ``package``: finds a name in the module from which the package's stub imports it.

    A name must differ from that of every module of the package: importing a module sets the attribute.
    """

    def __init__(self, package: str) -> None:
        self.package = package

    @cached_property
    def homes(self) -> dict[str, str]:
        """The module of every name; a module of the package itself is at home in the package."""
        import ast
        from importlib import resources

        stub = resources.files(self.package).joinpath("__init__.pyi").read_text(encoding="utf-8")
        imports = [node for node in ast.parse(stub).body if isinstance(node, ast.ImportFrom)]
        return {alias.name: node.module or "" for node in imports for alias in node.names}

    def __call__(self, name: str) -> object:
        if name == "__all__":  # what ``from package import *`` gives
            return sorted(self.homes)
        home = self.homes.get(name)
        if home is None:
            raise AttributeError(f"module {self.package!r} has no attribute {name!r}")
        return import_module(f"{home}.{name}") if home == self.package else getattr(import_module(home), name)
