"""Exact answers: probabilities, conditionals, modes, samples, imputation and information measures."""

from fullspan.query.answer import Mode, Oracle
from fullspan.query.language.parse import Query, parse
from fullspan.query.language.result import MostProbable, Table

__all__ = ["Mode", "MostProbable", "Oracle", "Query", "Table", "parse"]
