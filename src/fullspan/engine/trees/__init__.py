"""Trees of hidden nodes over rows of data."""
