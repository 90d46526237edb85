"""Machines in layers against the sum over all states, one by one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.engine.sampling import Device, Network, annealed_log_z
from fullspan.engine.sampling.layers import bound, completed, log_z, mean_field, n_enumerated
from fullspan.engine.sampling.layers.device import device
from fullspan.errors import FullspanError, TooLargeError
from fullspan.model import FactorGraph, LayeredMachine
from fullspan.model.files import read_uai
from fullspan.model.units import Units
from layers import all_codes, cpu, joint, log_sum, machine_of, restricted_of

SHAPES = [((2, 2, 2), (4,)), ((2, 3, 1, 4), (2,)), ((3, 2), (3, 2)), ((2, 2, 3), (2, 3, 2))]


def test_units_and_codes_are_each_other() -> None:
    """decode(encode(x)) = x for every mixture of levels, and one unit of a group is on."""
    units = Units(Space.of_cards((3, 2, 1, 4, 2, 3)))
    codes = all_codes(units.space.cards)
    encoded = units.encode(codes)
    assert np.array_equal(units.decode(encoded), codes)
    assert units.blocks == ((0, 2, 1), (2, 8, 3), (8, 12, 4))
    assert (encoded[:, 8:].sum(axis=1) == 1).all()
    assert units.names[:3] == ("x1=1", "x4=1", "x0=0")


def test_the_units_of_a_missing_cell_are_open() -> None:
    """Every unit of a missing variable is -1, and no other."""
    encoded = Units(Space.of_cards((3, 2, 2))).encode(np.array([[-1, 1, -1], [2, -1, 0]]))
    assert encoded.tolist() == [[1, -1, -1, -1, -1], [-1, 0, 0, 0, 1]]


@pytest.mark.parametrize(("cards", "sizes"), SHAPES)
def test_log_z_is_the_sum_over_all_states(cards: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    """log Z by enumeration of one parity = log of the sum over all joint states, whichever parity is smaller."""
    machine = machine_of(cards, sizes, seed=3)
    _, _, log = joint(machine)
    assert log_z(machine).value == pytest.approx(log_sum(log), abs=1e-11)


def test_the_graph_of_a_machine_has_its_weights() -> None:
    """The factors of a machine give each joint state the same log weight as its layers."""
    machine = machine_of((2, 3, 1), (3, 2), seed=5)
    codes, _, log = joint(machine)
    assert machine.graph().log_weight(codes) == pytest.approx(log, abs=1e-12)


def test_a_bipartite_graph_becomes_a_machine() -> None:
    """log Z of the machine plus the constant is that of the factors, whatever the order of the variables."""
    rng = np.random.default_rng(2)
    scopes = ((0,), (3,), (0, 2), (2, 1), (3, 4), (1, 4), (4, 0))
    tables = tuple(rng.normal(size=(2,) * len(scope)) for scope in scopes)
    graph = FactorGraph(Space.of_cards((2,) * 5), scopes, tables)
    machine, constant = restricted_of(graph)
    expected = log_sum(graph.log_weight(all_codes((2,) * 5)))
    assert log_z(machine).value + constant == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "n_enumerated_bits"), [("DBN_11", 20), ("DBN_13", 22), ("DBN_15", 21)])
def test_published_restricted_machines_have_their_log_z(
    shared_data: Callable[[str], Path], name: str, n_enumerated_bits: int
) -> None:
    """log Z of the RBMs of the UAI competition by enumeration of one layer, to 1e-9."""
    reference = json.loads(shared_data("uai/reference.json").read_text())
    entry = next(group[name] for group in (reference, *reference.values()) if isinstance(group, dict) and name in group)
    machine, constant = restricted_of(read_uai(shared_data(f"uai/models/{name}.uai")))
    assert n_enumerated(machine) == 2**n_enumerated_bits
    expected = entry["log10Z_double"] * math.log(10)
    assert log_z(machine).value + constant == pytest.approx(expected, abs=1e-9)


def test_too_large_a_sum_is_refused() -> None:
    machine = LayeredMachine(Space.of_cards((2,) * 40), (np.zeros(40), np.zeros(40)), (np.zeros((40, 40)),))
    with pytest.raises(TooLargeError, match=r"2\^40 states.*log_z='ais'"):
        log_z(machine)


@pytest.mark.parametrize(("cards", "sizes"), [((2,) * 8, (6,)), ((2, 3, 2, 2), (4, 3))])
def test_annealing_holds_the_truth_in_its_interval(cards: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    """AIS of 30 seeds: the exact log Z lies in the 95 % interval of at least 27, nine in ten."""
    machine = machine_of(cards, sizes, seed=1, scale=1.0)
    truth = log_z(machine).value
    estimates = [annealed_log_z(machine, cpu(seed), 200, 100) for seed in range(30)]
    assert sum(low <= truth <= high for low, high in (e.interval() for e in estimates)) >= 27
    assert all(not e.is_exact and 0 < e.standard_error < 0.2 for e in estimates)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["DBN_11", "DBN_13", "DBN_15"])
def test_annealing_of_published_machines_is_in_its_interval(shared_data: Callable[[str], Path], name: str) -> None:
    """The exact log Z lies in the 95 % interval of at least 18 of 20 seeded runs of 200 chains and 5,000 steps."""
    machine, _ = restricted_of(read_uai(shared_data(f"uai/models/{name}.uai")))
    truth = log_z(machine).value
    runs = [annealed_log_z(machine, cpu(seed), 200, 5000).interval() for seed in range(20)]
    assert sum(low <= truth <= high for low, high in runs) >= 18, runs


def test_one_step_of_annealing_is_importance_sampling() -> None:
    """The mean weight is Z / Z_0 for every schedule, a single step included."""
    machine = machine_of((2, 2, 3), (3,), seed=4, scale=0.4)
    e = annealed_log_z(machine, cpu(9), 20000, 1)
    assert abs(e.value - log_z(machine).value) < 4 * e.standard_error < 0.1


def test_annealing_needs_two_chains() -> None:
    with pytest.raises(FullspanError, match="at least 2"):
        annealed_log_z(machine_of((2,), (1,)), cpu(), 1, 10)


def generic(dtype: str = "float64", seed: int = 0) -> Device:
    """The code that every array library runs, on NumPy's arrays."""
    rng = np.random.default_rng(seed)
    return Device(np, dtype, lambda shape, kind: rng.random(shape, dtype=kind))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_compiled_loops_are_the_generic_code(dtype: str) -> None:
    """Means, sums and products of the processor's kernels = those of the array-API code."""
    rng = np.random.default_rng(0)
    blocks = Units(Space.of_cards((2, 3, 2, 4, 3))).blocks
    raw, bias = rng.normal(0, 4, (7, 12)).astype(dtype), rng.normal(0, 2, 12).astype(dtype)
    fast, slow = cpu(0, dtype), generic(dtype)
    tol = {"rtol": 2e-6, "atol": 1e-6} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-13}
    for scale in (1.0, 0.3):
        for name in ("mean", "log_sum"):
            a, b = (getattr(d, name)(blocks, raw, bias, scale) for d in (fast, slow))
            np.testing.assert_allclose(a, b, **tol)
    x = (rng.random((9, 12)) < 0.15).astype(dtype) * rng.normal(1, 0.1, (9, 12)).astype(dtype)
    w, h = rng.normal(size=(12, 5)).astype(dtype), rng.normal(size=(9, 5)).astype(dtype)
    np.testing.assert_allclose(fast.product(x, w), slow.product(x, w), **tol)
    np.testing.assert_allclose(fast.contrast(x, h, x[:4], h[:4]), slow.contrast(x, h, x[:4], h[:4]), **tol)
    low = (rng.normal(size=(12, 2)).astype(dtype), rng.normal(size=(2, 5)).astype(dtype))
    v, g = rng.normal(size=(12, 5)).astype(dtype), rng.normal(size=(12, 5)).astype(dtype)
    ours = fast.ascend(w.copy(), v.copy(), g, low, 0.1, 0.9, 0.01)
    for a, b in zip(ours, slow.ascend(w, v, g, low, 0.1, 0.9, 0.01), strict=True):
        np.testing.assert_allclose(a, b, **tol)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("n", "p"), [(1, 1), (5, 70), (16, 64), (83, 30), (130, 131)])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
