"""What a fitted model found, as people read it: interactions, terms, summaries, limits, pictures."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
