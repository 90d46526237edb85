"""Bayesian networks drawn from their posterior: a candidate of stacked ensembles."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
