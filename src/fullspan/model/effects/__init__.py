"""Effects in words: components that no basis changes, ratios of named levels, interactions."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
