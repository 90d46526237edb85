"""Learning of layered machines by (persistent) contrastive divergence."""
