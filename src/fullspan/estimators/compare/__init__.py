"""Models side by side on rows that none of them has seen."""
