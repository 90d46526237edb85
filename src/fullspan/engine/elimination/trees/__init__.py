"""Trees of hidden nodes over rows of data: two passes, up and down, give every expectation."""

from fullspan.engine.elimination.trees.tree import Counts, TreeEngine

__all__ = ["Counts", "TreeEngine"]
