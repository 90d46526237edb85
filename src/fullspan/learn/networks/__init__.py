"""Bayesian networks averaged over their posterior: what stands beside the searches of an average."""
