"""What every learner stands on: progress, stopping, one Newton method, one em loop. Imports no learner."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
