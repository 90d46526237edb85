"""Trees from data: Chow and Liu, and trees of hidden nodes."""

from fullspan.lazy import Seam

__getattr__ = Seam(
    __name__,
    {
        "hidden_tree": "TreeOptions fit_hidden_tree",
        "pairs": "mutual_information pair_counts",
    },
)
