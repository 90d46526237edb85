"""Many small models of one space at once: the whole search of each runs in compiled code, models in parallel."""
