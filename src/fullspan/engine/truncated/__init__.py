"""A log-linear model on a list of states instead of all: sparse 0/1 features, exact sums over the list."""
