"""Tables and figures of the source papers, re-run and shown beside the published values."""
