"""``fullspan serve``: a local explorer of models in the browser, with a JSON API underneath.

:mod:`explorer` answers in plain JSON types, :mod:`worker` runs it in processes that can be killed, :mod:`api` speaks
HTTP, :mod:`guard` keeps strangers out. The page itself, in ``static``, is built from ``web/`` with npm.
"""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
