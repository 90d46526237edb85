"""What a fitted model found, as people read it: interactions, terms, summaries, limits, pictures."""
