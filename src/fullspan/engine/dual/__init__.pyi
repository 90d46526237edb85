from fullspan.engine.dual.partition import log_partition as log_partition
from fullspan.engine.dual.probability_table import ProbabilityTable as ProbabilityTable
from fullspan.engine.dual.table import DualTable as DualTable
