"""What a distribution is: log-linear models and their averages, trees, mixtures, layered and truncated machines.

``algebra`` has the bases, ``effects`` the words for terms and interactions, the modules here the models and the records
of their fits, and ``files`` one reader and writer for each kind.
"""

from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.fitted import Fitted
from fullspan.model.graph import FactorGraph
from fullspan.model.hidden_tree import FittedTree, HiddenTree
from fullspan.model.layered import FittedLayers, LayeredMachine
from fullspan.model.loglinear import LogLinear
from fullspan.model.many import ManyModels
from fullspan.model.mixture import FittedMixture, Mixture
from fullspan.model.record import FitRecord, Step
from fullspan.model.truncated import TruncatedLogLinear

__all__ = [
    "AveragedLogLinear",
    "FactorGraph",
    "FitRecord",
    "Fitted",
    "FittedLayers",
    "FittedMixture",
    "FittedTree",
    "HiddenTree",
    "LayeredMachine",
    "LogLinear",
    "ManyModels",
    "Mixture",
    "Step",
    "TruncatedLogLinear",
]
