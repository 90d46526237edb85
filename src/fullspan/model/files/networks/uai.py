"""The UAI format of graphical models: Markov and Bayesian networks as lists of numbers.

    MARKOV            or BAYES: each factor is then the distribution of its last variable, given the others
    3                 number of variables, x0 x1 x2
    2 2 3             their numbers of levels, 0 .. card-1
    2                 number of factors
    2 0 1             scopes: how many variables, and which
    2 1 2
    4  0.5 1 1 0.5    factors in the same order: how many entries, and these, the last variable of the scope fastest
    6  ...

The text of a file bounds everything: a count is compared with what is there before anything is allocated for it.

Evidence files of the UAI format: which variables were seen, in which state, by position and code.

Two layouts are known. The newer has one sample, the older begins with the number of samples:

    2  1 0  2 1             two variables: 1 is in state 0, and 2 in state 1

    2                       two samples
    1  1 0                  of which the first knows one variable,
    2  1 0  2 1             and the second two

A file that can be read as one sample is; this is decided by the number of its words alone.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space, Variable
from fullspan.errors import ModelFileError
from fullspan.model.files.disk import read_bytes, write_atomically
from fullspan.model.files.networks.bayes import MAX_SCOPE, Flaw, Scope, flaw
from fullspan.model.files.networks.number_list import NumberList
from fullspan.model.graph import FactorGraph

MAX_BYTES = 1 << 30
"""Largest file that is read or written."""
MAX_CARD, MAX_LEVELS = 1 << 16, 1 << 24
"""Most levels of one variable, and of all together."""

_LARGEST_LOG = 700.0
"""Largest size of a log factor: its exponential is a positive double."""


# -- reading --------------------------------------------------------------------------------------------------


def read_uai(path: str | os.PathLike[str]) -> FactorGraph:
    """Read a network, gzipped or not; the variables are named ``x0, x1, ...``, their levels ``0 .. card-1``.

    Raises
    ------
    ModelFileError : the file is missing, or not sound; the message names the file, the line and the reason.
    """
    words = NumberList(read_bytes(Path(path), MAX_BYTES, unpack=True), str(path))
    kind = words.take("MARKOV or BAYES")
    if kind not in (b"MARKOV", b"BAYES"):
        raise words.refuse(f"it begins with {words.shown(0)} instead of MARKOV or BAYES", 0)
    space = _read_space(words)
    cards = space.cards
    scopes = [_read_scope(words, k, len(cards)) for k in range(words.whole("the number of factors"))]
    shapes = [tuple([cards[i] for i in scope]) for scope in scopes]
    starts = [_read_count(words, k, scopes[k], shape) for k, shape in enumerate(shapes)]
    words.end()
    entries = _entries(words, starts[0] - 1 if starts else len(words.words))
    first = len(words.words) - len(entries)
    if kind == b"BAYES" and (found := flaw(space, scopes, _cut(entries, first, starts, shapes))):
        raise words.refuse(found.problem, starts[found.factor] - 1 if found.factor >= 0 else 0)
    with np.errstate(divide="ignore"):
        logs = np.log(entries)
    return FactorGraph(space, tuple(scopes), tuple(_cut(logs, first, starts, shapes)))


def _read_space(words: NumberList) -> Space:
    n = words.whole("the number of variables", least=1)
    at = words.place
    cards = words.wholes(n, "the levels of the variables")
    for i, card in enumerate(cards):
        if not 1 <= card <= MAX_CARD:
            raise words.refuse(f"variable {i} has {card} levels; 1 to {MAX_CARD} are possible", at + i)
    if sum(cards) > MAX_LEVELS:
        raise words.refuse(f"the variables have {sum(cards)} levels together; up to {MAX_LEVELS} are possible", at)
    levels = {card: tuple(range(card)) for card in set(cards)}
    return Space(tuple(Variable(f"x{i}", levels[card]) for i, card in enumerate(cards)))


def _read_scope(words: NumberList, k: int, n: int) -> Scope:
    at = words.place
    scope = tuple(words.wholes(words.whole("the size of a scope"), "the variables of a factor"))
    if scope and max(scope) >= n:
        j, i = next((j, i) for j, i in enumerate(scope) if i >= n)
        raise words.refuse(f"factor {k} names variable {i}; there are {n}, from 0", at + 1 + j)
    if len(scope) > MAX_SCOPE:
        raise words.refuse(f"factor {k} is over {len(scope)} variables; up to {MAX_SCOPE} are possible", at)
    if len(set(scope)) != len(scope):
        raise words.refuse(f"factor {k} names a variable twice: {' '.join(map(str, scope))}", at)
    return scope


def _read_count(words: NumberList, k: int, scope: Scope, shape: tuple[int, ...]) -> int:
    """Step over the entries of a factor; the place of the first one."""
    at, size = words.place, math.prod(shape)
    count = words.whole("the number of entries of a factor")
    if count != size:
        over = " ".join(map(str, scope)) or "no variable"
        raise words.refuse(f"factor {k} over {over} has {size} entries, but {count} are announced", at)
    return words.skip(count, "all entries of a factor")


def _entries(words: NumberList, start: int) -> Array:
    """All words from a place on: entries of factors, with their counts between them."""
    values = words.reals(start)
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        at = start + int(wrong[0])
        raise words.refuse(f"{words.shown(at)} is not an entry of a factor: entries are finite and not negative", at)
    return values


def _cut(values: Array, first: int, starts: Sequence[int], shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """The factors as views of ``values``, which begin at the word ``first``; one axis per variable."""
    return [
        values[start - first : start - first + math.prod(shape)].reshape(shape)
        for start, shape in zip(starts, shapes, strict=True)
    ]


# -- writing --------------------------------------------------------------------------------------------------


def write_uai(graph: FactorGraph, path: str | os.PathLike[str]) -> None:
    """Write a network atomically; names of variables and levels have no place in the format.

    It is written as BAYES where the factors are the conditional distributions of an acyclic graph, each of the last
    variable of its scope, and as MARKOV otherwise. Entries have as many digits as bring the same double back.

    Raises
    ------
    ModelFileError : a factor is beyond the range of doubles, the text would be too large, or cannot be written.
    """
    for scope, table in zip(graph.scopes, graph.tables, strict=True):
        _check_range(graph.space, scope, table, path)
    if 8 * sum(table.size for table in graph.tables) > MAX_BYTES:
        raise ModelFileError(f"{path} cannot be written: it would be larger than {MAX_BYTES >> 20} MiB")
    text = "\n".join(_lines(graph)) + "\n"
    try:
        write_atomically(Path(path), text.encode("ascii"))
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror or error}") from error


def _check_range(space: Space, scope: Scope, table: Array, path: str | os.PathLike[str]) -> None:
    finite = table[np.isfinite(table)]
    if finite.size and np.abs(finite).max() > _LARGEST_LOG:
        raise ModelFileError(
            f"{path} cannot be written: the factor over {', '.join(space.names[i] for i in scope)} goes from "
            f"exp({finite.min():.4g}) to exp({finite.max():.4g}), and an entry is a number between "
            f"exp(-{_LARGEST_LOG:g}) and exp({_LARGEST_LOG:g}), or 0"
        )


def _lines(graph: FactorGraph) -> Iterator[str]:
    tables = [np.exp(table) for table in graph.tables]
    no_network: Flaw | None = flaw(graph.space, graph.scopes, tables)
    yield "MARKOV" if no_network else "BAYES"
    yield str(len(graph.space))
    yield " ".join(map(str, graph.space.cards))
    yield str(len(tables))
    for scope in graph.scopes:
        yield " ".join(map(str, (len(scope), *scope)))
    for table in tables:
        yield f"\n{table.size}"
        for row in table.reshape(-1, table.shape[-1] if table.ndim else 1).tolist():
            yield " " + " ".join(map(repr, row))


Codes = dict[int, int]
"""Codes by position of the variable."""

MAX_EVIDENCE_BYTES = 64 << 20


def read_evidence(path: str | os.PathLike[str], space: Space) -> list[Codes]:
    """The samples of an evidence file; no variable known is a sample too.

    Raises
    ------
    ModelFileError : the file is missing, or not sound, or does not belong to these variables; the message names the
        file, the line and the reason.
    """
    words = NumberList(read_bytes(Path(path), MAX_EVIDENCE_BYTES, unpack=True), str(path))
    count = words.whole("the number of variables seen (0 if none)")
    if len(words.words) == 2 * count + 1:
        return [_read_sample(words, count, space)]
    left = len(words.words) - 1
    if count > left or (count == 0 and left):
        raise words.refuse(
            f"{count} stands first, and {left} numbers follow: neither {count} pairs of variable and state nor "
            f"{count} samples",
            0,
        )
    samples = [_read_sample(words, words.whole(f"the size of sample {k}"), space) for k in range(count)]
    words.end()
    return samples


def _read_sample(words: NumberList, count: int, space: Space) -> Codes:
    codes: Codes = {}
    start = words.place
    pairs = words.wholes(2 * count, f"{count} pairs of variable and state")
    for k, (i, x) in enumerate(zip(pairs[::2], pairs[1::2], strict=True)):
        at = start + 2 * k
        if i >= len(space):
            raise words.refuse(f"there is no variable {i}; there are {len(space)}, from 0", at)
        if x >= space.variables[i].card:
            levels = space.variables[i].card
            raise words.refuse(f"variable {i} cannot be in state {x}; it has {levels} levels, from 0", at + 1)
        if i in codes:
            raise words.refuse(f"variable {i} is listed twice", at)
        codes[i] = x
    return codes
