"""The graph that a search of bounded width begins with: that of a Bayesian network whose elimination is cheap.

Growing edge by edge from nothing gets stuck where only many edges together pay. A network search moves whole families,
adds, deletes and turns edges; its moral graph says where tables are worth their cells. Which terms these hold, and what
else the graph can take, is then for the growing to find: the network may take the whole budget, and its edges that no
term uses make room when growing starts again.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fullspan.data import Empirical
from fullspan.engine.elimination.pairs import misfits
from fullspan.learn.base.progress import Interrupted, Progress
from fullspan.learn.networks import learn_network
from fullspan.learn.networks.network import Network
from fullspan.learn.wide.counts import Counts
from fullspan.learn.wide.width import Width
from fullspan.model.algebra.basis import BasisName, Term

_MOST_CELLS = 4096
"""Cells of a network's families up to which all terms inside them are weighed at once."""


def moral_start(
    data: Empirical, width: Width, penalty: str | float, max_order: int | None, tell: Callable[[Progress], None]
) -> tuple[Width, Network | None]:
    """The moral graph of a network learned from the rows, and the network; ``width`` and None where it is too wide.

    If someone stops the search for a network, it is the best so far, which is then not ``is_finished``.

    Raises
    ------
    Interrupted : the search was stopped, and the network is too wide.
    """
    if len(data.space) < 2 or max_order == 1:
        return width, None
    narrow = width.max_width < len(width.cards)
    largest = None if not narrow else max(width.cards) ** (width.max_width + 1)
    network = learn_network(data, max_cells=width.budget, penalty=penalty, watch=tell, max_family=largest)
    found = Width.around(width.cards, network.families, width)
    if found.cells > width.budget or found.width > width.max_width:
        if not network.is_finished:
            raise Interrupted
        return width, None
    return found, network


def weights_of(network: Network, basis: BasisName, max_order: int) -> dict[Term, float] | None:
    """All terms inside the families of a network, and all main effects; None if they are too many or too large."""
    cards = network.space.cards
    cells = sum(math.prod(cards[i] for i in family) for family in network.families)
    if cells > _MOST_CELLS or max(len(family) for family in network.families) > max_order:
        return None
    model = network.log_linear(basis=basis)
    weights = dict(zip(model.terms, model.theta.tolist(), strict=True))
    for i, card in enumerate(cards):
        weights.update({((i, j),): weights.get(((i, j),), 0.0) for j in range(1, card)})
    return weights


def edges_of(network: Network, counts: Counts, main: dict[Term, float], most: int) -> dict[Term, float]:
    """All terms of the pairs that the network's edges join, the most telling pairs first; at most ``most`` terms."""
    cards, found = network.space.cards, dict(main)
    one = np.diag(counts.pairs)
    telling = misfits(counts.pairs, np.outer(one, one), cards)
    edges = {(min(v, p), max(v, p)) for v, parents in enumerate(network.parents) for p in parents}
    for i, j in sorted(edges, key=lambda edge: (-telling[edge], edge)):
        if len(found) + (cards[i] - 1) * (cards[j] - 1) <= most:
            found.update({((i, a), (j, b)): 0.0 for a in range(1, cards[i]) for b in range(1, cards[j])})
    return found
