"""Differential privacy: noisy interactions within a budget, and the model that explains them."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
