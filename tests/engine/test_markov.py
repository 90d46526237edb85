"""Hidden Markov chains by elimination and by decimation, against hmmlearn 0.3.3.

The references are ``CategoricalHMM.score`` and ``predict_proba`` with the tables of :func:`chain`, printed by
``python benchmarks/bench_markov.py --references`` where hmmlearn is installed.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Space
from fullspan.engine.elimination import ClusterTree, Decimation
from fullspan.model import FactorGraph

THREE = [-87.26737643354731, -88.09642733485508, -91.51033612951952, -86.48173717763262, -89.5703033359494]
THREE_POSTERIORS = {
    0: [0.14143345090806148, 0.3824154277045381, 0.47615112138740273],
    30: [0.20812611219087157, 0.7508244772140121, 0.04104941059511621],
    59: [0.004578115579290562, 0.6688539087579687, 0.3265679756627401],
}
TWO = [-62.609061553650434, -68.04711670294517, -67.14792507400716, -60.78982331966069]
TWO_POSTERIORS = {0: 0.7415970527486858, 40: 0.6791177618323619, 79: 0.6701783789016705}


def chain(states: int, symbols: int, seed: int, n: int, length: int) -> tuple[Array, Array, Array, NDArray[np.int64]]:
    """Start, transition and emission probabilities, and sequences."""
    rng = np.random.default_rng(seed)
    start, move = rng.dirichlet(np.ones(states)), rng.dirichlet(np.ones(states), size=states)
    emit = rng.dirichlet(np.ones(symbols), size=states)
    return start, move, emit, rng.integers(symbols, size=(n, length))


def test_clusters_score_sequences_as_hmmlearn_does() -> None:
    """log Z of the clamped chain is the log-likelihood, one by one and in a batch; marginals are its posteriors."""
    start, move, emit, sequences = chain(3, 4, 7, 5, 60)
    t = sequences.shape[1]
    scopes = [(0,), *((i, i + 1) for i in range(t - 1)), *((i, t + i) for i in range(t))]
    tables = [np.log(start), *[np.log(move)] * (t - 1), *[np.log(emit)] * t]
    graph = FactorGraph(Space.of_cards([3] * t + [4] * t), tuple(scopes), tuple(tables))
    tree = ClusterTree(graph, range(t, 2 * t))
    assert tree.log_z_batch(sequences) == pytest.approx(THREE, abs=1e-9)
    evidence = {t + i: int(x) for i, x in enumerate(sequences[0])}
    assert tree.log_z(evidence) == pytest.approx(THREE[0], abs=1e-9)
    beliefs = tree.beliefs(evidence)
    for i, posterior in THREE_POSTERIORS.items():
        assert beliefs.variable(i) == pytest.approx(posterior, abs=1e-10)


def test_decimation_scores_two_state_chains_as_hmmlearn_does() -> None:
    """Any positive 2 x 2 table is ``exp(c + a s + b t + w s t)``: a chain of two states is a machine of spins."""
    start, move, emit, sequences = chain(2, 2, 11, 4, 80)
    t = sequences.shape[1]
    edges = [*((i, i + 1) for i in range(t - 1)), *((i, t + i) for i in range(t))]
    couplings, fields, constant = np.empty(len(edges)), np.zeros(2 * t), float(np.log(start).mean())
    fields[0] = (np.log(start[1]) - np.log(start[0])) / 2
    for e, (i, j) in enumerate(edges):
        logs, sign = np.log(move if e < t - 1 else emit), np.array([-1.0, 1.0])
        constant += logs.mean()
        fields[i] += (logs.mean(axis=1) * sign).sum() / 2
        fields[j] += (logs.mean(axis=0) * sign).sum() / 2
        couplings[e] = (logs * np.outer(sign, sign)).mean()
    engine = Decimation(2 * t, edges, clamped=range(t, 2 * t))
    spins = 2 * sequences - 1
    assert engine.log_z_batch(couplings, fields, spins) + constant == pytest.approx(TWO, abs=1e-9)
    nodes = engine.expectations(couplings, fields, spins[0]).nodes
    for i, posterior in TWO_POSTERIORS.items():
        assert (1 + nodes[i]) / 2 == pytest.approx(posterior, abs=1e-10)
