"""Model files and networks as commands need them."""

from __future__ import annotations

import enum
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullspan.errors import FullspanError

if TYPE_CHECKING:
    import numpy as np

    from fullspan.estimators.inputs.reading import Reading
    from fullspan.query.distribution import Distribution

NA_HELP = "Text that marks a missing value, instead of the default list. May be repeated; '' means empty cells only."


class Unknown(enum.StrEnum):
    """What a value is that the model has no level for."""

    error = "error"
    missing = "missing"


Na = Annotated[list[str] | None, typer.Option("--na", help=NA_HELP)]
OnUnknown = Annotated[
    Unknown | None,
    typer.Option(
        "--unknown",
        help="What to do with a value that the model has not seen: report an error, or treat it as missing.",
    ),
]


def changes(na: list[str] | None, unknown: Unknown | None = None) -> dict[str, Any]:
    """The parameters of reading that the options change."""
    changed: dict[str, Any] = {} if na is None else {"na_values": na}
    return changed if unknown is None else {**changed, "handle_unknown": unknown.value}


def reading_of(fitted: Any, na: list[str] | None, unknown: Unknown | None) -> Reading:
    """The reading a model was fitted with, as the options change it."""
    from fullspan.estimators.inputs.reading import Reading

    return replace(Reading.of(fitted), **changes(na, unknown))


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
            f"{str(path)!r} is a classifier: it predicts {outputs} given {inputs}, and has no probabilities of these; "
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
