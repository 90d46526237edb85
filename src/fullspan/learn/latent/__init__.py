"""Continuous latent variables: a small network gives a tree for every point of a torus, and points are summed over.

decoder     the network and its gradient
points      shifted lattices on the torus
fit         learning by exact likelihood over the points, which ends as a finite mixture of trees of one shape
"""

from fullspan.learn.latent.fit import LatentFit, LatentOptions, fit_latent

__all__ = ["LatentFit", "LatentOptions", "fit_latent"]
