from fullspan.model.files.networks.formats import read_factors as read_factors
from fullspan.model.files.networks.formats import suffix as suffix
from fullspan.model.files.networks.number_list import NumberList as NumberList
