"""Weights of machines too large to sum: contrastive divergence, persistent or not, and pseudo-likelihood."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
