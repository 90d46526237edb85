"""Generic hidden trees and their distributions by enumeration, for tests."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from fullspan.data import Space
from fullspan.model import HiddenTree

CARDS = (2, 3, 1, 4, 2)
PARENTS = (3, -1, 1, 1, 3)


def generic_tree(seed: int = 0, cards: tuple[int, ...] = CARDS, k: int = 3) -> HiddenTree:
    """A hidden tree at random tables; with five variables the branching one of PARENTS, else a random tree."""
    rng = np.random.default_rng(seed)
    n, c = len(cards), max(cards)
    parents = np.array(PARENTS if n == 5 else [-1, *(int(rng.integers(i)) for i in range(1, n))])
    transitions = rng.dirichlet(np.ones(k), size=(n, k))
    transitions[parents == -1] = 0
    emissions = np.zeros((n, k, c))
    for i, card in enumerate(cards):
        emissions[i, :, :card] = rng.dirichlet(np.ones(card), size=k)
    return HiddenTree(Space.of_cards(cards), parents, rng.dirichlet(np.ones(k)), transitions, emissions)


def joint(tree: HiddenTree) -> NDArray[np.float64]:
    """p(x) with one axis per variable, by summing over all states of all hidden nodes."""
    cards, k, n = tree.space.cards, tree.n_states, len(tree.space)
    p = np.zeros(cards)
    for x in itertools.product(*map(range, cards)):
        for z in itertools.product(range(k), repeat=n):
            weight = 1.0
            for i, parent in enumerate(tree.parents):
                weight *= tree.prior[z[i]] if parent < 0 else tree.transitions[i, z[parent], z[i]]
                weight *= tree.emissions[i, z[i], x[i]]
            p[x] += weight
    return p


def all_states(cards: tuple[int, ...]) -> NDArray[np.int64]:
    """Every state, one per row, the last variable fastest."""
    return np.array(list(itertools.product(*map(range, cards))))
