"""Tables in and out: levels and bins of columns, missing values, counts of distinct rows, filled cells."""
