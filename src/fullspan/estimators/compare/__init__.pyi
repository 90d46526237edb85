from fullspan.estimators.compare.baselines import BASELINES as BASELINES
from fullspan.estimators.compare.baselines import Saturated as Saturated
from fullspan.estimators.compare.comparison import HEADINGS as HEADINGS
