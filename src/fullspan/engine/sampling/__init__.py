"""Sums by sampling: Gibbs chains, tempering, annealed importance sampling, and how far each may be off."""
