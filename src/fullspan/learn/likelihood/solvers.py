"""The solvers of a machine by name; apart from their options, so that a saved model can be described quickly."""

from __future__ import annotations

from typing import Literal

Solver = Literal["auto", "newton", "lbfgs", "gradient", "ipf", "pcd", "cd", "pseudo"]
SOLVERS: tuple[Solver, ...] = ("auto", "newton", "lbfgs", "gradient", "ipf", "pcd", "cd", "pseudo")
BY_CHAINS = ("pcd", "cd")
"""Solvers by Gibbs chains. They have no tolerance: their weights move until the updates are used up."""
BEYOND_THE_TABLE = (*BY_CHAINS, "pseudo")
"""Solvers that hold no table over the states, and find no maximum of the likelihood.

See :mod:`fullspan.learn.contrastive`.
"""
IN_WORDS = {
    "pcd": "persistent contrastive divergence",
    "cd": "contrastive divergence",
    "pseudo": "pseudo-likelihood",
}
"""What those are called in sentences."""
