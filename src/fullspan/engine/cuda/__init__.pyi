from fullspan.engine.cuda.device import why_not as why_not
from fullspan.engine.cuda.table import CudaTable as CudaTable
