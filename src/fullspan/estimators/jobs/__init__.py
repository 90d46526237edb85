"""What people do with a table besides learning a model of it: synthetic tables, weights, the best predictor."""
