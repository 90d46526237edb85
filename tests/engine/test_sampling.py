"""The sampling engine against enumeration: kernels, chains, tempering, annealing, layers, and their errors."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Space
from fullspan.engine.elimination import ClusterTree
from fullspan.engine.protocol import CONVERGED
from fullspan.engine.sampling import (
    Base,
    Blocks,
    Chains,
    Factors,
    PairTerms,
    Pairwise,
    Target,
    TargetPath,
    Tempered,
    TermTables,
    add_rows,
    annealed,
    annealed_runs,
    colouring,
    diagnose,
    exact_log_z,
    layer_log_z,
    log_weights,
    log_z,
    pairwise_of,
    target_of,
    uniform_single,
)
from fullspan.engine.sampling.row_additions import _add_rows_plain
from fullspan.engine.sampling.two_layers import two_layers
from fullspan.errors import FullspanError, QueryError, TooLargeError
from fullspan.model import FactorGraph, LogLinear
from fullspan.model.algebra import BASES, Basis, Term, log_sum_exp, small_exponents
from fullspan.model.estimate import Estimate
from fullspan.model.files import read_factors
from fullspan.query.distributions import SampledDistribution


def machine(cards: tuple[int, ...], basis: str, order: int, seed: int, scale: float = 0.7) -> LogLinear:
    """All terms up to an order with random weights."""
    functions, rng = Basis(basis, cards), np.random.default_rng(seed)  # type: ignore[arg-type]
    terms: list[Term] = [
        tuple(zip(scope, digits, strict=True))
        for size in range(1, order + 1)
        for scope in itertools.combinations(range(len(cards)), size)
        for digits in itertools.product(*(range(1, cards[i]) for i in scope))
    ]
    theta = rng.normal(scale=scale, size=len(terms))
    exact = log_sum_exp(small_exponents(functions, dict(zip(terms, theta.tolist(), strict=True))))
    return LogLinear(Space.of_cards(cards), functions, tuple(terms), theta, exact)


def all_states(cards: tuple[int, ...]) -> NDArray[np.int64]:
    return np.array(list(itertools.product(*map(range, cards))))


def layers_of(m: int, k: int, seed: int, scale: float = 1.0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(scale=scale, size=(m, k)), rng.normal(size=m), rng.normal(size=k)


def as_machine(weights: Array, a: Array, c: Array) -> Pairwise:
    m, k = weights.shape
    coupling = np.zeros((m + k, m + k))
    coupling[:m, m:], coupling[m:, :m] = weights, weights.T
    return Pairwise(np.r_[a, c], coupling, 0.25)


KINDS = [
    pytest.param((2,) * 6, "monomial", 2, Pairwise, id="pairs of units"),
    pytest.param((2,) * 6, "walsh", 2, Pairwise, id="pairs of spins"),
    pytest.param((2,) * 6, "indicator", 2, Pairwise, id="pairs of indicators"),
    pytest.param((2,) * 5, "walsh", 3, Factors, id="triples of spins"),
    pytest.param((3, 2, 4), "indicator", 2, Factors, id="levels, pairs"),
    pytest.param((3, 2, 3, 2), "monomial", 3, Factors, id="levels, triples"),
]


@pytest.mark.parametrize(("cards", "basis", "order", "kind"), KINDS)
def test_log_weights_are_those_of_the_model(cards: tuple[int, ...], basis: str, order: int, kind: type) -> None:
    """log f(x) = theta . Phi(x), constant included, in whatever form the model is sampled."""
    model = machine(cards, basis, order, 3)
    target, states = target_of(model), all_states(cards)
    assert isinstance(target, kind)
    np.testing.assert_allclose(target.log_weight(states), -model.energy(states), atol=1e-12)


@pytest.mark.parametrize(("cards", "basis", "order", "kind"), KINDS)
def test_chains_have_the_distribution_of_the_model(cards: tuple[int, ...], basis: str, order: int, kind: type) -> None:
    """Frequencies of all states agree with p within 4 standard errors, and 9 in 10 within 2."""
    model = machine(cards, basis, order, 5)
    chains = Chains(target_of(model), 4_000, np.random.default_rng(1))
    draws = chains.draw(10, thin=5, warm_up=40).reshape(-1, len(cards))
    index = draws @ np.array(model.basis.strides)
    states = model.space.states(np.arange(model.basis.n_states))
    p = np.exp(model.log_prob(states))
    found = np.bincount(index, minlength=len(p)) / len(draws)
    off = np.abs(found - p) / np.sqrt(p * (1 - p) / len(draws))
    assert off.max() < 5.0
    assert (off < 2.5).mean() > 0.9


@pytest.mark.parametrize("form", ["pairs", "layers", "factors"])
def test_a_tempered_sweep_leaves_the_path_as_it_is(form: str) -> None:
    """At beta the stationary distribution is f_0^(1 - beta) f^beta, held variables apart: one sweep changes no margin.

    States are drawn exactly at beta first, so that a single sweep shows any error of the kernel.
    """
    rng = np.random.default_rng(11)
    weights, a, c = layers_of(3, 3, 2)
    pairs = as_machine(weights, a, c)
    target: Target = {"pairs": pairs, "layers": Blocks(pairs), "factors": _factors_of(pairs)}[form]
    base = Base(pairs.cards, rng.normal(size=12))
    states = all_states((2,) * 6)
    states = states[states[:, 1] == 1]
    beta = 0.6
    log_p = (1 - beta) * base.log_prob(states) + beta * target.log_weight(states)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    size = 60_000
    start = states[rng.choice(len(states), size=size, p=p)].astype(np.uint8)
    after = start.copy()
    free = np.array([0, 2, 3, 4, 5])
    target.sweep(after, rng.integers(0, 2**64, size=size, dtype=np.uint64), 1, free, np.full(size, beta), base)
    assert (after[:, 1] == 1).all()
    assert (after != start).any(axis=0)[free].all()
    code = after @ (1 << np.arange(6))
    expected = np.zeros(64)
    expected[states @ (1 << np.arange(6))] = p
    found = np.bincount(code, minlength=64) / size
    error = np.sqrt(expected * (1 - expected) / size) + 1e-12
    assert (np.abs(found - expected) / error).max() < 4.5


def _factors_of(pairs: Pairwise) -> Factors:
    n = len(pairs.bias)
    scopes: list[tuple[int, ...]] = [(i,) for i in range(n)]
    tables: list[Any] = [np.array([0.0, b]) for b in pairs.bias]
    for i, j in itertools.combinations(range(n), 2):
        scopes.append((j, i))
        tables.append(np.array([[0.0, 0.0], [0.0, pairs.coupling[i, j]]]))
    return Factors(FactorGraph(Space.of_cards((2,) * n), tuple(scopes), tuple(tables)))


def test_the_same_seed_gives_the_same_draws() -> None:
    model = machine((2,) * 7, "walsh", 2, 1)
    one, two = (Chains(target_of(model), 21, np.random.default_rng(4)).draw(5) for _ in range(2))
    other = Chains(target_of(model), 21, np.random.default_rng(5)).draw(5)
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def connected(n: int, seed: int, scale: float = 0.4) -> Pairwise:
    """A fully connected machine with random weights."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.normal(scale=scale, size=(n, n)), 1)
    return Pairwise(rng.normal(size=n), upper + upper.T)


