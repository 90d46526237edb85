"""The dual table: all expectations at once, moved in place."""
