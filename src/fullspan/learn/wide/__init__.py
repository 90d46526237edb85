"""Search for hundreds of variables: decomposable models of bounded width, their terms, and mixtures of them."""

from fullspan.lazy import Seam

__getattr__ = Seam(
    __name__,
    {
        "chordal": "Chordal",
        "fit": "WideOptions fit_wide",
    },
)
