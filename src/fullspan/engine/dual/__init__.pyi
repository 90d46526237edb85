from fullspan.engine.dual.clamped import Clamped as Clamped
from fullspan.engine.dual.deferred import Bounds as Bounds
from fullspan.engine.dual.octets import move_pair as move_pair
from fullspan.engine.dual.partition import log_partition as log_partition
from fullspan.engine.dual.probability_table import ProbabilityTable as ProbabilityTable
from fullspan.engine.dual.table import DualTable as DualTable
from fullspan.engine.dual.within import Within as Within
