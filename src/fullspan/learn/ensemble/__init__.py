"""Stacked ensembles: bootstrap fits averaged as distributions, and other candidates, at shares from held-out rows.

candidates, policy    what may be stacked, and what is stacked with k fits
selection, folds      which candidates are learned, and how they predict rows that they have not seen
completion            rows with missing values for candidates that need complete ones
out_of_bag, members   what the fits predict
timer                 the time that all of this may take
stack, single_fit     shares of all, and that of the single fit
fit, result           the average as a fitted model
wide, wide_candidates models of different kinds, stacked, where the table is too large
averages, shrunken    averages of searches and machines; a shrunken model as one more candidate
"""

from fullspan.learn.ensemble.averages import averaged_machine, averaged_search
from fullspan.learn.ensemble.candidates import Candidate, Candidates
from fullspan.learn.ensemble.completion import (
    Completions,
    completed,
    completing,
    drawn,
    independent_log_table,
    log_sums,
    log_table,
    observed_log_prob,
)
from fullspan.learn.ensemble.fit import Bounds, fit_average
from fullspan.learn.ensemble.folds import cross_validated, in_folds
from fullspan.learn.ensemble.members import Member, Seen
from fullspan.learn.ensemble.mixtures import mixture_of
from fullspan.learn.ensemble.out_of_bag import OutOfBagRows, log_prob_of
from fullspan.learn.ensemble.pairs import PairsLearner, n_pair_terms
from fullspan.learn.ensemble.selection import Selection
from fullspan.learn.ensemble.shrunken import shrunken_search
from fullspan.learn.ensemble.single_fit import degrees_of_freedom, share_of_single
from fullspan.learn.ensemble.stack import Stacked, stacked
from fullspan.learn.ensemble.wide import stacked_wide
from fullspan.learn.ensemble.wide_candidates import StackOptions

__all__ = [
    "Bounds",
    "Candidate",
    "Candidates",
    "Completions",
    "Member",
    "OutOfBagRows",
    "PairsLearner",
    "Seen",
    "Selection",
    "StackOptions",
    "Stacked",
    "averaged_machine",
    "averaged_search",
    "completed",
    "completing",
    "cross_validated",
    "degrees_of_freedom",
    "drawn",
    "fit_average",
    "in_folds",
    "independent_log_table",
    "log_prob_of",
    "log_sums",
    "log_table",
    "mixture_of",
    "n_pair_terms",
    "observed_log_prob",
    "share_of_single",
    "shrunken_search",
    "stacked",
    "stacked_wide",
]
