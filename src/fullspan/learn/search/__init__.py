"""Which terms there are: searches under a description length."""

from fullspan.lazy import Seam

__getattr__ = Seam(
    __name__,
    {
        "code": "fit_code",
        "fit": "fit_search",
        "full": "full_search",
        "incomplete": "fit_incomplete",
        "options": "Options",
        "paper": "paper_search",
        "penalty": "prices",
        "problem": "Problem",
    },
)
