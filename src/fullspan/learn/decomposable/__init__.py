"""Decomposable models, and mixtures of them, from weighted rows.

rows, grow, singles      counted rows, and a graph grown from them one variable at a time
tables, weighted         its conditional tables, from complete rows or rows with missing values
mixture, fit             mixtures by em, runs of several sizes combined
compiled_growth, _em     the compiled twins of ``grow`` and ``mixture`` for the many small mixtures of an ensemble
"""

from fullspan.learn.decomposable.compiled_growth import grow_graph
from fullspan.learn.decomposable.fit import RUNS, MixtureOptions, fit_mixture
from fullspan.learn.decomposable.grow import GrowOptions, Shape, grow
from fullspan.learn.decomposable.mixture import Learner, RunOptions
from fullspan.learn.decomposable.rows import WideRows, count_cells
from fullspan.learn.decomposable.singles import Singles
from fullspan.learn.decomposable.tables import conditionals, family_counts
from fullspan.learn.decomposable.weighted import Complete, Incomplete

__all__ = [
    "RUNS",
    "Complete",
    "GrowOptions",
    "Incomplete",
    "Learner",
    "MixtureOptions",
    "RunOptions",
    "Shape",
    "Singles",
    "WideRows",
    "conditionals",
    "count_cells",
    "family_counts",
    "fit_mixture",
    "grow",
    "grow_graph",
]
