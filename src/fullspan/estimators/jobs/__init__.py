"""What people do with a table besides learning a model of it: synthetic tables, weights, the best predictor."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
