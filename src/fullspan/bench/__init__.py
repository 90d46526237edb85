"""Measurements that a user runs on a machine of theirs: ``fullspan bench``."""
