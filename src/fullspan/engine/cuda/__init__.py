"""The dual table on a GPU."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
