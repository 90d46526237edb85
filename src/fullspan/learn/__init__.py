"""Learners: how theta is found. ``fit`` in the module of that name ties them together."""
