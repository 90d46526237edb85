"""Learners: how theta is found. ``search.fit`` and ``likelihood.machine`` tie them together."""
