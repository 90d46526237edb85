"""Factor graphs of bounded width: sums, marginals, modes and samples by eliminating one variable after the other.

``ordering`` finds the order, ``sweeps`` holds the compiled loops over it, :class:`ClusterTree` answers questions about
a factor graph and :class:`Sums` about a log-linear model. Two special cases have engines of their own: ``decimation``
for spins with at most three neighbours when they are summed out, and ``trees`` for trees of hidden nodes.
"""

from fullspan.engine.elimination.clusters import Beliefs, ClusterTree
from fullspan.engine.elimination.sums import Sums
from fullspan.lazy import Seam

__all__ = ["Beliefs", "ClusterTree", "Sums"]

__getattr__ = Seam(
    __name__,
    {
        "decimation": "Decimation is_decimatable verdict",
        "ordering.order": "RULES elimination_order given_order",
        "trees": "TreeEngine",
    },
)
