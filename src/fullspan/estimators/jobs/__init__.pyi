from fullspan.estimators.jobs.checking import SHARE as SHARE
from fullspan.estimators.jobs.checking import Check as Check
from fullspan.estimators.jobs.checking import check as check
from fullspan.estimators.jobs.synthesis import synthesizer as synthesizer
from fullspan.estimators.jobs.synthetic_quality import column_shapes as column_shapes
from fullspan.estimators.jobs.synthetic_quality import pair_trends as pair_trends
from fullspan.estimators.jobs.synthetic_quality import quality as quality