def test_a_path_does_not_depend_on_the_cores_nor_on_the_chains_beside_it() -> None:
    """Same streams: 1 and 2 threads, and each chain alone, make the same draws; log weights agree to rounding."""
    import numba

    pairs, rng = connected(37, 2), np.random.default_rng(0)
    start, counters = rng.integers(0, 2, size=(150, 37)).astype(np.uint8), rng.integers(0, 2**63, size=150)
    base = Base(pairs.cards, rng.normal(size=74))
    betas = np.linspace(0.0, 1.0, 30)

    def walked(chosen: slice) -> tuple[NDArray[Any], Array]:
        states, streams = start[chosen].copy(), counters[chosen].astype(np.uint64)
        return states, pairs.annealed_log_weights(states, streams, betas, base)

    most = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = walked(slice(None))
    finally:
        numba.set_num_threads(most)
    for chosen in (slice(None), slice(3, 4), slice(5, 22), slice(100, 150)):
        states, weights = walked(chosen)
        np.testing.assert_array_equal(states, one[0][chosen])
        np.testing.assert_allclose(weights, one[1][chosen], rtol=1e-6)


def test_units_are_drawn_one_after_the_other() -> None:
    """One sweep from a known state: x_i less its probability given the new values before it and the old ones behind it
    has mean 0, and is uncorrelated with every value before it; held units are as they were, and seen."""
    n, size, rng = 40, 60_000, np.random.default_rng(5)
    pairs = connected(n, 4, scale=0.7)
    old = rng.integers(0, 2, size=n)
    states = np.repeat(old[None], size, axis=0).astype(np.uint8)
    free = np.delete(np.arange(n, dtype=np.int64), [3, 20])
    pairs.sweep(states, rng.integers(0, 2**63, size=size).astype(np.uint64), 1, free, np.ones(size))
    np.testing.assert_array_equal(states[:, [3, 20]], np.repeat(old[None, [3, 20]], size, axis=0))
    seen = np.repeat(old[None], size, axis=0).astype(np.float64)
    for i in free:
        p = 1 / (1 + np.exp(-(seen @ pairs.coupling[i] + pairs.bias[i])))
        off = (states[:, i] - p) / np.sqrt(p * (1 - p))
        before = np.concatenate([np.ones((size, 1)), states[:, :i] - states[:, :i].mean(axis=0)], axis=1)
        spread = np.sqrt((before**2).sum(axis=0))
        assert np.abs(off @ before / np.where(spread > 0, spread, 1.0)).max() < 4.8
        seen[:, i] = states[:, i]


