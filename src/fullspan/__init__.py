"""Exact probability models of discrete data."""
