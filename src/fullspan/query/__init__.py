"""Exact answers: probabilities, conditionals, modes, samples, imputation and information measures."""

from fullspan.query.answer import Mode, Oracle
from fullspan.query.parse import Query, parse
from fullspan.query.result import MostProbable, Table

__all__ = ["Mode", "MostProbable", "Oracle", "Query", "Table", "parse"]
