"""Differential privacy: noisy interactions within a budget, and the model that explains them."""
