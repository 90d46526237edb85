"""Truncated Boltzmann machines: which patterns have a weight, which states there are, and the weights."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
