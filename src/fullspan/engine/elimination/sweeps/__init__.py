"""Compiled sweeps over an order of elimination: forward and backward, for one pattern of evidence or for many."""
