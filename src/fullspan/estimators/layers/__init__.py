"""Machines in layers: the restricted and the deep Boltzmann machine, and how their rows are read."""
