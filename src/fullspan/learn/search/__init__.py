"""Which terms there are: searches under a description length."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
