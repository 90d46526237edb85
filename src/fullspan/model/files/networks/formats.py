"""Models of every known format as factors, by the suffix of the file."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path

from fullspan.errors import ModelFileError, TooLargeError
from fullspan.model.files import averaged, log_linear, mixture, tree
from fullspan.model.files.envelope import kind_of, parsed
from fullspan.model.files.networks.bif import read_bif
from fullspan.model.files.networks.dsc import read_dsc
from fullspan.model.files.networks.hugin import read_net
from fullspan.model.files.networks.uai import read_uai
from fullspan.model.files.networks.xmlbif import read_xmlbif
from fullspan.model.graph import FactorGraph
from fullspan.model.loglinear import LogLinear

MAX_CELLS = 1 << 26
"""Most cells of the tables of one log-linear model."""


def suffix(path: str | os.PathLike[str]) -> str:
    """The suffix of a file's name in lower case, that of what is packed for a ``.gz``."""
    name = Path(path)
    return (Path(name.stem) if name.suffix.lower() == ".gz" else name).suffix.lower()


def read_factors(path: str | os.PathLike[str]) -> FactorGraph:
    """Read a ``.uai`` or ``.bif`` network (also ``.gz``), or the log-linear model or tree in a file of any other name.

    Raises
    ------
    ModelFileError : the file is missing or not sound, or holds a mixture.
    TooLargeError : a term of a log-linear model is over too many variables.
    """
    reader = NETWORKS.get(suffix(path))
    if reader is not None:
        return reader(path)
    document = parsed(path)
    kind = kind_of(document)
    if kind == tree.KIND:
        return tree.read(document).model.graph()
    if kind == mixture.KIND:
        raise ModelFileError(
            f"{path} is a mixture, whose components have graphs of their own: it is not a single product of factors; "
            "fullspan query, sample, impute, score, compare, report and serve take it as it is"
        )
    return factors_of((averaged if kind == averaged.KIND else log_linear).read(document).model)


def factors_of(model: LogLinear) -> FactorGraph:
    """A log-linear model as factors.

    Raises
    ------
    TooLargeError : a term is over too many variables.
    """
    cells = {scope: math.prod(model.basis.cards[i] for i in scope) for scope in {_scope(term) for term in model.terms}}
    if sum(cells.values()) > MAX_CELLS:
        widest = max(cells, key=cells.__getitem__)
        raise TooLargeError(
            f"the tables of the terms would have {sum(cells.values()):,} cells, the largest over {len(widest)} "
            f"variables; up to {MAX_CELLS:,} are possible"
        )
    return FactorGraph.of_loglinear(model)


def _scope(term: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    return tuple(i for i, _ in term)


NETWORKS: dict[str, Callable[[str | os.PathLike[str]], FactorGraph]] = {
    ".uai": read_uai,
    ".bif": read_bif,
    ".net": read_net,
    ".dsc": read_dsc,
    ".xmlbif": read_xmlbif,
    ".bifxml": read_xmlbif,
}
"""Formats of networks, by suffix."""
