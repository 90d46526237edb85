"""Decimation against enumeration: log Z, expectations, covariances, samples; orders; what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from engine.machines import enumerate_machine, has_an_order, random_edges
from fullspan import graphs
from fullspan.arrays import Array
from fullspan.engine.elimination import Decimation, is_decimatable, peel, verdict
from fullspan.errors import FullspanError, NotDecimatableError


def machines(count: int, seed: int) -> list[tuple[Decimation, Array, Array, Array]]:
    """Random machines that can be decimated: some nodes clamped, some without a field, weak and strong couplings."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        n = int(rng.integers(1, 9))
        edges = random_edges(n, int(rng.integers(0, 2 * n + 1)), rng)
        clamped = rng.permutation(n)[: rng.integers(0, n + 1)] if rng.random() < 0.5 else []
        biased = rng.random(n) < rng.choice([0.0, 0.5, 1.0, 1.0])
        try:
            engine = Decimation(n, edges, clamped, biased)
        except NotDecimatableError:
            continue
        scale = rng.choice([0.5, 3.0, 50.0])
        patterns = rng.choice([-1, 1], size=(5, len(clamped)))
        found.append((engine, scale * rng.normal(size=len(edges)), scale * rng.normal(size=n) * biased, patterns))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_log_z_and_expectations_are_those_of_enumeration(seed: int) -> None:
    for engine, couplings, fields, patterns in machines(30, seed):
        found = engine.expectations_batch(couplings, fields, patterns)
        assert engine.log_z_batch(couplings, fields, patterns) == pytest.approx(found.log_z, rel=1e-14)
        for p, pattern in enumerate(patterns):
            clamped = dict(zip(engine.clamped, pattern.tolist(), strict=True))
            truth = enumerate_machine(engine.n, engine.edges, couplings, fields, clamped)
            assert found.log_z[p] == pytest.approx(truth.log_z, rel=1e-12, abs=1e-12)
            assert found.edges[p] == pytest.approx(truth.edges, abs=1e-11)
            computed = np.isfinite(found.nodes[p])
            assert computed[fields != 0].all()
            assert found.nodes[p][computed] == pytest.approx(truth.nodes[computed], abs=1e-11)


def test_gradient_and_covariance_are_weighted_sums_over_patterns() -> None:
    rng = np.random.default_rng(9)
    for engine, couplings, fields, patterns in machines(30, 17):
        weights, k = rng.random(len(patterns)), len(couplings)
        found = engine.expectations_batch(couplings, fields, patterns)
        summed = engine.gradient(couplings, fields, patterns, weights)
        assert summed.edges == pytest.approx(weights @ found.edges, abs=1e-13)
        own = np.flatnonzero(fields)
        assert summed.nodes[own] == pytest.approx((weights @ found.nodes)[own], abs=1e-13)
        truth = np.zeros((k + engine.n,) * 2)
        for w, pattern in zip(weights, patterns, strict=True):
            clamped = dict(zip(engine.clamped, pattern.tolist(), strict=True))
            truth += w * enumerate_machine(engine.n, engine.edges, couplings, fields, clamped).covariance
        kept = np.r_[:k, k + own]
        covariance = engine.covariance(couplings, fields, patterns, weights)
        assert covariance[np.ix_(kept, kept)] == pytest.approx(truth[np.ix_(kept, kept)], abs=1e-10)


