"""The one registry: the kind of a model, as the header of its file names it, with all that belongs to it.

    kind -> reader and writer of its files, its Distribution, the estimators that learn it

Loading, saving, the command line and the explorer look a kind up here, and dispatch nowhere else. Entries name their
parts as ``"module:name"``, which are imported when they are first needed, so that ``import fullspan`` stays quick.

A new kind is registered by :func:`register`; ``tests/contract/test_new_kind.py`` shows all that it has to bring.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fullspan.errors import FullspanError
from fullspan.model.files.envelope import Source, parsed
from fullspan.model.files.envelope import kind_of as kind_in

if TYPE_CHECKING:
    from fullspan.estimators.density import DensityEstimator
    from fullspan.query.distribution import Distribution

FilePath = str | os.PathLike[str]


@dataclass(frozen=True)
class Learner:
    """An estimator that learns models of a kind.

    Attributes
    ----------
    home : the module of its class.
    distribution : ``"module:name"`` of the distribution of its models, where it is not that of the kind.
    """

    home: str
    distribution: str | None = None


@dataclass(frozen=True)
class Kind:
    """What belongs to one kind of model.

    Attributes
    ----------
    name : the ``kind`` in the header of its files, and the class attribute ``kind`` of its models.
    files : the module of its files, with ``read(source) -> fitted record`` and ``write(fitted, path)``.
    distribution : ``"module:name"`` of a class with ``of(fitted, max_memory=None)``, the distribution of a record.
    learners : the estimators of such models by the name of their class; the first is taken where a file names none.
    """

    name: str
    files: str
    distribution: str
    learners: Mapping[str, Learner]

    def read(self, source: Source) -> Any:
        """The fitted record in a file."""
        return import_module(self.files).read(source)

    def write(self, fitted: Any, path: FilePath) -> None:
        """Write a fitted record to a file."""
        import_module(self.files).write(fitted, path)

    def estimator(self, name: str) -> type[DensityEstimator]:
        """The class of an estimator by its name.

        Raises
        ------
        FullspanError : no estimator of that name learns models of this kind.
        """
        if name not in self.learners:
            raise FullspanError(
                f"no estimator {name!r} learns models of the kind {self.name!r}; there are {', '.join(self.learners)}"
            )
        found: type[DensityEstimator] = getattr(import_module(self.learners[name].home), name)
        return found


_KINDS: dict[str, Kind] = {}


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
    return found


_FILES, _DISTRIBUTIONS, _ESTIMATORS = "fullspan.model.files", "fullspan.query.distributions", "fullspan.estimators"
_LOG_LINEAR = {
    "FullSpan": Learner(f"{_ESTIMATORS}.full_span"),
    "BoltzmannMachine": Learner(f"{_ESTIMATORS}.boltzmann"),
    "BoltzmannClassifier": Learner(f"{_ESTIMATORS}.classifier"),
    "DecimatableBoltzmannMachine": Learner(
        f"{_ESTIMATORS}.decimatable", f"{_DISTRIBUTIONS}.decimated:DecimatedDistribution"
    ),
}
for _kind in (
    Kind(
        "log-linear",
        f"{_FILES}.log_linear",
        f"{_DISTRIBUTIONS}.log_linear:LogLinearDistribution",
        _LOG_LINEAR,
    ),
    Kind(
        "averaged",
        f"{_FILES}.averaged",
        f"{_DISTRIBUTIONS}.averaged:AveragedDistribution",
        {name: _LOG_LINEAR[name] for name in ("FullSpan", "BoltzmannMachine")},
    ),
    Kind(
        "truncated",
        f"{_FILES}.truncated",
        f"{_DISTRIBUTIONS}.truncated:TruncatedDistribution",
        {"TruncatedBoltzmannMachine": Learner(f"{_ESTIMATORS}.truncated")},
    ),
    Kind(
        "tree",
        f"{_FILES}.tree",
        f"{_DISTRIBUTIONS}.tree:TreeDistribution",
        {name: Learner(f"{_ESTIMATORS}.trees") for name in ("ChowLiuTree", "HiddenChowLiuTree")},
    ),
    Kind(
        "mixture",
        f"{_FILES}.mixture",
        f"{_DISTRIBUTIONS}.mixture:MixtureDistribution",
        {"FullSpanMixture": Learner(f"{_ESTIMATORS}.mixture")},
    ),
    Kind(
        "layers",
        f"{_FILES}.layered",
        f"{_DISTRIBUTIONS}.layered:LayeredDistribution",
        {
            "RestrictedBoltzmannMachine": Learner(f"{_ESTIMATORS}.restricted"),
            "DeepBoltzmannMachine": Learner(f"{_ESTIMATORS}.deep"),
        },
    ),
):
    register(_kind)
