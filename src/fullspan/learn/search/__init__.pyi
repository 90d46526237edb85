from fullspan.learn.search.code import fit_code as fit_code
from fullspan.learn.search.fit import fit_search as fit_search
from fullspan.learn.search.incomplete import fit_incomplete as fit_incomplete
from fullspan.learn.search.options import Limits as Limits
from fullspan.learn.search.options import Options as Options
from fullspan.learn.search.paper import paper_search as paper_search
from fullspan.learn.search.penalty import prices as prices
from fullspan.learn.search.problem import Problem as Problem
