"""The information geometry of log-linear models: the public names of :mod:`fullspan.query.geometry`."""

from fullspan.query.geometry import *  # noqa: F403
from fullspan.query.geometry import __all__ as __all__
