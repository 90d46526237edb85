"""Tables of any kind to counts of distinct states, and back.

>>> from fullspan.data import count
>>> counts = count([[0, 1], [0, 1], [1, 1]])
>>> counts.states.tolist(), counts.counts.tolist()
([[0, 0], [1, 0]], [2.0, 1.0])

At the bottom are variables (``space``) and counts (``empirical``); ``relations`` asks files, frames and databases, and
``tables`` makes counts of what they answer. What is named here is loaded on first use: models need no reader of tables.
"""

from fullspan.lazy import Seam

__getattr__ = Seam(__name__)
