"""Sums by sampling: Gibbs chains, tempering, annealed importance sampling, and how far each may be off."""

from fullspan.lazy import Seam

__getattr__ = Seam(
    __name__,
    {
        "annealing": "TargetPath annealed annealed_runs",
        "answers": "Eliminated Sampled Tabulated",
        "chains": "Chains",
        "choose": "pairwise_of target_of",
        "diagnostics": "diagnose effective_size r_hat",
        "factors": "Factors",
        "layers.annealing": "annealed_log_z",
        "layers.device": "Device",
        "layers.network": "Network",
        "pairwise": "Pairwise",
        "partition": "exact_log_z log_z",
        "target": "Base Target",
        "tempering": "Tempered",
        "two_layers": "layer_log_z",
    },
)