def test_sums_of_rows_are_products_with_bits(n: int, p: int, share: float, dtype: str) -> None:
    """x w, h w' and x' h / rows − z' k / rows of drawn units = the products of the same numbers, at every size."""
    rng = np.random.default_rng(n + p)
    on = cpu(0, dtype)
    tol = {"rtol": 1e-5, "atol": 2e-5} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-12}
    x, z = ((rng.random((m, n)) < share).astype(np.int8) for m in (13, 6))
    w, h, k = (rng.normal(size=(rows, p)).astype(dtype) for rows in (n, 13, 6))
    np.testing.assert_allclose(on.product(x, w), x.astype(dtype) @ w, **tol)
    up = (rng.random((7, p)) < share).astype(np.int8)
    np.testing.assert_allclose(on.product(up, w.T), up.astype(dtype) @ w.T, **tol)
    expected = generic(dtype).contrast(x.astype(dtype), h, z.astype(dtype), k)
    np.testing.assert_allclose(on.contrast(x, h, z, k), expected, **tol)
    np.testing.assert_allclose(on.contrast(x, h, z.astype(dtype), k), expected, **tol)
    assert on.product(x, w).dtype == dtype
    assert np.array_equal(on.totals(x), x.sum(axis=0))


@pytest.mark.parametrize("make", [cpu, lambda seed: generic(seed=seed)])
def test_draws_have_the_means(make: Callable[[int], Device]) -> None:
    """Frequencies of drawn units agree with their probabilities within 4.5 standard errors; groups have one on."""
    blocks = Units(Space.of_cards((2, 3, 2, 4))).blocks
    bias, n = np.random.default_rng(1).normal(0, 1.5, 9), 40000
    on = make(3)
    drawn = on.draw(blocks, np.zeros((n, 9)), bias)
    p = on.mean(blocks, np.zeros((1, 9)), bias)[0]
    assert (np.abs(drawn.mean(axis=0) - p) <= 4.5 * np.sqrt(p * (1 - p) / n)).all()
    assert set(np.unique(drawn)) == {0.0, 1.0}
    assert (drawn[:, 2:5].sum(axis=1) == 1).all()
    pairs = np.corrcoef(drawn[:, :2].T)[0, 1], np.corrcoef(drawn[:-1, 0], drawn[1:, 0])[0, 1]
    assert max(map(abs, pairs)) < 4.5 / math.sqrt(n)


