"""Compiled sweeps over an order of elimination: forward and backward, for one pattern of evidence or for many."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