@pytest.mark.parametrize(("n", "chains"), [(1, 3), (31, 1), (64, 16), (150, 70), (257, 33)])
def test_a_sweep_is_the_plain_scan_of_the_same_stream(n: int, chains: int) -> None:
    """Blocks, stripes and lanes, full or not: three sweeps end where unit after unit in NumPy does.

    A number that falls within rounding of its probability may part one chain from its twin; more than one in thirty is
    an error.
    """
    rng = np.random.default_rng(n)
    pairs = connected(n, n, scale=1.5 / math.sqrt(n))
    free = np.flatnonzero(rng.random(n) < 0.9) if n > 1 else np.array([0])
    states = rng.integers(0, 2, size=(chains, n)).astype(np.uint8)
    beta, base = rng.uniform(0.5, 1.0, size=chains), Base(pairs.cards, rng.normal(size=2 * n))
    counters = rng.integers(0, 2**63, size=chains).astype(np.uint64)
    x, stream = states.astype(np.float64), counters.copy()
    pairs.sweep(states, counters, 3, free, beta, base)
    pull = base.log_levels[1::2] - base.log_levels[::2]
    for i in np.tile(free, 3):
        stream += np.uint64(0x9E3779B97F4A7C15)
        u = np.array([uniform_single(counter) for counter in stream])
        odds = (1 - beta) * pull[i] + beta * (x @ pairs.coupling[i] + pairs.bias[i])
        e = np.exp(-np.abs(odds))
        x[:, i] = (odds >= 0) != (u * (1 + e) < e)
    np.testing.assert_array_equal(counters, stream)
    assert (states != x).any(axis=1).sum() <= chains // 30


