"""Machines of spins whose nodes have few neighbours, summed out by closed rules (Rueger 1997)."""
