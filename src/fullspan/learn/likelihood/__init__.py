"""Which weights given terms have: phases, solvers, proportional fitting, em, conditional learning."""
