"""What people pass to estimators: tables, targets, evidence, parameters."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
