"""A model file as the estimator that wrote it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullspan.errors import ModelFileError
from fullspan.model.files import layered as layered_file
from fullspan.model.files import log_linear as file
from fullspan.model.files import mixture as mixture_file
from fullspan.model.files import tree as tree_file
from fullspan.model.files import truncated as truncated_file
from fullspan.model.files.strict_json import read_json

if TYPE_CHECKING:
    from fullspan.estimators.density import DensityEstimator

HOMES = {
    "BoltzmannClassifier": "fullspan.estimators.classifier",
    "BoltzmannMachine": "fullspan.estimators.boltzmann",
    "DecimatableBoltzmannMachine": "fullspan.estimators.decimatable",
    "FullSpan": "fullspan.estimators.full_span",
    "TruncatedBoltzmannMachine": "fullspan.estimators.truncated",
}
"""Where each estimator lives that a file may name."""
TREES = {"ChowLiuTree": "fullspan.estimators.trees", "HiddenChowLiuTree": "fullspan.estimators.trees"}
"""The same for files that hold a tree."""
MIXTURES = {"FullSpanMixture": "fullspan.estimators.mixture"}
"""The same for files that hold a mixture."""
LAYERS = {
    "DeepBoltzmannMachine": "fullspan.estimators.deep",
    "RestrictedBoltzmannMachine": "fullspan.estimators.restricted",
}
"""The same for files that hold a machine in layers."""


def load(path: str | os.PathLike[str]) -> DensityEstimator:
    """Read a model file as a fitted estimator, of the class that was saved and with its parameters.

    How the table was cut into levels (``columns``, ``levels``, ``bins``, ``max_levels``) is in the variables of the
    model and not repeated; nor is a seed that is no number.

    Raises
    ------
    ModelFileError : the file is damaged, no model, or written by a newer version.
    """
    document = read_json(Path(path))
    content: Any
    if document["kind"].value == tree_file.KIND:
        tree = tree_file.read_tree(document)
        model: Any = _unfitted(path, tree.settings, "ChowLiuTree", TREES)
        accept, content = model._accept_tree, tree
    elif document["kind"].value == mixture_file.KIND:
        mixture = mixture_file.read_mixture(document)
        model = _unfitted(path, mixture.settings, "FullSpanMixture", MIXTURES)
        accept, content = model._accept_tree, mixture
    elif document["kind"].value == layered_file.KIND:
        layers = layered_file.read_layers(document)
        model = _unfitted(path, layers.settings, "RestrictedBoltzmannMachine", LAYERS)
        accept, content = model._accept, layers
    else:
        truncated = document["kind"].value == truncated_file.KIND
        fitted = truncated_file.read_truncated(document) if truncated else file.load(document)
        model = _unfitted(path, fitted.settings, "TruncatedBoltzmannMachine" if truncated else "FullSpan", HOMES)
        if truncated != (type(model).__name__ == "TruncatedBoltzmannMachine"):
            raise ModelFileError(f"{path} names the estimator {type(model).__name__!r}, which has no such files")
        accept, content = model._accept, fitted
    try:
        accept(content, kind="arrow")
    except ModelFileError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # settings of any type and length
        raise ModelFileError(f"{path} lacks what a {type(model).__name__} needs: {error}") from error
    estimator: DensityEstimator = model
    return estimator


def _unfitted(
    path: str | os.PathLike[str], settings: Mapping[str, Any], default: str, homes: Mapping[str, str]
) -> DensityEstimator:
    """The estimator that a file names, with the parameters among its settings."""
    name = settings.get("estimator", default)
    if not isinstance(name, str) or name not in homes:
        raise ModelFileError(f"{path} names the estimator {name!r}; this version knows {', '.join(homes)}")
    if isinstance(settings.get("average"), bool):  # its name in files of earlier versions
        settings = {**settings, "average": 1, "mean_weights": settings["average"]}
    kind: type[DensityEstimator] = getattr(import_module(homes[name]), name)
    known = kind._get_param_names()
    return kind(**{key: value for key, value in settings.items() if key in known})
