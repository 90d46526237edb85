"""Tables of any kind as relations: rows that stay where they are, asked by queries."""
