"""A model file as the estimator that wrote it."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

from fullspan.errors import ModelFileError, QueryError
from fullspan.model.file import load as read

if TYPE_CHECKING:
    from fullspan.estimators.density import DensityEstimator

HOMES = {
    "BoltzmannClassifier": "fullspan.estimators.classifier",
    "BoltzmannMachine": "fullspan.estimators.boltzmann",
    "DecimatableBoltzmannMachine": "fullspan.estimators.decimatable",
    "FullSpan": "fullspan.estimators.full_span",
}
"""Where each estimator lives that a file may name."""


def load(path: str | os.PathLike[str]) -> DensityEstimator:
    """Read a model file as a fitted estimator, of the class that was saved and with its parameters.

    How the table was cut into levels (``columns``, ``levels``, ``bins``, ``max_levels``) is in the variables of the
    model and not repeated; nor is a seed that is no number.

    Raises
    ------
    ModelFileError : the file is damaged, no model, or written by a newer version.
    """
    fitted = read(path)
    name = fitted.settings.get("estimator", "FullSpan")
    if not isinstance(name, str) or name not in HOMES:
        raise ModelFileError(f"{path} names the estimator {name!r}; this version knows {', '.join(HOMES)}")
    kind: type[DensityEstimator] = getattr(import_module(HOMES[name]), name)
    known = kind._get_param_names()
    model = kind(**{key: value for key, value in fitted.settings.items() if key in known})
    try:
        model._accept(fitted, kind="arrow")
    except (KeyError, TypeError, QueryError) as error:
        raise ModelFileError(f"{path} lacks what a {name} needs: {error}") from error
    return model
