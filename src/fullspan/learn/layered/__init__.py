"""Learning of layered machines by (persistent) contrastive divergence."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
