from fullspan import datasets as datasets
from fullspan import errors as errors
from fullspan import geometry as geometry
from fullspan import graphs as graphs
from fullspan.data.space import Space as Space
from fullspan.data.space import Variable as Variable
from fullspan.errors import FullspanError as FullspanError
from fullspan.estimators.boltzmann import BoltzmannMachine as BoltzmannMachine
from fullspan.estimators.classifier import BoltzmannClassifier as BoltzmannClassifier
from fullspan.estimators.compare.comparing import compare as compare
from fullspan.estimators.decimatable import DecimatableBoltzmannMachine as DecimatableBoltzmannMachine
from fullspan.estimators.deep import DeepBoltzmannMachine as DeepBoltzmannMachine
from fullspan.estimators.full_span import FullSpan as FullSpan
from fullspan.estimators.machine_features import MachineFeatures as MachineFeatures
from fullspan.estimators.many import GroupedModels as GroupedModels
from fullspan.estimators.many import fit_many as fit_many
from fullspan.estimators.mixture import FullSpanMixture as FullSpanMixture
from fullspan.estimators.networks import GraphModel as GraphModel
from fullspan.estimators.networks import read_graph as read_graph
from fullspan.estimators.registry import load as load
from fullspan.estimators.restricted import RestrictedBoltzmannMachine as RestrictedBoltzmannMachine
from fullspan.estimators.trees import ChowLiuTree as ChowLiuTree
from fullspan.estimators.trees import HiddenChowLiuTree as HiddenChowLiuTree
from fullspan.estimators.truncated import TruncatedBoltzmannMachine as TruncatedBoltzmannMachine
from fullspan.estimators.weighting import Raking as Raking
from fullspan.estimators.weighting import rake as rake

__version__: str