def test_the_compiled_annealing_is_the_plain_one() -> None:
    """The twin meets the states of the loop over betas, from the same streams, and has its log weights."""
    pairs = connected(50, 7)
    base = Base(pairs.cards, np.random.default_rng(1).normal(size=100))
    path = TargetPath(pairs, base, np.random.default_rng(2))
    met, own = path.start(20)
    states, streams = met.copy(), own.copy()
    object.__setattr__(path, "start", lambda chains: (met, own))
    plain = log_weights(path, 20, 90)
    found = pairs.annealed_log_weights(states, streams, np.linspace(0.0, 1.0, 91), base)
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-4)
    assert np.ptp(plain) > 1
    path.sweep((states, streams), 1.0)  # the plain loop ends with a sweep of the target, the twin before it
    np.testing.assert_array_equal(met, states)


def test_rare_values_are_drawn_as_often_as_they_should_be() -> None:
    """A unit with log odds -12 (6e-6) and one with +12, a million draws each: within 4 standard errors."""
    pairs = Pairwise(np.array([-12.0, 12.0]), np.zeros((2, 2)))
    states, rng = np.zeros((1 << 20, 2), dtype=np.uint8), np.random.default_rng(3)
    pairs.sweep(states, rng.integers(0, 2**63, size=1 << 20).astype(np.uint64), 1, np.arange(2), np.ones(1 << 20))
    expected = (1 << 20) / (1 + math.exp(12.0))
    for seen in (states[:, 0].sum(), (1 - states[:, 1]).sum()):
        assert abs(float(seen) - expected) < 4 * math.sqrt(expected)


def expected(model: LogLinear, terms: Sequence[Term]) -> np.ndarray:
    """<Phi_y> of each term, summed over all states."""
    states = np.array(list(itertools.product(*map(range, model.space.cards))))
    return np.exp(model.log_prob(states)) @ model.basis.evaluate(terms, states)


def means_of(model: LogLinear, terms: Sequence[Term], states: NDArray[Any]) -> Any:
    """Means of terms over draws (draws, chains, n), with their errors."""
    values = model.basis.evaluate(terms, states.reshape(-1, states.shape[2]))
    return diagnose(values.reshape(*states.shape[:2], -1))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("cards", "basis", "order"), [((2,) * 7, "walsh", 2), ((2,) * 6, "monomial", 3), ((3, 2, 4, 2), "indicator", 2)]
)
def test_expectations_by_chains_elimination_and_the_table_agree(
    cards: tuple[int, ...], basis: str, order: int, seed: int
) -> None:
    """eta of all terms within 4 standard errors, which are neither too large nor too small; log Z is exact."""
    model = machine(cards, basis, order, seed, scale=0.5)
    rng = np.random.default_rng(seed)
    assert log_z(model, rng).value == pytest.approx(model.log_z, abs=1e-10)
    found = means_of(model, model.terms, Chains(target_of(model), 50, rng).draw(400, warm_up=200))
    off = np.abs(found.mean - expected(model, model.terms)) / found.error
    assert off.max() < 4.0
    assert 0.3 < np.sqrt((off**2).mean()) < 2.0
    assert (found.error > 0).all()


def test_held_variables_condition_the_model() -> None:
    """Draws given x_1 = 2 have the means of p(x | x_1 = 2)."""
    model = machine((2, 3, 2, 2), "indicator", 2, 8)
    states = model.space.states(np.arange(model.basis.n_states))
    p = np.exp(model.log_prob(states)) * (states[:, 1] == 2)
    p /= p.sum()
    walked = Chains(target_of(model), 60, np.random.default_rng(0), given={1: 2}).draw(300, warm_up=200)
    assert (walked[:, :, 1] == 2).all()
    terms: list[Term] = [((0, 1),), ((0, 1), (3, 1))]
    found = means_of(model, terms, walked)
    exact = p @ model.basis.evaluate(terms, states)
    assert (np.abs(found.mean - exact) < 4 * found.error).all()


