"""Trees from data: Chow and Liu, and trees of hidden nodes."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
