"""Tables of any kind to counts of distinct states, and back.

>>> from fullspan.data import count
>>> counts = count([[0, 1], [0, 1], [1, 1]])
>>> counts.states.tolist(), counts.counts.tolist()
([[0, 0], [1, 0]], [2.0, 1.0])
"""

from fullspan.data.counting import count
from fullspan.data.decoding import decode, decode_columns
from fullspan.data.empirical import Empirical
from fullspan.data.encoding import encode
from fullspan.data.filling import fill, held
from fullspan.data.marks import MISSING_MARKS
from fullspan.data.patterns import Pattern

__all__ = ["MISSING_MARKS", "Empirical", "Pattern", "count", "decode", "decode_columns", "encode", "fill", "held"]
