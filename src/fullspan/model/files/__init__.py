"""The file formats: model files, networks of other tools, and how a file from a stranger is opened."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
