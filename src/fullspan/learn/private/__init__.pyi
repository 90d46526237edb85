from fullspan.learn.private.accountant import Ledger as Ledger
from fullspan.learn.private.accountant import Privacy as Privacy
from fullspan.learn.private.accountant import delta_of as delta_of
from fullspan.learn.private.accountant import rho_of as rho_of
from fullspan.learn.private.clusters import WideOracle as WideOracle
from fullspan.learn.private.clusters import cells_of as cells_of
from fullspan.learn.private.dense import DenseOracle as DenseOracle
from fullspan.learn.private.mechanism import release as release
