"""Weights of machines too large to sum: contrastive divergence, persistent or not, and pseudo-likelihood."""
