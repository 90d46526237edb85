"""The dual table on a GPU."""
