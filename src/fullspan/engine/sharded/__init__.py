"""The dual table over several devices and hosts (JAX)."""
