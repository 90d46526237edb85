"""Bayesian networks drawn from their posterior: a candidate of stacked ensembles."""