def test_draws_are_fixed_by_the_seed() -> None:
    network = Network.of(machine_of((2,) * 5, (4,)), cpu(7))
    again = Network.of(machine_of((2,) * 5, (4,)), cpu(7))
    base = np.zeros(5)
    for one, two in zip(network.start(50, base), again.start(50, base), strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize(("cards", "sizes"), SHAPES)
def test_block_gibbs_has_the_expectations(cards: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    """Means of units and of products of neighbours over independent chains = enumeration, within 4.5 errors."""
    machine = machine_of(cards, sizes, seed=8, scale=0.6)
    network, n = Network.of(machine, cpu(1)), 20000
    states = network.start(n, machine.rates)
    for _ in range(40):
        network.sweep(states)
    _, layers, log = joint(machine)
    p = np.exp(log - log_sum(log))
    for k, layer in enumerate(layers):
        exact = p @ layer
        assert (np.abs(states[k].mean(axis=0) - exact) < 4.5 * np.sqrt(exact * (1 - exact) / n) + 1e-12).all()
    for k in range(len(layers) - 1):
        exact = np.einsum("s,si,sj->ij", p, layers[k], layers[k + 1])
        found = states[k].T.astype(float) @ states[k + 1] / n
        assert (np.abs(found - exact) < 4.5 * np.sqrt(exact * (1 - exact) / n) + 1e-12).all()


def test_mean_field_is_exact_with_one_layer() -> None:
    """One hidden layer: the bound is log sum_h exp(-E), and minus the free energy."""
    machine = machine_of((2, 3, 2), (4,), seed=2)
    network = Network.of(machine, cpu())
    x = machine.units.encode(all_codes(machine.space.cards)).astype(float)
    result = mean_field(network, x)
    assert result.converged
    assert bound(network, result.means) == pytest.approx(network.log_weight(x), abs=1e-10)
    _, layers, log = joint(machine)
    for row, value in zip(x, network.log_weight(x), strict=True):
        assert value == pytest.approx(log_sum(log[(layers[0] == row).all(axis=1)]), abs=1e-10)


def test_the_mean_field_bound_lies_below_and_grows() -> None:
    """Several layers: the bound never exceeds log sum_h exp(-E), and every sweep lifts it; convergence is told."""
    machine = machine_of((2, 2, 2), (3, 2, 2), seed=6)
    network = Network.of(machine, cpu())
    x = machine.units.encode(all_codes(machine.space.cards)).astype(float)
    _, layers, log = joint(machine)
    truth = np.array([log_sum(log[(layers[0] == row).all(axis=1)]) for row in x])
    bounds = np.array([bound(network, mean_field(network, x, k, 0.0).means) for k in (1, 2, 4, 8, 200)])
    assert (bounds <= truth + 1e-12).all()
    assert (np.diff(bounds, axis=0) >= -1e-12).all()
    assert (truth - bounds[-1]).max() < 1.0
    assert not mean_field(network, x, 1, 1e-9).converged
    done = mean_field(network, x, 500, 1e-9)
    assert done.converged
    assert 1 < done.n_sweeps < 500
    assert done.change <= 1e-9


@pytest.mark.parametrize("n_hidden", [2, 7])
def test_open_cells_are_summed_over(n_hidden: int) -> None:
    """Rows with missing cells: weight, visible and hidden expectations = enumeration, by either side of the sum."""
    machine = machine_of((2, 3, 1, 2, 4), (n_hidden,), seed=n_hidden)
    codes = np.array([[0, 2, 0, 1, 3], [-1, 2, 0, 1, -1], [1, -1, 0, -1, -1], [-1, -1, -1, -1, -1], [-1, 0, 0, 0, -1]])
    found = completed(machine, codes)
    every, layers, log = joint(machine)
    for i, row in enumerate(codes):
        fits = ((every[:, : len(row)] == row) | (row < 0)).all(axis=1)
        p = np.exp(log[fits] - log_sum(log[fits]))
        assert found.log_weight[i] == pytest.approx(log_sum(log[fits]), abs=1e-10)
        assert found.visible[i] == pytest.approx(p @ layers[0][fits], abs=1e-10)
        assert found.hidden[i] == pytest.approx(p @ layers[1][fits], abs=1e-10)


def test_too_many_open_cells_are_refused() -> None:
    machine = LayeredMachine(Space.of_cards((2,) * 30), (np.zeros(30), np.zeros(25)), (np.zeros((30, 25)),))
    with pytest.raises(TooLargeError, match="row 1 leaves 30 cells missing"):
        completed(machine, np.full((1, 30), -1))


def test_a_card_that_is_not_there_is_said() -> None:
    """Without CuPy or PyTorch, device='cuda' says what to install; other names are refused."""
    rng = np.random.default_rng(0)
    try:
        device("cuda", "float32", rng)
    except FullspanError as error:
        assert "fullspan[gpu]" in str(error)  # noqa: PT017
    with pytest.raises(FullspanError, match="'tpu'"):
        device("tpu", "float32", rng)
    with pytest.raises(FullspanError, match="'float16'"):
        device("cpu", "float16", rng)


@pytest.mark.parametrize(
    ("biases", "weights", "message"),
    [
        ((np.zeros(3), np.zeros(0)), (np.zeros((3, 0)),), "at least 1 unit"),
        ((np.zeros(2), np.zeros(2)), (np.zeros((2, 2)),), "the variables have 3 units"),
        ((np.zeros(3), np.zeros(2)), (np.zeros((2, 3)),), "the shape"),
        ((np.zeros(3), np.array([0.0, np.nan])), (np.zeros((3, 2)),), "not finite"),
        ((np.zeros(3),), (), "at least 2 and 1"),
    ],
)
def test_machines_that_are_none_are_refused(
    biases: tuple[np.ndarray, ...], weights: tuple[np.ndarray, ...], message: str
) -> None:
    with pytest.raises(FullspanError, match=message):
        LayeredMachine(Space.of_cards((2, 2, 2)), biases, weights)
