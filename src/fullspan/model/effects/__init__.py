"""Effects in words: components that no basis changes, ratios of named levels, interactions."""
