from fullspan.model.algebra.basis import BASES as BASES
from fullspan.model.algebra.basis import Basis as Basis
from fullspan.model.algebra.basis import BasisName as BasisName
from fullspan.model.algebra.basis import Term as Term
