"""Questions about many rows at once: probabilities of partial states, and completions of missing cells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from fullspan.engine.elimination import draw_columns, log_sum_rows
from fullspan.errors import QueryError
from fullspan.query.completion import MAX_COMPLETIONS, Rows, batches, completions, n_completions, patterns

if TYPE_CHECKING:
    from fullspan.query.answer import Oracle

How = Literal["mode", "draw"]
Array = NDArray[np.float64]

_LOOK_UPS = 1 << 8
"""Cells of a row's observed marginal up to which it is looked up before anything else is tried."""
_FLOOR = 1e-6
"""Probability below which a look-up is not trusted."""


def log_prob(oracle: Oracle, rows: Rows) -> Array:
    """``log P`` of the observed cells of each row."""
    model = oracle.model
    out = np.full(len(rows), np.nan)
    complete = (rows >= 0).all(axis=1)
    out[complete] = model.log_prob(rows[complete])
    _look_up(oracle, rows, out)
    left = np.flatnonzero(np.isnan(out))
    for missing, members in patterns(rows[left]):
        chosen = left[members]
        if n_completions(model.basis, missing) <= MAX_COMPLETIONS:
            for part, exponents in batches(model, rows[chosen], missing):
                out[chosen[part]] = log_sum_rows(exponents) - model.log_z
        else:
            for evidence, same in _distinct(rows, chosen):
                out[same] = float(oracle.elimination.log_sums((), evidence)) - model.log_z
    np.minimum(out, 0.0, out=out)
    return out


def _look_up(oracle: Oracle, rows: Rows, out: Array) -> None:
    """Fill in what a few look-ups in the dual table answer precisely enough."""
    cards = np.array(oracle.model.basis.cards, dtype=np.float64)
    cells = np.exp(np.where(rows >= 0, np.log(cards), 0.0).sum(axis=1))
    narrow = np.flatnonzero(np.isnan(out) & (cells < _LOOK_UPS + 0.5))
    if not len(narrow) or oracle.table is None:
        return
    from fullspan.engine.cells import cell_probabilities

    basis = oracle.model.basis
    found = cell_probabilities(
        oracle.table.eta,
        rows[narrow],
        np.array(basis.cards, dtype=np.int64),
        np.array(basis.strides, dtype=np.int64),
        basis.kinds,
        _LOOK_UPS,
    )
    precise = found >= _FLOOR
    out[narrow[precise]] = np.log(found[precise])


def impute(oracle: Oracle, rows: Rows, how: How, rng: np.random.Generator | None) -> Rows:
    """Rows with their missing cells filled in; ``rows`` is changed and returned."""
    if how == "draw" and rng is None:
        raise QueryError("draws need a random generator: pass rng=numpy.random.default_rng(seed)")
    for missing, members in patterns(rows):
        if not missing:
            continue
        if n_completions(oracle.model.basis, missing) <= MAX_COMPLETIONS:
            _impute_narrow(oracle, rows, missing, members, rng if how == "draw" else None)
        else:
            _impute_wide(oracle, rows, members, rng if how == "draw" else None)
    return rows


def _impute_narrow(
    oracle: Oracle, rows: Rows, missing: tuple[int, ...], members: NDArray[np.intp], rng: np.random.Generator | None
) -> None:
    table = completions(oracle.model.basis, missing)
    for part, exponents in batches(oracle.model, rows[members], missing):
        choice = exponents.argmax(axis=1) if rng is None else draw_columns(exponents.T, rng.random(len(exponents)))
        rows[members[part][:, None], np.array(missing)] = table[choice]


def _impute_wide(oracle: Oracle, rows: Rows, members: NDArray[np.intp], rng: np.random.Generator | None) -> None:
    for evidence, same in _distinct(rows, members):
        if rng is None:
            rows[same] = oracle.elimination.mode(evidence)
        else:
            rows[same] = oracle.elimination.sample(len(same), rng, evidence)


def level_probabilities(oracle: Oracle, rows: Rows) -> dict[str, Array]:
    """Probability of each variable's levels given the observed cells of each row."""
    space = oracle.model.space
    out = [(rows[:, i, None] == np.arange(card)).astype(np.float64) for i, card in enumerate(space.cards)]
    for missing, members in patterns(rows):
        if missing and n_completions(oracle.model.basis, missing) <= MAX_COMPLETIONS:
            _means_narrow(oracle, rows, missing, members, out)
        elif missing:
            _means_wide(oracle, rows, missing, members, out)
    return dict(zip(space.names, out, strict=True))


def _means_narrow(
    oracle: Oracle, rows: Rows, missing: tuple[int, ...], members: NDArray[np.intp], out: list[Array]
) -> None:
    cards = [oracle.model.basis.cards[i] for i in missing]
    for part, exponents in batches(oracle.model, rows[members], missing):
        p = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        for a, i in enumerate(missing):
            cube = p.reshape(len(p), math.prod(cards[a + 1 :]), cards[a], math.prod(cards[:a]))
            out[i][members[part]] = cube.sum(axis=(1, 3))


def _means_wide(
    oracle: Oracle, rows: Rows, missing: tuple[int, ...], members: NDArray[np.intp], out: list[Array]
) -> None:
    for evidence, same in _distinct(rows, members):
        for i in missing:
            out[i][same] = oracle._cells((i,), {}, evidence)


def _distinct(rows: Rows, members: NDArray[np.intp]) -> Iterator[tuple[dict[int, tuple[int, ...]], NDArray[np.intp]]]:
    """Pairs (evidence, rows that have it) among rows that miss the same cells."""
    different, inverse = np.unique(rows[members], axis=0, return_inverse=True)
    for n, row in enumerate(different):
        yield {i: (int(x),) for i, x in enumerate(row) if x >= 0}, members[inverse.ravel() == n]
