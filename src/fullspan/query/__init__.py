"""Distributions and what they are asked: probabilities, conditionals, modes, samples, imputation and information."""

from fullspan.query.distribution import Distribution, Marginals
from fullspan.query.language.parse import Query, parse
from fullspan.query.language.result import MostProbable, Table
from fullspan.query.questions import Mode

__all__ = ["Distribution", "Marginals", "Mode", "MostProbable", "Query", "Table", "parse"]
