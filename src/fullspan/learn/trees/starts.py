"""Where em on a hidden tree begins: two methods to break the symmetry of the hidden states.

``"rows"``: near a mixture. Transitions hardly leave a state, and state z of every node leans towards row z of a random
sample: what em finds first are kinds of rows, and the tree refines them. ``"tree"``: near the Chow–Liu tree. State z of
node i leans towards level z mod \\|X_i\\|, and transitions are those of the Chow–Liu tree, each shared out at random:
what em finds first are kinds of levels. Which is better depends on the data; both are tried in turn. Rows and levels
are counted in an order of the data's own (module ``data.canonical``), so that other labels begin at the same tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.canonical import canonical_levels, canonical_states
from fullspan.model.hidden_tree import HiddenTree

_STAY, _LEAN, _SPLIT = 0.9, 0.3, 0.8
_LEAST_PROBABILITY = 1e-4
"""Least probability, so that em can move everything."""


def level_shares(empirical: Empirical) -> Array:
    """Share (n, C) of each level among a variable's observed cells, half a row added to every level."""
    cards = empirical.space.cards
    shares = np.zeros((len(cards), max(cards)))
    for own, counts in zip(shares, empirical.level_counts(), strict=True):
        own[: len(counts)] = (counts + 0.5) / (counts + 0.5).sum()
    return shares


def start(
    empirical: Empirical, chow_liu: HiddenTree, n_states: int, rng: np.random.Generator, *, from_rows: bool
) -> HiddenTree:
    """A hidden tree to begin em at, near a mixture of rows or near the Chow–Liu tree."""
    shares = level_shares(empirical)
    make = _from_rows if from_rows else _from_tree
    prior, transitions, emissions = make(empirical, chow_liu, n_states, shares, rng)
    transitions[chow_liu.order[0]] = 0.0
    return HiddenTree(empirical.space, chow_liu.parents, prior, transitions, emissions)


def _from_rows(
    empirical: Empirical, chow_liu: HiddenTree, k: int, shares: Array, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    n, c = shares.shape
    order = canonical_states(empirical)
    chosen = order[rng.choice(len(order), size=k, p=empirical.counts[order] / empirical.total)]
    rows = empirical.states[chosen].astype(np.int64).T
    leaning = np.where(rows[:, :, None] >= 0, np.arange(c) == rows[:, :, None], shares[:, None, :])
    emissions = (1 - _LEAN) * shares[:, None, :] + _LEAN * leaning
    transitions = _STAY * np.eye(k) + (1 - _STAY) * rng.dirichlet(np.ones(k), size=(n, k))
    return np.full(k, 1 / k), transitions, emissions


def _from_tree(
    empirical: Empirical, chow_liu: HiddenTree, k: int, shares: Array, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    n, c = shares.shape
    cards = np.array(empirical.space.cards)
    order = canonical_levels(empirical)
    level = np.stack([own[np.arange(k) % len(own)] for own in order])
    noise = _within(rng.random((n, k, c)), cards)
    for i, own in enumerate(order):
        noise[i][:, own] = noise[i][:, : len(own)].copy()
    emissions = _SPLIT * (np.arange(c) == level[:, :, None]) + (1 - _SPLIT) * noise
    transitions = rng.gamma(1.0, size=(n, k, k))
    for i, p in enumerate(chow_liu.parents.tolist()):
        if p >= 0:
            transitions[i] *= chow_liu.transitions[i][level[p][:, None], level[i][None, :]] + _LEAST_PROBABILITY
    prior = chow_liu.prior[level[chow_liu.order[0]]] + _LEAST_PROBABILITY
    return _shared(prior), _shared(transitions), emissions


def _within(values: Array, cards: NDArray[Any]) -> Array:
    """Shares of random values over the levels that a variable has."""
    return _shared(values * (np.arange(values.shape[2]) < cards[:, None])[:, None, :])


def _shared(values: Array) -> Array:
    return np.asarray(values / values.sum(axis=-1, keepdims=True))
