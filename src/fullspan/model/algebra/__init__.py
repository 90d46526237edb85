"""Bases: terms, their products, and the transforms between a basis and the states."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
