"""The graph that a search of bounded width begins with: that of a Bayesian network whose elimination is cheap.

Growing edge by edge from nothing gets stuck where only many edges together pay. A network search moves whole families,
adds, deletes and turns edges; its moral graph says where tables are worth their cells. Which terms these hold, and what
else the graph can take, is then for the growing to find.
"""

from __future__ import annotations

from collections.abc import Callable

from fullspan.data import Empirical
from fullspan.learn.base.progress import Interrupted, Progress
from fullspan.learn.networks import learn_network
from fullspan.learn.wide.width import Width

_SHARE = 0.5
"""Part of the cells that the network may take; the rest is for pairs that it leaves out."""


def moral_start(
    data: Empirical, width: Width, penalty: str | float, max_order: int | None, tell: Callable[[Progress], None]
) -> Width:
    """The moral graph of a network learned from the rows, or ``width``, without edges, where that would be too wide.

    Raises
    ------
    Interrupted : someone has stopped the search for a network.
    """
    if len(data.space) < 2 or max_order == 1:
        return width
    narrow = width.max_width < len(width.cards)
    largest = None if not narrow else max(width.cards) ** (width.max_width + 1)
    network = learn_network(data, max_cells=_SHARE * width.budget, penalty=penalty, watch=tell, max_family=largest)
    if not network.is_finished:
        raise Interrupted
    found = Width.around(width.cards, network.families, width)
    return found if found.cells <= width.budget and found.width <= width.max_width else width
