"""Factor graphs of bounded width: sums, marginals, modes and samples by eliminating one variable after the other.

``ordering`` finds the order, ``sweeps`` holds the compiled loops over it, :class:`ClusterTree` answers questions about
a factor graph and :class:`Sums` about a log-linear model. Two special cases have engines of their own: ``decimation``
for spins with at most three neighbours when they are summed out, and ``trees`` for trees of hidden nodes.
"""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
