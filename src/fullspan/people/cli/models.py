"""Model files and networks as commands need them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullspan.errors import FullspanError

if TYPE_CHECKING:
    import numpy as np

    from fullspan.query.distribution import Distribution


def joint_model(path: Path) -> Any:
    """The fitted record in a file, if it is of a model of all its variables.

    Raises
    ------
    ModelFileError : the file cannot be read.
    FullspanError : it is a classifier, which says nothing about its inputs: their probabilities mean nothing.
    """
    from fullspan.estimators.registry import read_fitted

    fitted = read_fitted(path)
    if fitted.is_conditional:
        roles = fitted.settings.get("roles") or fitted.settings
        outputs, inputs = ", ".join(roles["outputs"]) or "its other columns", ", ".join(roles["inputs"])
        raise FullspanError(
            f"{str(path)!r} is a classifier: it knows {outputs} given {inputs}, and not how likely these are; "
            "use fullspan.load(...).predict_proba in Python, or fit the joint model with fullspan fit"
        )
    return fitted


def distribution_in(path: Path, max_memory: int | None = None) -> Distribution:
    """The distribution of the model or network in a file.

    Raises
    ------
    ModelFileError, FullspanError : as :func:`joint_model`.
    """
    from fullspan.estimators.networks import read_graph
    from fullspan.estimators.registry import distribution_of
    from fullspan.model.files.networks.formats import NETWORKS, suffix

    if suffix(path) in NETWORKS:
        return read_graph(path, max_memory).distribution_
    return distribution_of(joint_model(path), max_memory)


def walked(distribution: Distribution, rng: np.random.Generator) -> Distribution:
    """The distribution, or, where its log Z could only be estimated, Gibbs chains on its model."""
    return distribution.by_chains(rng) if distribution.exact and not distribution.log_z.exact else distribution
