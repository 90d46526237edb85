"""Tables in and out: levels and bins of columns, missing values, counts of distinct rows, filled cells."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
