"""The implementations of :class:`fullspan.query.distribution.Distribution`, one module for each kind of model."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
