from fullspan.data.tables.bins import binned_variable as binned_variable
from fullspan.data.tables.bins import interval_labels as interval_labels
from fullspan.data.tables.resampling import bootstrap as bootstrap
from fullspan.data.tables.resampling import held_out as held_out
