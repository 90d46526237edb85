"""Networks from other tools: UAI files with their evidence, and BIF files of Bayesian networks."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
