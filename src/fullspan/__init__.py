"""Exact probability models of discrete data: log-linear models and Boltzmann machines of any order.

>>> import fullspan as fs
>>> fs.Space.of_cards([2, 3]).n_states
6

Importing the package is cheap: what is named here is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullspan import datasets, errors, geometry, graphs
    from fullspan.data.space import Space, Variable
    from fullspan.errors import FullspanError
    from fullspan.estimators.boltzmann import BoltzmannMachine
    from fullspan.estimators.classifier import BoltzmannClassifier
    from fullspan.estimators.compare.comparing import compare
    from fullspan.estimators.decimatable import DecimatableBoltzmannMachine
    from fullspan.estimators.deep import DeepBoltzmannMachine
    from fullspan.estimators.full_span import FullSpan
    from fullspan.estimators.loading import load
    from fullspan.estimators.machine_features import MachineFeatures
    from fullspan.estimators.many import GroupedModels, fit_many
    from fullspan.estimators.mixture import FullSpanMixture
    from fullspan.estimators.networks import GraphModel, read_graph
    from fullspan.estimators.restricted import RestrictedBoltzmannMachine
    from fullspan.estimators.trees import ChowLiuTree, HiddenChowLiuTree
    from fullspan.estimators.truncated import TruncatedBoltzmannMachine

__version__ = "0.1.0"

_HOMES = {
    "BoltzmannMachine": "fullspan.estimators.boltzmann",
    "FullSpan": "fullspan.estimators.full_span",
    "FullSpanMixture": "fullspan.estimators.mixture",
    "BoltzmannClassifier": "fullspan.estimators.classifier",
    "ChowLiuTree": "fullspan.estimators.trees",
    "HiddenChowLiuTree": "fullspan.estimators.trees",
    "DecimatableBoltzmannMachine": "fullspan.estimators.decimatable",
    "TruncatedBoltzmannMachine": "fullspan.estimators.truncated",
    "MachineFeatures": "fullspan.estimators.machine_features",
    "DeepBoltzmannMachine": "fullspan.estimators.deep",
    "RestrictedBoltzmannMachine": "fullspan.estimators.restricted",
    "compare": "fullspan.estimators.compare.comparing",
    "load": "fullspan.estimators.loading",
    "GroupedModels": "fullspan.estimators.many",
    "fit_many": "fullspan.estimators.many",
    "GraphModel": "fullspan.estimators.networks",
    "read_graph": "fullspan.estimators.networks",
    "Space": "fullspan.data.space",
    "Variable": "fullspan.data.space",
    "FullspanError": "fullspan.errors",
}
_MODULES = ("datasets", "errors", "geometry", "graphs")

__all__ = [
    "BoltzmannClassifier",
    "BoltzmannMachine",
    "ChowLiuTree",
    "DecimatableBoltzmannMachine",
    "DeepBoltzmannMachine",
    "FullSpan",
    "FullSpanMixture",
    "FullspanError",
    "GraphModel",
    "GroupedModels",
    "HiddenChowLiuTree",
    "MachineFeatures",
    "RestrictedBoltzmannMachine",
    "Space",
    "TruncatedBoltzmannMachine",
    "Variable",
    "__version__",
    "compare",
    "datasets",
    "errors",
    "fit_many",
    "geometry",
    "graphs",
    "load",
    "read_graph",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"fullspan.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'fullspan' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
