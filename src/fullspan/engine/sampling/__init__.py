"""Sums by sampling: Gibbs chains, tempering, annealed importance sampling, and how far each may be off."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