def test_expectations_are_gathered_from_states_as_enumeration_has_them() -> None:
    """Both forms of terms return the mean of Phi_y over weighted states, in every basis."""
    rng = np.random.default_rng(0)
    for basis in BASES:
        model = machine((2,) * 5, basis, 2, 1)
        states, weights = rng.integers(0, 2, size=(30, 5)), rng.random(30)
        expected = weights @ model.basis.evaluate(model.terms, states) / weights.sum()
        pairs = PairTerms.of(model.basis, model.terms)
        assert pairs is not None
        np.testing.assert_allclose(pairs.moments(states, weights), expected, atol=1e-12)
        tables = TermTables.of(model.space, model.basis, model.terms)
        np.testing.assert_allclose(tables.moments(states, weights), expected, atol=1e-12)
        np.testing.assert_allclose(tables.target(model.theta).log_weight(states), -model.energy(states), atol=1e-12)


def test_tempering_crosses_where_single_chains_do_not() -> None:
    """Two valleys: ten spins that all agree, one side favoured. Chains stay where they fall, replicas do not."""
    n, basis = 10, Basis("walsh", (2,) * 10)
    terms: list[Term] = [((i, 1), (j, 1)) for i, j in itertools.combinations(range(n), 2)]
    terms.append(((0, 1),))
    theta = np.r_[np.full(len(terms) - 1, 0.5), 0.4]
    exact = log_sum_exp(small_exponents(basis, dict(zip(terms, theta.tolist(), strict=True))))
    model = LogLinear(Space.of_cards((2,) * n), basis, tuple(terms), theta, exact)
    truth = expected(model, [((0, 1),)])[0]
    plain = SampledDistribution(model, np.random.default_rng(2), chains=40, draws=400)
    plain.ask("P(x0=0)")
    assert plain.r_hat > 1.5
    tempered = SampledDistribution(model, np.random.default_rng(2), chains=40, draws=400, tempered=True)
    found = tempered.ask("P(x0=0)")
    assert tempered.r_hat <= CONVERGED
    assert abs(found.value - (1 + truth) / 2) < 4 * found.error < 0.1  # type: ignore[union-attr]
    with pytest.raises(QueryError, match="hold no variable"):
        tempered.ask("P(x0=0 | x1=1)")
    replicas = Tempered(target_of(model), 10, np.random.default_rng(0), betas=12)
    replicas.sweep(50)
    assert ((replicas.accepted > 0.1) & (replicas.accepted < 1)).all()


# -- log Z ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "k"), [(1, 4), (5, 3), (4, 9), (0, 3), (13, 2)])
def test_one_layer_enumerated_is_the_sum_over_both(m: int, k: int) -> None:
    weights, a, c = layers_of(m, k, 4, scale=2.0)
    v, h = all_states((2,) * m) if m else np.zeros((1, 0)), all_states((2,) * k)
    exponent = (v @ a)[:, None] + (h @ c)[None] + v @ weights @ h.T
    assert two_layers(weights, a, c) == pytest.approx(log_sum_exp(exponent.ravel()), abs=1e-11)


