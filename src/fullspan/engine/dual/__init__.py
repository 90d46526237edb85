"""The dual table: all expectations at once, moved in place."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
