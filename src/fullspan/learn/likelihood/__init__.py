"""Which weights given terms have: phases, solvers, proportional fitting, em, conditional learning."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
