"""Learn one network whose elimination is cheap: a start for searches of bounded width, and a rival of them.

The score is the log evidence of the tables (module ``evidence``) less what it takes to name the parents. The strength
of the tables' prior is that with the largest evidence, found together with the network.
"""

from __future__ import annotations

import math
import time

import numpy as np

from fullspan.arrays import Ints
from fullspan.data import Empirical
from fullspan.data.canonical import canonical_columns
from fullspan.errors import FullspanError
from fullspan.learn.base.counted import smoothed_entropy
from fullspan.learn.base.progress import STOPPED, Progress, Watch
from fullspan.learn.networks.evidence import Evidence, Parents
from fullspan.learn.networks.hill_climbing import HillClimbing
from fullspan.learn.networks.network import Network, fitted_tables
from fullspan.learn.trees.pairs import mutual_information, pair_counts

MAX_CELLS = 1 << 20
"""Entries of all tables of an elimination, by default: some ten milliseconds for log Z and all expectations."""
STRENGTHS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
"""Pseudo-rows of a table that are tried."""
_FIRST_STRENGTH, _ROUNDS = 4.0, 3
_LEAST_CELLS, _MOST_CELLS = 64, 1 << 14
"""Most cells of a variable and its parents: at least, and at most; between, as many as there are rows."""
_FURTHER_PARENTS = 40
"""Further parents of a variable that are looked at first, by mutual information."""


def learn_network(
    empirical: Empirical,
    *,
    max_cells: float = MAX_CELLS,
    penalty: str | float = "mdl",
    watch: Watch | None = None,
    max_family: int | None = None,
) -> Network:
    """Learn a network from complete rows by a tabu search with bounded elimination.

    Parameters
    ----------
    max_cells : most entries of all tables that its elimination may meet.
    penalty : what naming a parent costs: ``"mdl"`` ln n, ``"bic"`` nothing, a number that many times ``"mdl"``.
    watch : called at each better network; ``KeyboardInterrupt`` ends the search with the best so far.
    max_family : most cells of a variable and its parents.

    Raises
    ------
    FullspanError : cells are missing.
    """
    if not empirical.is_complete:
        raise FullspanError("networks are learned from complete rows, but cells are missing; complete the rows first")
    order = canonical_columns(empirical)
    found = _learned(empirical.reordered(order), max_cells, penalty, watch, max_family)
    parents: list[Parents] = [()] * len(order)
    for v, own in enumerate(found.best):
        parents[order[v]] = tuple(sorted(order[p] for p in own))
    strength = found.evidence.strength
    tables = fitted_tables(empirical, parents, strength)
    return Network(
        empirical.space, tuple(parents), tables, strength, found.best_score, found.best_cells, not found.interrupted
    )


class _Found(HillClimbing):
    interrupted = False


def _learned(
    data: Empirical, max_cells: float, penalty: str | float, watch: Watch | None, max_family: int | None
) -> _Found:
    """The best network of rows whose columns are in an order that does not depend on the table's."""
    n, started = len(data.space), time.perf_counter()
    entropy = smoothed_entropy(data.counts, 1, 0.0)

    def report(search: HillClimbing) -> None:
        if watch is not None:
            terms = sum(1 for parents in search.best if parents) + n
            cost = -search.best_score / data.total - entropy
            watch(Progress("margin", terms, cost, time.perf_counter() - started))

    largest = max_family or min(max(_LEAST_CELLS, int(data.total)), _MOST_CELLS)
    evidence = Evidence(data, _FIRST_STRENGTH, _name(n, penalty), largest, _candidates(data))
    search = _Found(evidence, [()] * n, max_cells, report)
    try:
        for _ in range(_ROUNDS):
            search.run()
            others = {s: evidence.with_strength(s) for s in STRENGTHS}
            totals = {s: sum(own.of(v, p) for v, p in enumerate(search.best)) for s, own in others.items()}
            strength = max(totals, key=lambda s: totals[s])
            if strength == evidence.strength:
                break
            evidence = others[strength]
            search = _Found(evidence, search.best, max_cells, report, search.best_order)
    except STOPPED:
        search.interrupted = True
    return search


def _name(n: int, penalty: str | float) -> float:
    """Nats for naming one parent."""
    if penalty == "bic":
        return 0.0
    factor = penalty if isinstance(penalty, (int, float)) else 1.0
    return float(factor) * math.log(max(n, 1))


def _candidates(data: Empirical) -> list[Ints] | None:
    """Of each variable, those that tell most about it; None where there are few variables."""
    n = len(data.space)
    if n <= _FURTHER_PARENTS + 1:
        return None
    information = mutual_information(pair_counts(data.states, data.counts, data.space.cards), data.space.cards)
    order = np.argsort(-information, axis=1, kind="stable")
    return [np.sort(row[row != v][:_FURTHER_PARENTS]) for v, row in enumerate(order)]
