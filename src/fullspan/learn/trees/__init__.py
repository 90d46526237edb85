"""Trees from data: Chow and Liu, and trees of hidden nodes."""
