"""The graph that a search of bounded width begins with: that of a Bayesian network whose elimination is cheap.

Growing edge by edge from nothing gets stuck where only many edges together pay. A network search moves whole families,
adds, deletes and turns edges; its moral graph says where tables are worth their cells. Which terms these hold, and what
else the graph can take, is then for the growing to find.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from fullspan.data import Empirical
from fullspan.learn.base.progress import Interrupted, Progress
from fullspan.learn.networks import learn_network
from fullspan.learn.networks.network import Network
from fullspan.learn.wide.width import Width
from fullspan.model.algebra.basis import BasisName, Term

_SHARE = 0.5
"""Part of the cells that the network may take; the rest is for pairs that it leaves out."""
_MOST = 4096
"""Cells of a network's families up to which all terms inside them are weighed at once."""


def moral_start(
    data: Empirical, width: Width, penalty: str | float, max_order: int | None, tell: Callable[[Progress], None]
) -> tuple[Width, Network | None]:
    """The moral graph of a network learned from the rows, and the network; ``width`` and None where it is too wide.

    Raises
    ------
    Interrupted : someone has stopped the search for a network.
    """
    if len(data.space) < 2 or max_order == 1:
        return width, None
    narrow = width.max_width < len(width.cards)
    largest = None if not narrow else max(width.cards) ** (width.max_width + 1)
    network = learn_network(data, max_cells=_SHARE * width.budget, penalty=penalty, watch=tell, max_family=largest)
    if not network.is_finished:
        raise Interrupted
    found = Width.around(width.cards, network.families, width)
    if found.cells > width.budget or found.width > width.max_width:
        return width, None
    return found, network


def weights_of(network: Network, basis: BasisName, max_order: int) -> dict[Term, float] | None:
    """All terms inside the families of a network, and all main effects; None if they are too many or too large."""
    cards = network.space.cards
    cells = sum(math.prod(cards[i] for i in family) for family in network.families)
    if cells > _MOST or max(len(family) for family in network.families) > max_order:
        return None
    model = network.log_linear(basis=basis)
    weights = dict(zip(model.terms, model.theta.tolist(), strict=True))
    for i, card in enumerate(cards):
        weights.update({((i, j),): weights.get(((i, j),), 0.0) for j in range(1, card)})
    return weights
