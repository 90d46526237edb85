"""``fullspan report``: everything a model knows, in one page that opens offline and prints.

:mod:`content` gathers the numbers, :mod:`caveats` says in words what to keep in mind, :mod:`page` writes the HTML.
"""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
