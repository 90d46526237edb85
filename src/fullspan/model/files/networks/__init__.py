"""Networks from other tools: UAI files with their evidence, and BIF files of Bayesian networks."""
