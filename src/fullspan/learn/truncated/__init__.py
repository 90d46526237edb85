"""Truncated Boltzmann machines: which patterns have a weight, which states there are, and the weights."""
