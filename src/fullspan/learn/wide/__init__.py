"""Search for hundreds of variables: decomposable models of bounded width, their terms, and mixtures of them."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
