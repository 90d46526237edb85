"""Mixtures of decomposable models of a few dozen variables, learned in compiled code: what stands beside searches."""
