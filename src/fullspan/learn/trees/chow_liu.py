"""The tree of Chow and Liu (1968): of all trees over the variables, the one of greatest likelihood.

    log-likelihood of a tree / N = sum_edges I(x_i; x_j) - sum_i H(x_i)

so the best tree is a spanning tree of greatest mutual information. Its tables come from counts of pairs,

    p(x_i, x_j) = (n_ij + a / |X_i||X_j|) / (N_ij + a),

with ``a`` pseudo-rows spread evenly over every pair (Bayesian Dirichlet, one equivalent row by default): all tables
agree on the variables they share, so the distribution does not depend on the root, nor on the names of levels; a = 0
is exact maximum likelihood, in which what was never seen is impossible. Where cells are missing, a pair is counted in
the rows that show both, which is no longer the maximum of the likelihood, but needs no iteration.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.engine.elimination.trees import TreeEngine
from fullspan.errors import FullspanError
from fullspan.learn.base.column_order import in_canonical_order
from fullspan.learn.trees.pairs import mutual_information, pair_counts
from fullspan.model.hidden_tree import FittedTree, HiddenTree
from fullspan.model.record import Step


def _spanning(weight: Array) -> NDArray[np.int64]:
    """Prim's algorithm from node 0: each step joins the node with the heaviest edge to the tree."""
    n = len(weight)
    best, parents = weight[0].copy(), np.zeros(n, dtype=np.int64)
    parents[0] = -1
    joined = np.zeros(n, dtype=bool)
    joined[0] = True
    for _ in range(n - 1):
        # The first of equal weights: columns come in an order that does not depend on the table's.
        chosen = int(np.argmax(np.where(joined, -np.inf, best)))
        joined[chosen] = True
        heavier = ~joined & (weight[chosen] > best)
        best[heavier], parents[heavier] = weight[chosen][heavier], chosen
    return parents


def spanning_tree(weight: Array) -> NDArray[np.int64]:
    """Parents (n,) of a spanning tree of greatest total weight, rooted at its centre so that it is shallow.

    Time O(n²). Among equal edges the one found first is taken, so the tree is a function of the weights.
    """
    parents = _spanning(np.asarray(weight, dtype=np.float64))
    neighbours: list[list[int]] = [[] for _ in parents]
    for i, p in enumerate(parents.tolist()):
        if p >= 0:
            neighbours[i].append(p)
            neighbours[p].append(i)
    path = _longest_path(neighbours)
    return _rooted(neighbours, path[len(path) // 2])


def _rooted(neighbours: list[list[int]], root: int) -> NDArray[np.int64]:
    parents = np.full(len(neighbours), -1, dtype=np.int64)
    reached = [root]
    for i in reached:
        for j in neighbours[i]:
            if j != parents[i]:
                parents[j] = i
                reached.append(j)
    return parents


def _longest_path(neighbours: list[list[int]]) -> list[int]:
    """A longest path of a tree: the farthest node from any, and the farthest from that."""
    end = 0
    for _ in range(2):
        start, distance, parents = end, {end: 0}, _rooted(neighbours, end)
        reached = [start]
        for i in reached:
            for j in neighbours[i]:
                if j != parents[i]:
                    distance[j] = distance[i] + 1
                    reached.append(j)
        end = reached[-1]
    path = [end]
    while parents[path[-1]] >= 0:
        path.append(int(parents[path[-1]]))
    return path


def fit_chow_liu(empirical: Empirical, pseudo_count: float = 1.0, max_memory: int | None = None) -> FittedTree:
    """The Chow–Liu tree of counted data.

    Parameters
    ----------
    pseudo_count : rows spread evenly over every pair of variables; 0 for exact maximum likelihood.

    Raises
    ------
    FullspanError : the pseudo-count is negative or not finite.
    TooLargeError : the counts of pairs would not fit into memory.
    """
    if not 0 <= pseudo_count < np.inf:
        raise FullspanError(f"pseudo_count is {pseudo_count!r}; a finite number of rows, at least 0, is needed")
    return in_canonical_order(empirical, None, lambda data, _: _learned(data, pseudo_count, max_memory))


def _learned(empirical: Empirical, pseudo_count: float, max_memory: int | None) -> FittedTree:
    cards = empirical.space.cards
    counts = pair_counts(empirical.states, empirical.counts, cards, max_memory)
    information = mutual_information(counts, cards)
    parents = spanning_tree(information)
    tree = _of_counts(empirical, counts, parents, pseudo_count)
    engine = TreeEngine(tree, max_memory=max_memory)
    mean = float(empirical.counts @ engine.log_likelihood(engine.columns(empirical.states))) / empirical.total
    return FittedTree(
        model=tree,
        log_likelihood=mean,
        validation=float("nan"),
        mutual_information=np.where(parents >= 0, information[np.arange(len(parents)), parents], 0.0),
        **empirical.provenance(),
        history=(Step("tree", len(parents) - 1, -mean, 0.0),),
        settings={"pseudo_count": float(pseudo_count)},
    )


def _of_counts(empirical: Empirical, counts: Array, parents: NDArray[np.int64], pseudo_count: float) -> HiddenTree:
    cards = empirical.space.cards
    starts = np.cumsum(cards) - np.array(cards)
    most = max(cards)
    prior, transitions = np.zeros(most), np.zeros((len(cards), most, most))
    for i, p in enumerate(parents.tolist()):
        own = slice(starts[i], starts[i] + cards[i])
        if p < 0:
            prior[: cards[i]] = _shares(np.diag(counts)[own] + pseudo_count / cards[i])
            continue
        pair = counts[starts[p] : starts[p] + cards[p], own] + pseudo_count / (cards[p] * cards[i])
        transitions[i, : cards[p], : cards[i]] = _conditional(pair, np.diag(counts)[own])
    return HiddenTree.of_tables(empirical.space, parents, prior, transitions)


def _shares(counts: Array) -> Array:
    """Counts divided by their sum; equal shares of none."""
    total = counts.sum()
    return np.asarray(counts / total if total > 0 else np.full(len(counts), 1 / len(counts)))


def _conditional(pair: Array, own: Array) -> Array:
    """Rows of a table of pairs, divided by their sums; a level of the parent that was never seen says nothing."""
    sums = pair.sum(axis=1, keepdims=True)
    return np.asarray(np.where(sums > 0, pair / np.where(sums > 0, sums, 1.0), _shares(own)))
