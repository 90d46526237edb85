"""The implementations of :class:`fullspan.query.distribution.Distribution`, one module for each kind of model."""

from fullspan.lazy import Seam

__getattr__ = Seam(
    __name__,
    {
        "averaged": "AveragedDistribution",
        "decimated": "DecimatedDistribution",
        "direct_pairs": "DirectPairs",
        "graph": "GraphDistribution",
        "layered": "LayeredDistribution",
        "log_linear": "LogLinearDistribution",
        "mixture": "MixtureDistribution",
        "sampled": "SampledDistribution",
        "tree": "TreeDistribution",
        "truncated": "TruncatedDistribution",
    },
)