def test_a_batch_does_not_depend_on_how_it_is_cut_into_blocks() -> None:
    rng = np.random.default_rng(5)
    n = 60
    edges = np.array([(i, i + k) for k in (1, 2) for i in range(n - k)])
    engine = Decimation(n, edges, clamped=range(0, n, 5))
    couplings, fields = rng.normal(size=len(edges)), rng.normal(size=n)
    patterns = rng.choice([-1, 1], size=(701, n // 5))
    found = engine.expectations_batch(couplings, fields, patterns)
    for p in (0, 17, 350, 700):
        one = engine.expectations(couplings, fields, patterns[p])
        assert found.log_z[p] == pytest.approx(one.log_z, rel=1e-14)
        assert found.edges[p] == pytest.approx(one.edges, abs=1e-13)
        assert found.nodes[p] == pytest.approx(one.nodes, abs=1e-13)


def test_strong_couplings_in_a_long_chain_stay_right() -> None:
    """A chain of 100,000 couplings of +-50 has log Z = sum |w| + log 2 to rounding; without fields <s_i s_j> = +-1."""
    n = 100_000
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    couplings = np.where(np.random.default_rng(0).random(n - 1) < 0.5, 50.0, -50.0)
    found = Decimation(n, edges).expectations(couplings, np.zeros(n))
    assert found.log_z == pytest.approx(50.0 * (n - 1) + np.log(2.0), rel=1e-14)
    assert found.edges == pytest.approx(np.sign(couplings), abs=1e-15)
    assert found.nodes == pytest.approx(np.zeros(n), abs=1e-12)


def test_a_long_chain_is_a_product_of_transfer_matrices() -> None:
    rng = np.random.default_rng(2)
    n = 20_000
    couplings, fields = rng.normal(size=n - 1), rng.normal(size=n)
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    message, s = fields[0] * np.array([-1.0, 1.0]), np.array([-1.0, 1.0])
    for w, h in zip(couplings, fields[1:], strict=True):
        message = np.logaddexp.reduce(message[:, None] + w * np.outer(s, s), axis=0) + h * s
    order = rng.permutation(n - 1)
    engine = Decimation(n, edges[order])
    assert engine.log_z(couplings[order], fields) == pytest.approx(float(np.logaddexp.reduce(message)), rel=1e-13)


def test_samples_have_the_distribution_of_the_machine() -> None:
    rng = np.random.default_rng(3)
    edges = np.array([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)])
    couplings, fields = rng.normal(size=5), rng.normal(size=5)
    truth = enumerate_machine(5, edges, couplings, fields, {1: -1})
    engine = Decimation(5, edges, clamped=[1])
    size = 200_000
    drawn = engine.sample(couplings, fields, size, np.random.default_rng(4), [-1])
    assert (drawn[:, 1] == -1).all()
    index = (truth.states[:, None, :] == drawn[None, :2000, :]).all(axis=2)
    assert index.any(axis=0).all()
    error = np.sqrt((1 - truth.nodes**2) / size)
    assert (np.abs(drawn.mean(axis=0) - truth.nodes) <= 5 * error + 1e-12).all()
    pairs = (drawn[:, edges[:, 0]] * drawn[:, edges[:, 1]]).mean(axis=0)
    assert (np.abs(pairs - truth.edges) <= 5 * np.sqrt((1 - truth.edges**2) / size) + 1e-12).all()
    each = engine.sample(couplings, fields, 6, np.random.default_rng(4), [[-1], [1], [1], [-1], [1], [-1]])
    assert each[:, 1].tolist() == [-1, 1, 1, -1, 1, -1]
    with pytest.raises(FullspanError, match="2 patterns were given for 6"):
        engine.sample(couplings, fields, 6, rng, [[-1], [1]])


# -- orders -----------------------------------------------------------------------------------------------------------


def test_an_order_is_found_iff_there_is_one() -> None:
    """Decimatable means that some order exists; all orders of small graphs are tried."""
    rng = np.random.default_rng(11)
    verdicts = []
    for _ in range(150):
        n = int(rng.integers(4, 9))
        edges = random_edges(n, int(rng.integers(n, 3 * n)), rng)
        biased = rng.random(n) < rng.choice([0.0, 0.2, 0.5, 1.0])
        _, left, _ = peel(n, edges, biased)
        verdicts.append(has_an_order(n, edges, biased))
        assert (len(left) == 0) == verdicts[-1]
    assert 20 < sum(verdicts) < 130


def test_the_cube_and_buddies_are_taken_apart() -> None:
    """Graphs of degree 3 without a triangle, which greed alone may get wrong."""
    cube = np.array([(a, a ^ 1 << b) for a in range(8) for b in range(3) if a < a ^ 1 << b])
    utility = np.array([(a, b) for a in range(3) for b in range(3, 6)])
    for n, edges in ((8, cube), (6, utility)):
        none = np.zeros(n, dtype=bool)
        assert has_an_order(n, edges, none)
        assert not len(peel(n, edges, none)[1])
    petersen = np.array([(i, (i + 1) % 5) for i in range(5)] + [(i, i + 5) for i in range(5)])
    petersen = np.concatenate([petersen, [(5 + i, 5 + (i + 2) % 5) for i in range(5)]])
    assert len(peel(10, petersen, np.zeros(10, dtype=bool))[1]) > 0


def test_nodes_without_bias_have_a_neighbour_less() -> None:
    complete = np.array([(i, j) for i in range(4) for j in range(i + 1, 4)])
    assert verdict(4, complete, biased=np.zeros(4, dtype=bool))
    assert not verdict(4, complete)
    engine = Decimation(4, complete, biased=np.zeros(4, dtype=bool))
    couplings = np.random.default_rng(0).normal(size=6)
    truth = enumerate_machine(4, complete, couplings, np.zeros(4))
    found = engine.expectations(couplings, np.zeros(4))
    assert found.log_z == pytest.approx(truth.log_z, rel=1e-14)
    assert found.nodes.tolist() == [0.0] * 4
    with pytest.raises(FullspanError, match="not among the biased"):
        engine.log_z(couplings, np.ones(4))


def test_a_verdict_reads_well() -> None:
    grid = [(f"{i}{j}", f"{i + a}{j + b}") for i in range(4) for j in range(4) for a, b in ((0, 1), (1, 0))]
    grid = [(a, b) for a, b in grid if b[0] < "4" and b[1] < "4"]
    found = is_decimatable(grid)
    assert not found
    assert found.width == 4
    assert set(found.order).isdisjoint(found.blocking)
    assert str(found).startswith("not decimatable: no rule applies to ")
    assert str(found).endswith("general elimination would need width 4")
    good = is_decimatable(grid, clamped=[f"{i}{i}" for i in range(4)] + ["12", "21"])
    assert good
    assert str(good).startswith("decimatable, in the order ")
    assert len(good.order) == 10
    assert is_decimatable(graphs.factorial(9))
    assert "(100 nodes)" in str(is_decimatable(graphs.chain(100)))


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edges", "clamped", "message"),
    [
        ([(0, 3)], [], "names node 3; the nodes are 0 to 2"),
        ([(1, 1)], [], "'b' is joined with itself"),
        ([(0, 1), (2, 1), (1, 0)], [], "between 'a' and 'b' is listed twice"),
        ([(0, 1)], [5], "node 5 is clamped"),
        ([(0, 1)], [1, 1], "clamped twice"),
    ],
)
def test_what_is_no_graph_is_refused(edges: list[tuple[int, int]], clamped: list[int], message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        Decimation(3, edges, clamped, names=("a", "b", "c"))


def test_a_machine_that_is_too_dense_names_what_blocks_it() -> None:
    complete = [(i, j) for i in range(5) for j in range(i)]
    with pytest.raises(NotDecimatableError, match=r"each of a, b, c, d, e has .* width 4, tables of 2\^5") as caught:
        Decimation(6, complete, names=tuple("abcdef"))
    assert caught.value.blocking == tuple("abcde")


def test_wrong_arrays_are_refused() -> None:
    engine = Decimation(3, [(0, 1)], clamped=[2])
    with pytest.raises(FullspanError, match=r"couplings, one for each edge are needed, \(1,\)"):
        engine.log_z([1.0, 2.0], np.zeros(3), [1])
    with pytest.raises(FullspanError, match="fields are finite numbers; nan was given"):
        engine.log_z([1.0], [0.0, np.nan, 0.0], [1])
    with pytest.raises(FullspanError, match=r"patterns of shape \(1, 0\)"):
        engine.log_z([1.0], np.zeros(3))
    with pytest.raises(FullspanError, match="pattern 1 clamps node 2 to 0"):
        engine.log_z_batch([1.0], np.zeros(3), [[1], [0]])
