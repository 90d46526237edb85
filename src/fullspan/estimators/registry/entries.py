"""What belongs to a kind of model, and the kinds of this package."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fullspan.errors import FullspanError
from fullspan.model.files.envelope import Source

if TYPE_CHECKING:
    from fullspan.estimators.density import DensityEstimator

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


_FILES, _DISTRIBUTIONS, _ESTIMATORS = "fullspan.model.files", "fullspan.query.distributions", "fullspan.estimators"
_LOG_LINEAR = {
    "FullSpan": Learner(f"{_ESTIMATORS}.full_span"),
    "BoltzmannMachine": Learner(f"{_ESTIMATORS}.boltzmann"),
    "BoltzmannClassifier": Learner(f"{_ESTIMATORS}.classifier"),
    "DecimatableBoltzmannMachine": Learner(
        f"{_ESTIMATORS}.decimatable", f"{_DISTRIBUTIONS}.decimated:DecimatedDistribution"
    ),
}
KINDS = (
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
            "RestrictedBoltzmannMachine": Learner(f"{_ESTIMATORS}.layers.restricted"),
            "DeepBoltzmannMachine": Learner(f"{_ESTIMATORS}.layers.deep"),
        },
    ),
)
"""The kinds of this package, in the order in which they are listed."""
