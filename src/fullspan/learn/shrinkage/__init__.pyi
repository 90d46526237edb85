from fullspan.learn.shrinkage.contrasts import Contrasts as Contrasts
from fullspan.learn.shrinkage.evidence import shrink as shrink
from fullspan.learn.shrinkage.fit import MAX_TERMS as MAX_TERMS
from fullspan.learn.shrinkage.fit import fit_shrunken as fit_shrunken
from fullspan.learn.shrinkage.fit import highest_order as highest_order
