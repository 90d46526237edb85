from fullspan.engine.sampling.layers.arrays import Device as Device
from fullspan.engine.sampling.layers.likelihood import bound as bound
from fullspan.engine.sampling.layers.likelihood import log_partition as log_partition
from fullspan.engine.sampling.layers.likelihood import log_weights as log_weights
from fullspan.engine.sampling.layers.likelihood import log_z as log_z
from fullspan.engine.sampling.layers.likelihood import mean_field as mean_field
from fullspan.engine.sampling.layers.likelihood import n_enumerated as n_enumerated
from fullspan.engine.sampling.layers.open_cells import completed as completed
