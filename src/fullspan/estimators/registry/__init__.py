"""The one registry: the kind of a model, as the header of its file names it, with all that belongs to it.

    kind -> reader and writer of its files, its Distribution, the estimators that learn it

Loading, saving, the command line and the explorer look a kind up here, and dispatch nowhere else. Entries name their
parts as ``"module:name"``, which are imported when they are first needed, so that ``import fullspan`` stays quick.

A new kind is registered by :func:`register`; ``tests/contract/test_new_kind.py`` shows all that it has to bring.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fullspan.errors import FullspanError, ModelFileError
from fullspan.estimators.registry.entries import KINDS, FilePath, Kind, Learner
from fullspan.model.files.envelope import kind_of as kind_in
from fullspan.model.files.envelope import parsed

if TYPE_CHECKING:
    from fullspan.estimators.density import DensityEstimator
    from fullspan.query.distribution import Distribution

_KINDS = {kind.name: kind for kind in KINDS}


def register(kind: Kind) -> None:
    """Add a kind of model, or replace it."""
    _KINDS[kind.name] = kind


def kinds() -> dict[str, Kind]:
    """All kinds by name."""
    return dict(_KINDS)


def learners() -> dict[str, type[DensityEstimator]]:
    """The classes of all estimators by name, which imports them."""
    return {name: kind.estimator(name) for kind in _KINDS.values() for name in kind.learners}


def resolved(where: str) -> Any:
    """What ``"module:name"`` names."""
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


def kind_of(fitted: Any) -> Kind:
    """The kind of a fitted record.

    Raises
    ------
    FullspanError : it is not registered.
    """
    name = fitted.model.kind
    if name not in _KINDS:
        raise FullspanError(f"models of the kind {name!r} are not registered; there are {', '.join(_KINDS)}")
    return _KINDS[name]


def read_fitted(path: FilePath) -> Any:
    """The fitted record in a model file of any kind.

    Raises
    ------
    ModelFileError : the file is missing, damaged, of an unknown kind, or written by a newer version.
    """
    document = parsed(path)
    name = kind_in(document)
    known = name if name in _KINDS else "log-linear"  # whose reader says what is wrong with a file of another kind
    return _KINDS[known].read(document)


def write_fitted(fitted: Any, path: FilePath) -> None:
    """Write a fitted record of any kind to one text file, atomically."""
    kind_of(fitted).write(fitted, path)


def distribution_of(fitted: Any, max_memory: int | None = None) -> Distribution:
    """The distribution of a fitted record of any kind; ``max_memory`` bounds its tables, in bytes."""
    kind = kind_of(fitted)
    learner = kind.learners.get(fitted.settings.get("estimator", ""))
    own = learner.distribution if learner is not None else None
    found: Distribution = resolved(own or kind.distribution).of(fitted, max_memory)
    found.total = getattr(fitted, "total", None)
    return found


def load(path: str | os.PathLike[str]) -> DensityEstimator:
    """Read a model file as a fitted estimator, of the class that was saved and with its parameters.

    How the table was cut into levels (``columns``, ``levels``, ``bins``, ``max_levels``) is in the variables of the
    model and not repeated; nor is a seed that is not a number.

    Parameters
    ----------
    path : a model file, as ``save`` or ``fullspan fit`` write it.

    Raises
    ------
    ModelFileError : the file is damaged, not a model, or written by a newer version.

    Examples
    --------
    >>> import tempfile
    >>> import fullspan as fs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/tree.fsm"
    ...     fs.ChowLiuTree().fit([["rain", "wet"]] * 6 + [["dry", "dry"]] * 4).save(path)
    ...     tree = fs.load(path)
    >>> type(tree).__name__, round(tree.probability("x0=rain"), 3)
    ('ChowLiuTree', 0.591)
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


__all__ = [
    "Kind",
    "Learner",
    "distribution_of",
    "kind_of",
    "kinds",
    "learners",
    "load",
    "read_fitted",
    "register",
    "resolved",
    "write_fitted",
]
