"""Parameters of estimators as their classes declare them: name, type, default and what the docstring says.

A class that is not imported yet is read from its source, because estimators import scikit-learn and Numba: ``fullspan
fit --help`` must not wait for these. ``tests/cli/test_parity.py`` checks that both readings agree.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fullspan.estimators.inputs.shared_parameters import documented


@dataclass(frozen=True)
class Parameter:
    """A parameter of an estimator: its type as source text, its default, and its text in the docstring."""

    type: str
    default: Any
    text: str


def parameters_of(home: str, name: str) -> dict[str, Parameter]:
    """The parameters of the class ``name`` in the module ``home``, in the order in which the class declares them."""
    if (module := sys.modules.get(home)) is not None and hasattr(module, name):
        return from_class(getattr(module, name))
    return from_source(home, name)


def from_class(cls: type) -> dict[str, Parameter]:
    """The parameters of a class that is imported."""
    texts = documented(cls.__doc__)
    found = {}
    for name, parameter in inspect.signature(cls).parameters.items():
        kind = parameter.annotation
        written = kind if isinstance(kind, str) else inspect.formatannotation(kind)
        found[name] = Parameter(written, parameter.default, " ".join(texts.get(name, "").split()))
    return found


@functools.cache
def from_source(home: str, name: str) -> dict[str, Parameter]:
    """The fields of a dataclass and of its bases, read from the source without running it."""
    tree = _parsed(home)
    node = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name), None)
    if node is None:  # it is imported there
        return next((from_source(where, name) for where in _origins(tree, name)), {})
    texts = documented(ast.get_docstring(node))
    inherited: dict[str, Parameter] = {}
    for base in reversed(node.bases):
        if isinstance(base, ast.Name):
            inherited |= from_source(home, base.id)
    own = _fields(node)
    words = {name: p.text for name, p in inherited.items()} | {k: " ".join(v.split()) for k, v in texts.items()}
    return {name: Parameter(p.type, p.default, words.get(name, "")) for name, p in (own | inherited | own).items()}


@functools.cache
def _parsed(home: str) -> ast.Module:
    spec = find_spec(home)
    return ast.parse("" if spec is None or spec.origin is None else Path(spec.origin).read_text(encoding="utf-8"))


def _origins(tree: ast.Module, name: str) -> list[str]:
    """Modules of this package that a module imports a class from."""
    imports = [n for n in tree.body if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("fullspan.")]
    return [str(n.module) for n in imports if any(alias.name == name for alias in n.names)]


def _fields(node: ast.ClassDef) -> dict[str, Parameter]:
    """Names with a type and a default; of a class that is no dataclass, none."""
    if not any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
        return {}
    lines = [n for n in node.body if isinstance(n, ast.AnnAssign) and n.value is not None]
    return {
        ast.unparse(n.target): Parameter(ast.unparse(n.annotation), ast.literal_eval(n.value), "")
        for n in lines
        if n.value is not None
    }