@pytest.mark.parametrize(("left", "right"), [((1, 3, 1), (4, 1, 2)), ((3, 3), (1, 1, 1, 1)), ((1,) * 13, (5, 3, 1, 3))])
def test_groups_of_which_one_is_on_are_summed(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """log Z = log of the sum over the states in which each group has one unit on; more than one walk in the last."""
    weights, a, c = layers_of(sum(left), sum(right), 6)
    v, h = (one_on(sizes) for sizes in (left, right))
    exponent = (v @ a)[:, None] + (h @ c)[None] + v @ weights @ h.T
    found = two_layers(weights, a, c, np.array(left), np.array(right))
    assert found == pytest.approx(log_sum_exp(exponent.ravel()), abs=1e-11)


def one_on(sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """All states of groups of units; a group of one unit is on or off."""
    parts = [np.array([[0], [1]]) if size == 1 else np.eye(size, dtype=np.int64) for size in sizes]
    return np.array([np.concatenate(choice) for choice in itertools.product(*parts)])


def test_strong_layers_do_not_overflow() -> None:
    """400 units of log odds 1000: log Z = 400 * 1000 + log 2."""
    assert two_layers(np.full((1, 400), 1000.0), np.array([-400_000.0]), np.zeros(400)) == pytest.approx(
        np.logaddexp(400 * math.log(2.0), 0.0), rel=1e-12
    )


def test_layers_are_found_in_a_machine() -> None:
    weights, a, c = layers_of(6, 4, 9)
    pairs = as_machine(weights, a, c)
    order = np.random.default_rng(0).permutation(10)
    mixed = Pairwise(pairs.bias[order], pairs.coupling[np.ix_(order, order)], pairs.constant)
    assert layer_log_z(mixed) == pytest.approx(0.25 + two_layers(weights, a, c), abs=1e-12)
    colours = colouring(mixed.coupling)
    assert sorted(np.bincount(colours)) == [4, 6]
    odd = pairs.coupling.copy()
    odd[0, 1] = odd[1, 0] = 1.0
    assert layer_log_z(Pairwise(pairs.bias, odd)) is None


def test_log_z_is_exact_where_a_way_is_open_and_else_says_its_error() -> None:
    """A chain of 60 spins (width 1), 40 units in two layers, and all pairs of 40: the last one is sampled."""
    rng = np.random.default_rng(3)
    table = rng.normal(size=(2, 2))
    chain = FactorGraph(Space.of_cards((2,) * 60), tuple((i, i + 1) for i in range(59)), (table,) * 59)
    assert log_z(chain) == Estimate.known(ClusterTree(chain).log_z())
    weights, a, c = layers_of(30, 10, 1)
    layers = _factors_of(as_machine(weights, a, c)).graph
    assert exact_log_z(layers) == pytest.approx(two_layers(weights, a, c), abs=1e-9)
    model = _all_pairs(40, 1)
    with pytest.raises(TooLargeError, match="can only be estimated"):
        log_z(model)
    found = log_z(model, rng, chains=50, steps=100)
    assert not found.exact
    assert found.error > 0
    assert "±" in str(found)


def _all_pairs(n: int, seed: int) -> LogLinear:
    basis = Basis("walsh", (2,) * n)
    terms: list[Term] = [((i, 1), (j, 1)) for i, j in itertools.combinations(range(n), 2)]
    theta = np.random.default_rng(seed).normal(scale=0.3 / math.sqrt(n), size=len(terms))
    return LogLinear(Space.of_cards((2,) * n), basis, tuple(terms), theta, 0.0)


@pytest.mark.parametrize("kind", ["pairs", "layers", "factors", "levels"])
def test_annealing_holds_the_exact_value_in_its_interval(kind: str) -> None:
    """In at least 18 of 20 seeded runs, for every kind of target."""
    if kind == "levels":
        model = machine((3, 2, 4, 2), "indicator", 2, 6)
        target, exact = target_of(model), model.log_z
    else:
        weights, a, c = layers_of(6, 5, 3, scale=1.5)
        pairs = as_machine(weights, a, c)
        exact = two_layers(weights, a, c) + (0.25 if kind != "factors" else 0.0)
        forms: dict[str, Target] = {"pairs": pairs, "layers": Blocks(pairs), "factors": _factors_of(pairs)}
        target = forms[kind]
    runs = [annealed(target, np.random.default_rng(seed), chains=200, steps=60).log_z for seed in range(20)]
    inside = sum(low <= exact <= high for low, high in (run.interval() for run in runs))
    assert inside >= 18
    assert 0.001 < np.mean([run.error for run in runs]) < 0.2


def test_no_run_of_annealing_is_believed_alone() -> None:
    """A run of half the steps goes before the last; half the distance between them is part of its error."""
    weights, a, c = layers_of(6, 5, 3, scale=1.5)
    pairs, exact = as_machine(weights, a, c), two_layers(weights, a, c) + 0.25
    inside = 0
    for seed in range(20):
        found = annealed(pairs, np.random.default_rng(seed), chains=60, max_steps=3_200)
        assert found.before is not None
        assert found.steps == 2 * found.before.steps == 3_200
        own, apart = found.alone.error, abs(found.alone.value - found.before.alone.value)
        assert found.log_z.error == pytest.approx(math.sqrt(own**2 + apart**2 / 4))
        low, high = found.log_z.interval()
        inside += low <= exact <= high
    assert inside >= 18
    found = annealed(pairs, np.random.default_rng(0), chains=60, steps=101)
    assert found.before is not None
    assert (found.before.steps, found.steps) == (51, 101)


@pytest.mark.parametrize("name", ["DBN_11", "DBN_13", "DBN_15"])
def test_layers_of_real_machines_are_summed_exactly(name: str, shared_data: Callable[[str], Path]) -> None:
    """Enumeration of one layer agrees with elimination to 1e-9, and with the official value to its six digits."""
    path = shared_data(f"uai/models/{name}.uai")
    graph = read_factors(path)
    pairs = pairwise_of(graph)
    assert pairs is not None
    exact = layer_log_z(pairs)
    assert exact is not None
    assert exact == pytest.approx(ClusterTree(graph).log_z(), rel=0, abs=1e-9)
    official = float(path.with_suffix(".uai.PR").read_text().split()[1])
    assert exact / math.log(10) == pytest.approx(official, rel=1e-5)


@pytest.mark.parametrize("name", ["DBN_15"])
def test_annealing_of_a_real_machine_is_near(name: str, shared_data: Callable[[str], Path]) -> None:
    """A small version of the test below: 3 runs, each within 4 of its errors."""
    pairs = pairwise_of(read_factors(shared_data(f"uai/models/{name}.uai")))
    assert pairs is not None
    exact = layer_log_z(pairs)
    assert exact is not None
    for seed in range(3):
        found = annealed(pairs, np.random.default_rng(seed), chains=500, steps=400).log_z
        assert abs(found.value - exact) < 4 * found.error < 2.5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["DBN_11", "DBN_13", "DBN_15"])
def test_annealing_of_real_machines_is_in_its_interval(name: str, shared_data: Callable[[str], Path]) -> None:
    """The exact value lies in the 95% interval of at least 18 of 20 seeded runs, as annealing is by default."""
    pairs = pairwise_of(read_factors(shared_data(f"uai/models/{name}.uai")))
    assert pairs is not None
    exact = layer_log_z(pairs)
    assert exact is not None
    runs = [annealed(pairs, np.random.default_rng(seed)).log_z.interval() for seed in range(20)]
    inside = sum(low <= exact <= high for low, high in runs)
    assert inside >= 18, json.dumps(runs)


# -- bad input ------------------------------------------------------------------------------------------------


def test_bad_input_is_refused_with_the_way_out() -> None:
    pairs = as_machine(*layers_of(2, 2, 0))
    rng = np.random.default_rng(0)
    with pytest.raises(FullspanError, match="chains is 0; a whole number of at least 1"):
        Chains(pairs, 0, rng)
    with pytest.raises(FullspanError, match=r"cannot start from the shape \(3, 3\)"):
        Chains(pairs, 3, rng, start=np.zeros((3, 3)))
    with pytest.raises(
        FullspanError, match="chain 0 would start with the code 2 for variable 0, which has codes 0 to 1"
    ):
        Chains(pairs, 3, rng, start=np.full((3, 4), 2))
    with pytest.raises(FullspanError, match="variable 1 cannot be held at 2"):
        Chains(pairs, 3, rng, given={1: 2})
    with pytest.raises(FullspanError, match="sweeps is -1; a whole number of at least 0"):
        Chains(pairs, 3, rng).sweep(-1)
    with pytest.raises(FullspanError, match="draws is -2; a whole number of at least 0"):
        Chains(pairs, 3, rng).draw(-2)
    with pytest.raises(FullspanError, match=r"beyond 1e\+30"):
        Pairwise(np.array([1e39, 0.0]), np.zeros((2, 2)))
    with pytest.raises(FullspanError, match="chains is 1; a whole number of at least 2"):
        annealed(pairs, rng, chains=1)
    for wrong in (2.5, math.nan, -3, 0, True, "10"):
        with pytest.raises(FullspanError, match=f"steps is {wrong!r}; a whole number of at least 1 is needed"):
            annealed(pairs, rng, steps=wrong)  # type: ignore[arg-type]
        with pytest.raises(FullspanError, match=f"chains is {wrong!r}; a whole number of at least 1 is needed"):
            Chains(pairs, wrong, rng)  # type: ignore[arg-type]
        with pytest.raises(FullspanError, match=f"chains is {wrong!r}; a whole number of at least 1 is needed"):
            Tempered(pairs, wrong, rng)  # type: ignore[arg-type]
        with pytest.raises(FullspanError, match=f"thin is {wrong!r}; a whole number of at least 1 is needed"):
            Chains(pairs, 3, rng).draw(2, thin=wrong)  # type: ignore[arg-type]
    with pytest.raises(FullspanError, match="infinite or not a number"):
        Pairwise(np.array([np.nan, 0.0]), np.zeros((2, 2)))
    with pytest.raises(FullspanError, match="symmetric"):
        Pairwise(np.zeros(2), np.array([[0.0, 1.0], [0.0, 0.0]]))
    with pytest.raises(FullspanError, match="do not fit"):
        two_layers(np.zeros((2, 2)), np.zeros(3), np.zeros(2))
    with pytest.raises(TooLargeError, match=r"31 and 32.*annealed importance sampling"):
        two_layers(np.zeros((31, 32)), np.zeros(31), np.zeros(32))
    forbidding = FactorGraph(Space.of_cards((2, 2)), ((0, 1),), (np.array([[0.0, -np.inf], [0.0, 0.0]]),))
    with pytest.raises(FullspanError, match=r"factor over x0, x1 forbids a state.*exact answers"):
        target_of(forbidding)
    with pytest.raises(FullspanError, match="betas that rise from 0 to 1"):
        Tempered(pairs, 2, rng, betas=np.array([0.0, 0.5]))


@pytest.mark.parametrize("most", [1, 100, 3_199, 3_200])
def test_a_low_limit_leaves_room_for_a_run_before(most: int) -> None:
    """Whatever the limit, another run goes before, and none is longer."""
    made = list[int]()

    def run(steps: int) -> np.ndarray:
        made.append(steps)
        return np.zeros(50)

    found = annealed_runs(run, 50, None, most)
    assert found.before is not None
    assert made == [min(1_600, (most + 1) // 2), most]


@pytest.mark.parametrize("vectors", [1, 4, 7])
def test_rows_are_added_as_their_plain_definition_says(vectors: int) -> None:
    """Which is what runs where nothing is compiled."""

    @njit
    def compiled(line: Any, table: Any, listed: Any, weights: Any, number: int, column: int, vectors: int) -> None:
        add_rows(line, table, listed, weights, number, column, vectors)

    rng = np.random.default_rng(vectors)
    table, weights = rng.normal(size=(9, 160)).astype(np.float32), rng.normal(size=5).astype(np.float32)
    listed, line = np.array([8, 0, 3, 3, 5], dtype=np.uint32), rng.normal(size=160).astype(np.float32)
    found, expected = line.copy(), line.copy()
    compiled(found, table, listed, weights, 4, 16, vectors)
    _add_rows_plain(expected, table, listed, weights, 4, 16, vectors)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    assert not np.array_equal(expected, line)
    assert (found[:16] == line[:16]).all()
    assert (found[16 + 16 * vectors :] == line[16 + 16 * vectors :]).all()
