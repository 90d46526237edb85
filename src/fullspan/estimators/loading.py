"""A model file as the estimator that wrote it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fullspan.errors import ModelFileError
from fullspan.estimators.registry import Kind, kind_of, read_fitted

if TYPE_CHECKING:
    from fullspan.estimators.density import DensityEstimator


def load(path: str | os.PathLike[str]) -> DensityEstimator:
    """Read a model file as a fitted estimator, of the class that was saved and with its parameters.

    How the table was cut into levels (``columns``, ``levels``, ``bins``, ``max_levels``) is in the variables of the
    model and not repeated; nor is a seed that is no number.

    Raises
    ------
    ModelFileError : the file is damaged, no model, or written by a newer version.
    """
    fitted = read_fitted(path)
    model = _unfitted(path, fitted.settings, kind_of(fitted))
    try:
        model._accept(fitted, kind="arrow")
    except ModelFileError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # settings of any type and length
        raise ModelFileError(f"{path} lacks what a {type(model).__name__} needs: {error}") from error
    return model


def _unfitted(path: str | os.PathLike[str], settings: Mapping[str, Any], kind: Kind) -> DensityEstimator:
    """The estimator that a file names, with the parameters among its settings."""
    name = settings.get("estimator", next(iter(kind.learners)))
    if not isinstance(name, str) or name not in kind.learners:
        raise ModelFileError(
            f"{path} names the estimator {name!r}; models of the kind {kind.name!r} are those of "
            f"{', '.join(kind.learners)}"
        )
    if isinstance(settings.get("average"), bool):  # its name in files of earlier versions
        settings = {**settings, "average": 1, "mean_weights": settings["average"]}
    estimator = kind.estimator(name)
    known = estimator._get_param_names()
    return estimator(**{key: value for key, value in settings.items() if key in known})
