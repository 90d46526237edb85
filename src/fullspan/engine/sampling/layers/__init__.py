"""Layered machines: block Gibbs chains, mean field, log Z by enumeration and by annealing, on any device."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
