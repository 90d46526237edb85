"""Questions as people write them: text and events in, boxes of codes and tables of answers out."""
