"""Factor graphs of bounded width: sums, marginals, modes and samples by eliminating one variable after the other."""
