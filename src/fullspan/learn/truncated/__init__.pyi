from fullspan.learn.truncated.faces import by_program as by_program
from fullspan.learn.truncated.faces import certified as certified
from fullspan.learn.truncated.fit import TruncatedOptions as TruncatedOptions
from fullspan.learn.truncated.fit import Truncation as Truncation
from fullspan.learn.truncated.fit import fit_truncated as fit_truncated
from fullspan.learn.truncated.mining import frequent_patterns as frequent_patterns
