"""Questions as people write them: text and events in, boxes of codes and tables of answers out."""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
