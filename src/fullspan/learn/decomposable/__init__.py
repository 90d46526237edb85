"""Decomposable models, and mixtures of them, from weighted rows.

rows, grow          counted rows, and a graph grown from them one variable at a time
tables, weighted    its conditional tables, from complete rows or rows with missing values
mixture, fit        mixtures by em, runs of several sizes combined
compiled_em         the compiled twin of the em of ``mixture`` for the many small mixtures of an ensemble
"""

from fullspan.learn.decomposable.compiled_em import learn_mixture
from fullspan.learn.decomposable.fit import RUNS, MixtureOptions, fit_mixture
from fullspan.learn.decomposable.grow import GrowOptions, Shape, grow
from fullspan.learn.decomposable.mixture import WARM_ITERATIONS, Em, Learner, RunOptions
from fullspan.learn.decomposable.rows import WideRows, count_cells
from fullspan.learn.decomposable.tables import conditionals
from fullspan.learn.decomposable.weighted import Complete, Incomplete

__all__ = [
    "RUNS",
    "WARM_ITERATIONS",
    "Complete",
    "Em",
    "GrowOptions",
    "Incomplete",
    "Learner",
    "MixtureOptions",
    "RunOptions",
    "Shape",
    "WideRows",
    "conditionals",
    "count_cells",
    "fit_mixture",
    "grow",
    "learn_mixture",
]
