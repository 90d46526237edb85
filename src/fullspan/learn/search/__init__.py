"""Which terms there are: searches under a description length."""
