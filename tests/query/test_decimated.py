"""p(gamma | alpha) by the ratio of partition sums and by the characteristic function, against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from engine.machines import enumerate_machine
from fullspan.engine.elimination import Decimation
from fullspan.errors import FullspanError, QueryError
from fullspan.model.ising import Ising
from fullspan.query.decimated import distribution_by_characteristic, probability_by_ratio

EDGES = np.array([(0, 1), (1, 2), (2, 3), (3, 4), (1, 3), (4, 5), (0, 5)])


def machine(seed: int) -> Ising:
    rng = np.random.default_rng(seed)
    return Ising(6, EDGES, 1.5 * rng.normal(size=7), rng.normal(size=6))


@pytest.mark.parametrize(
    ("seed", "given", "nodes"),
    [
        (0, {0: 1}, (1, 4)),
        (1, {2: -1, 5: 1}, (3,)),
        (2, {}, (5, 0, 2)),
        (3, {3: -1, 1: 1}, (4, 2, 0)),
    ],
)
def test_both_ways_are_enumeration(seed: int, given: dict[int, int], nodes: tuple[int, ...]) -> None:
    """Equation 6 and Theorem 3.4; hidden nodes are those that are neither given nor asked about."""
    m = machine(seed)
    truth = enumerate_machine(6, m.edges, m.couplings, m.fields, given)
    table = distribution_by_characteristic(m, nodes, given)
    for state in itertools.product((-1, 1), repeat=len(nodes)):
        p = float(truth.p[(truth.states[:, list(nodes)] == state).all(axis=1)].sum())
        assert probability_by_ratio(m, dict(zip(nodes, state, strict=True)), given) == pytest.approx(p, rel=1e-12)
        assert table[tuple((s + 1) // 2 for s in state)] == pytest.approx(p, abs=1e-13)


def test_the_characteristic_function_is_a_mean_of_waves() -> None:
    """Corollary 3.2, at a generic x."""
    m, x = machine(4), np.array([0.3, -1.1, 0.0, 2.0, 0.7, -0.4])
    truth = enumerate_machine(6, m.edges, m.couplings, m.fields, {2: 1})
    x[2] = 0.0
    wave = complex(truth.p @ np.exp(1j * truth.states @ x))
    assert Decimation(6, EDGES, clamped=[2]).characteristic(m.couplings, m.fields, x, [1]) == pytest.approx(
        wave, abs=1e-14
    )


def test_rare_outputs_keep_their_relative_precision_in_the_ratio() -> None:
    m = Ising(6, EDGES, 12.0 * np.ones(7), 3.0 * np.ones(6))
    truth = enumerate_machine(6, m.edges, m.couplings, m.fields, {0: 1})
    p = float(truth.p[truth.states[:, 3] == -1].sum())
    assert p < 1e-25
    assert probability_by_ratio(m, {3: -1}, {0: 1}) == pytest.approx(p, rel=1e-12)


def test_what_cannot_be_asked_is_refused() -> None:
    m = machine(0)
    with pytest.raises(QueryError, match="node 1 is given and asked about"):
        probability_by_ratio(m, {1: 1}, {1: -1})
    with pytest.raises(QueryError, match="17 nodes"):
        distribution_by_characteristic(m, range(17))
    equal = Ising(3, np.array([(0, 1), (1, 2), (0, 2)]), np.full(3, 0.5), np.zeros(3))
    with pytest.raises(FullspanError, match="vanishes at this x"):
        distribution_by_characteristic(equal, [0, 1])
    chain = Decimation(2, [(0, 1)], biased=[True, False])
    with pytest.raises(FullspanError, match="needs a field"):
        chain.characteristic([0.5], [0.2, 0.0], [0.0, 1.0])
