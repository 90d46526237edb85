"""Bayesian networks as text: BIF, its XML form, Hugin's ``.net`` and Microsoft's ``.dsc``.

Numbers have as many digits as bring the same double back. Names and levels that are no single word stand in quotation
marks, which not every program reads.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Variable
from fullspan.errors import ModelFileError
from fullspan.model.files.disk import write_atomically
from fullspan.model.files.networks.draft import MAX_BYTES
from fullspan.model.graph import FactorGraph

Distribution = tuple[tuple[Variable, ...], Array]
"""Parents and, last, the child; and the table of probabilities with an axis for each."""
_WORD = re.compile(r"[\w.+-]+")


def write_bayes(graph: FactorGraph, path: str | os.PathLike[str]) -> None:
    """Write a Bayesian network, each factor the distribution of the last variable of its scope, atomically.

    Raises
    ------
    ModelFileError : a name or level cannot stand in the format, the text would be too large, or cannot be written.
    """
    lines = FORMATS[Path(path).suffix.lower()]
    if 8 * sum(table.size for table in graph.tables) > MAX_BYTES:
        raise ModelFileError(f"{path} cannot be written: it would be larger than {MAX_BYTES >> 20} MiB")
    for variable in graph.space.variables:
        _check_texts(variable, path)
    variables = graph.space.variables
    tables = [
        (tuple(variables[i] for i in scope), np.exp(table))
        for scope, table in zip(graph.scopes, graph.tables, strict=True)
    ]
    text = "\n".join(lines(variables, tables)) + "\n"
    try:
        write_atomically(Path(path), text.encode())
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror or error}") from error


def _check_texts(variable: Variable, path: str | os.PathLike[str]) -> None:
    levels = list(map(str, variable.levels))
    for text in (variable.name, *levels):
        if '"' in text or text != text.strip() or not text.isprintable():
            raise ModelFileError(
                f"{path} cannot be written: {text!r} holds a quotation mark, a control character or outer space, which "
                "the format has no place for; rename it"
            )
    if len(set(levels)) < len(levels):
        raise ModelFileError(f"{path} cannot be written: two levels of {variable.name!r} are the same as text")


def _word(text: object) -> str:
    """A name or level, in quotation marks if it is no single word."""
    return str(text) if _WORD.fullmatch(str(text)) else f'"{text}"'


def _levels(variable: Variable, between: str) -> str:
    return between.join(map(_word, variable.levels))


def _numbers(row: Array, between: str) -> str:
    return between.join(map(repr, row.reshape(-1).tolist()))


def _rows(table: Array) -> Iterator[tuple[tuple[int, ...], Array]]:
    """The codes of the parents, the last one fastest, and the distribution of the child."""
    for state in np.ndindex(table.shape[:-1]):
        yield state, table[state]


def _bif(variables: tuple[Variable, ...], tables: list[Distribution]) -> Iterator[str]:
    yield "network fullspan {\n}"
    for v in variables:
        yield f"variable {_word(v.name)} {{\n  type discrete [ {v.card} ] {{ {_levels(v, ', ')} }};\n}}"
    for (*parents, child), table in tables:
        given = f" | {', '.join(_word(v.name) for v in parents)}" if parents else ""
        yield f"probability ( {_word(child.name)}{given} ) {{"
        for state, row in _rows(table):
            levels = ", ".join(_word(v.levels[x]) for v, x in zip(parents, state, strict=True))
            yield f"  {f'({levels})' if parents else 'table'} {_numbers(row, ', ')};"
        yield "}"


def _net(variables: tuple[Variable, ...], tables: list[Distribution]) -> Iterator[str]:
    yield "net\n{\n}"
    for v in variables:
        states = " ".join(f'"{level}"' for level in v.levels)
        yield f"node {_word(v.name)}\n{{\n  states = ( {states} );\n}}"
    for (*parents, child), table in tables:
        given = f" | {' '.join(_word(v.name) for v in parents)}" if parents else ""
        yield f"potential ( {_word(child.name)}{given} )\n{{\n  data = {_nested(table)};\n}}"


def _nested(table: Array) -> str:
    """Lists in lists, the child innermost."""
    if table.ndim == 1:
        return f"( {_numbers(table, ' ')} )"
    return f"({chr(10).join(map(_nested, table))})"


def _dsc(variables: tuple[Variable, ...], tables: list[Distribution]) -> Iterator[str]:
    yield 'belief network "fullspan"'
    for v in variables:
        levels = ", ".join(f'"{level}"' for level in v.levels)
        yield f"node {_word(v.name)} {{\n  type : discrete [ {v.card} ] = {{ {levels} }};\n}}"
    for (*parents, child), table in tables:
        given = f" | {', '.join(_word(v.name) for v in parents)}" if parents else ""
        yield f"probability ( {_word(child.name)}{given} ) {{"
        for state, row in _rows(table):
            codes = f"({', '.join(map(str, state))}) : " if parents else ""
            yield f"  {codes}{_numbers(row, ', ')};"
        yield "}"


def _xmlbif(variables: tuple[Variable, ...], tables: list[Distribution]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n<NAME>fullspan</NAME>'
    for v in variables:
        outcomes = "".join(f"\n  <OUTCOME>{escape(str(level))}</OUTCOME>" for level in v.levels)
        yield f'<VARIABLE TYPE="nature">\n  <NAME>{escape(v.name)}</NAME>{outcomes}\n</VARIABLE>'
    for (*parents, child), table in tables:
        yield f"<DEFINITION>\n  <FOR>{escape(child.name)}</FOR>"
        yield from (f"  <GIVEN>{escape(v.name)}</GIVEN>" for v in parents)
        yield "  <TABLE>"
        yield from (_numbers(row, " ") for _, row in _rows(table))
        yield "  </TABLE>\n</DEFINITION>"
    yield "</NETWORK>\n</BIF>"


FORMATS: dict[str, Callable[[tuple[Variable, ...], list[Distribution]], Iterator[str]]] = {
    ".bif": _bif,
    ".net": _net,
    ".dsc": _dsc,
    ".xmlbif": _xmlbif,
    ".bifxml": _xmlbif,
}
"""The lines of a text, by suffix."""
