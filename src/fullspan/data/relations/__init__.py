"""Tables of any kind as relations: rows that stay where they are, asked by queries."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
