"""The learning equations of machines in layers, checked by enumeration."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Space
from fullspan.engine.sampling import Device, Network, annealed_log_z
from fullspan.engine.sampling.layers import completed, log_partition, log_weights, log_z, mean_field
from fullspan.errors import FullspanError
from fullspan.learn.layered import Ascent, Data, LayerOptions, Rows, Trainer, first_machine, fit, pretrained
from fullspan.learn.layered import gradient as gradient_module
from fullspan.learn.layered.fit import train
from fullspan.model import LayeredMachine
from fullspan.model.units import Units
from layers import all_codes, cpu, joint, log_sum, machine_of

CARDS = (2, 3, 2)
ROWS = np.array([[0, 2, 1], [1, 0, 1], [1, 1, 0], [0, 2, 1], [1, 2, 1]])


def mean_log_likelihood(machine: LayeredMachine, codes: NDArray[np.int64]) -> float:
    """Exact mean log-likelihood of complete rows under a restricted machine."""
    return float(log_weights(machine, machine.units.encode(codes), cpu()).mean()) - log_z(machine).value


def exact_moments(machine: LayeredMachine, codes: NDArray[np.int64]) -> gradient_module.Moments:
    """Data's minus model's expectations: positive phase by the learner's code, negative by all visible states."""
    network = Network.of(machine, cpu())
    data = mean_field(network, machine.units.encode(codes).astype(float)).means
    every = machine.units.encode(all_codes(machine.space.cards))
    p = np.exp(log_weights(machine, every, cpu()) - log_z(machine).value)
    states = mean_field(network, every.astype(float)).means
    nothing = [np.zeros_like(s[:1]) for s in states]
    model = gradient_module.moments(network, states, nothing, p * len(p))
    from_data = gradient_module.moments(network, data, nothing)
    return gradient_module.Moments(
        [a - b for a, b in zip(from_data.units, model.units, strict=True)],
        [a - b for a, b in zip(from_data.products, model.products, strict=True)],
    )


def shifted(machine: LayeredMachine, part: str, k: int, place: tuple[int, ...], by: float) -> LayeredMachine:
    """The machine with one parameter moved."""
    arrays = [a.copy() for a in getattr(machine, part)]
    arrays[k][place] += by
    return replace(machine, **{part: tuple(arrays)})


def slope(machine: LayeredMachine, part: str, k: int) -> Array:
    """Derivatives of the exact mean log-likelihood by central differences."""
    values = getattr(machine, part)[k]
    out, step = np.empty_like(values), 1e-5
    for place in np.ndindex(values.shape):
        up, down = (mean_log_likelihood(shifted(machine, part, k, place, s), ROWS) for s in (step, -step))
        out[place] = (up - down) / (2 * step)
    return out


def test_the_gradient_is_the_difference_of_the_phases() -> None:
    """d log p / d theta = expectation in the data − in the model, for visible, hidden and pair weights."""
    machine = machine_of(CARDS, (3,), seed=1)
    difference = exact_moments(machine, ROWS)
    assert difference.products[0] == pytest.approx(slope(machine, "weights", 0), abs=1e-8)
    for k in (0, 1):
        assert difference.units[k] == pytest.approx(slope(machine, "biases", k), abs=1e-8)


@pytest.mark.parametrize("kind", ["centred", "standardised"])
def test_centred_directions_are_gradients_of_centred_parameters(kind: str) -> None:
    """With b = b' − W m_h and c = c' − W' m_x, the direction is the gradient in (W, b', c'), in terms of (W, b, c).

    Standardised, W and the centred biases are those of units divided by twice their deviations.
    """
    machine = machine_of(CARDS, (3,), seed=2)
    rng = np.random.default_rng(0)
    offsets = [rng.uniform(0.3, 0.7, n) for n in machine.sizes]
    network = Network.of(machine, cpu())
    ascent = Ascent(network, kind, offsets, 0.0, 0.0)
    products, lowered, biases = ascent.directions(exact_moments(machine, ROWS))
    gw, gb, gc = slope(machine, "weights", 0), slope(machine, "biases", 0), slope(machine, "biases", 1)
    m, lam = offsets
    dw = gw - np.outer(gb, lam) - np.outer(m, gc)
    if kind == "standardised":
        f, g = (1 / (4 * o * (1 - o)) for o in (m, lam))
        dw, gb, gc = dw * np.outer(f, g), gb * f, gc * g
    assert products[0] - lowered[0][0] @ lowered[0][1] == pytest.approx(dw, abs=1e-8)
    assert biases[0] == pytest.approx(gb - dw @ lam, abs=1e-8)
    assert biases[1] == pytest.approx(gc - m @ dw, abs=1e-8)


@pytest.mark.parametrize("kind", ["plain", "centred", "standardised"])
def test_every_direction_ascends(kind: str) -> None:
    """A small step along any of the directions raises the exact likelihood."""
    machine = machine_of(CARDS, (3,), seed=3)
    network = Network.of(machine, cpu())
    ascent = Ascent(network, kind, [np.full(n, 0.4) for n in machine.sizes], 0.0, 0.0)
    ascent.step(exact_moments(machine, ROWS), 1e-3)
    after = network.machine(machine.space, machine.base)
    assert mean_log_likelihood(after, ROWS) > mean_log_likelihood(machine, ROWS) + 1e-5


def test_momentum_and_decay_are_those_of_the_formula() -> None:
    """v ← momentum v + rate (g − decay w), w ← w + v, over two steps."""
    machine = machine_of(CARDS, (2,), seed=4)
    network = Network.of(machine, cpu())
    ascent = Ascent(network, "plain", [np.zeros(n) for n in machine.sizes], 0.9, 0.1)
    g = [exact_moments(machine, ROWS).products[0]] * 2
    w, v = machine.weights[0].copy(), 0.0
    for k in range(2):
        ascent.step(gradient_module.Moments([np.zeros(n) for n in machine.sizes], [g[k].copy()]), 0.2)
        v = 0.9 * v + 0.2 * (g[k] - 0.1 * w)
        w = w + v
    assert network.weights[0] == pytest.approx(w, abs=1e-12)


def expected_after(machine: LayeredMachine, start: Array, n_steps: int) -> Array:
    """Distribution of visible states after Gibbs sweeps from the distribution ``start``, by the joint table."""
    _, _, log = joint(machine)
    n_visible = machine.space.n_states
    table = np.exp(log - log.max()).reshape(n_visible, -1)
    given_x, given_h = table / table.sum(axis=1, keepdims=True), table / table.sum(axis=0)
    for _ in range(n_steps):
        start = given_h @ (start @ given_x)
    return start


@pytest.mark.parametrize("k", [1, 3])
def test_contrastive_divergence_takes_k_sweeps_from_the_data(k: int) -> None:
    """CD-k: visible means of the negative phase = those after k exact sweeps from the data, within 4.5 errors."""
    machine = machine_of(CARDS, (3,), seed=5, scale=1.5)
    start = np.zeros(machine.space.n_states)
    every = all_codes(CARDS)
    where = [int(np.flatnonzero((every == row).all(axis=1))[0]) for row in ROWS]
    np.add.at(start, where, 1 / len(ROWS))
    exact = expected_after(machine, start, k) @ machine.units.encode(every)
    trainer = Trainer.start(machine, LayerOptions(solver="cd", gibbs_steps=k), cpu(3), np.random.default_rng(0))
    x = np.repeat(machine.units.encode(ROWS).astype(float), 8000, axis=0)
    found = trainer._negative(mean_field(trainer.network, x).means)[0].mean(axis=0)
    assert (np.abs(found - exact) < 4.5 * np.sqrt(exact * (1 - exact) / len(x))).all()
    far = expected_after(machine, start, 60) @ machine.units.encode(every)
    assert np.abs(far - exact).max() > 0.02


def test_persistent_chains_reach_the_model() -> None:
    """PCD at rate 0: units and products of the negative phase become the model's, within 4.5 errors."""
    machine = machine_of(CARDS, (3,), seed=6, scale=0.7)
    options = LayerOptions(n_chains=20000)
    trainer = Trainer.start(machine, options, cpu(2), np.random.default_rng(0))
    x = machine.units.encode(ROWS).astype(float)
    for _ in range(40):
        negative = trainer._negative(mean_field(trainer.network, x).means)
    _, layers, log = joint(machine)
    p = np.exp(log - log_sum(log))
    exact = np.einsum("s,si,sj->ij", p, layers[0], layers[1])
    found = negative[0].T @ negative[1] / 20000
    assert (np.abs(found - exact) < 4.5 * np.sqrt(exact * (1 - exact) / 20000)).all()


def test_missing_cells_are_drawn_given_the_observed_ones() -> None:
    """Repeated visits of rows with missing cells draw their units with the exact conditional means."""
    machine = machine_of(CARDS, (3,), seed=7, scale=0.7)
    codes = np.repeat([[-1, 2, 1], [1, -1, -1]], 10000, axis=0)
    exact = completed(machine, codes[[0, -1]]).visible
    on = cpu(4)
    trainer = Trainer.start(machine, LayerOptions(gibbs_steps=20), on, np.random.default_rng(0))
    rows = Rows.of(machine.units.encode(codes), None, on)
    batch = np.arange(len(codes))
    x = trainer._complete(rows, batch, on.states(rows.units))
    assert np.array_equal(rows.units, x)
    for k, part in enumerate((x[:10000], x[10000:])):
        p = exact[k]
        assert (np.abs(part.mean(axis=0) - p) <= 4.5 * np.sqrt(p * (1 - p) / 10000) + 1e-9).all()


def test_base_rates_are_those_of_the_observed_cells() -> None:
    """Log odds of (count + 1/2)/(seen + 1), and log probabilities in groups with one row spread evenly."""
    units = Units(Space.of_cards((2, 3)))
    data = Data(units.encode(np.array([[1, 2], [-1, 2], [0, -1], [1, 0]])), np.array([1.0, 2.0, 1.0, 1.0]))
    base = fit.base_rates(units, data)
    p = (2 + 0.5) / (3 + 1)
    assert base[0] == pytest.approx(math.log(p / (1 - p)))
    assert base[1:] == pytest.approx(np.log((np.array([1, 0, 3]) + 1 / 3) / 5))


@pytest.mark.parametrize("solver", ["pcd", "cd"])
@pytest.mark.parametrize("gradient", ["centred", "standardised", "plain"])
def test_learning_finds_what_joins_variables(solver: str, gradient: str) -> None:
    """Two patterns with noise: the machine comes close to the entropy, far above independent variables."""
    rng = np.random.default_rng(0)
    codes = np.where(rng.random((600, 1)) < 0.5, [[0, 0, 1, 1]], [[1, 1, 0, 0]]) ^ (rng.random((600, 4)) < 0.05)
    units = Units(Space.of_cards((2,) * 4))
    data = Data(units.encode(codes), np.ones(len(codes)))
    start = first_machine(units, (3,), data, rng)
    options = LayerOptions(solver=solver, gradient=gradient, batch_size=20, max_iter=60, learning_rate=0.1)
    machine, course, _ = train(start, data, None, options, cpu(1, "float32"), rng)
    _, counts = np.unique(codes, axis=0, return_counts=True)
    entropy = -float((counts / 600) @ np.log(counts / 600))
    assert course.status == "epoch limit"
    assert mean_log_likelihood(start, codes) < -2.7
    assert mean_log_likelihood(machine, codes) > -entropy - 0.12


def test_weighted_rows_are_repeated_rows() -> None:
    """The positive phase of weighted rows is that of the rows written out."""
    machine = machine_of(CARDS, (3,), seed=9)
    network = Network.of(machine, cpu())
    weights = np.array([2.0, 1.0, 4.0, 1.0, 2.0])
    x = machine.units.encode(ROWS).astype(float)
    nothing = [np.zeros((1, n)) for n in machine.sizes]
    once = gradient_module.moments(network, mean_field(network, x).means, nothing, weights / weights.mean())
    many = np.repeat(x, weights.astype(int), axis=0)
    out = gradient_module.moments(network, mean_field(network, many).means, nothing)
    assert once.products[0] == pytest.approx(out.products[0], abs=1e-12)
    assert once.units[1] == pytest.approx(out.units[1], abs=1e-12)


def test_a_rate_that_diverges_is_stopped_at_the_last_good_weights() -> None:
    """Divergence is a status; the kept machine is finite and no worse than independent units."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (300, 6))
    units = Units(Space.of_cards((2,) * 6))
    data = Data(units.encode(codes), np.ones(300))
    start = first_machine(units, (4,), data, rng)
    options = LayerOptions(learning_rate=1e5, decay=False)
    machine, course, trainer = train(start, data, None, options, cpu(0, "float32"), rng)
    assert course.status == "diverged"
    assert course.n_epochs == 0
    assert machine.weights[0] == pytest.approx(start.weights[0], abs=1e-6)
    assert np.isfinite(trainer.network.weights[0]).all()


def test_rebuilding_of_independent_units_is_their_entropy() -> None:
    """Without weights the code length of rows is minus the log-likelihood of independent units; NaN is infinite."""
    machine = machine_of(CARDS, (2,), seed=1)
    alone = LayeredMachine(machine.space, machine.biases, (0 * machine.weights[0],))
    network = Network.of(alone, cpu())
    expected = -(log_weights(alone, alone.units.encode(ROWS), cpu()).mean() - log_z(alone).value)
    assert fit.rebuilding(network, alone.units.encode(ROWS)) == pytest.approx(expected, abs=1e-10)
    network.weights[0] = network.weights[0] * np.nan
    assert fit.rebuilding(network, alone.units.encode(ROWS)) == math.inf


def test_rows_held_out_decide_which_epoch_is_kept() -> None:
    """The kept machine has the best score of the curve, and learning stops after `patience` checks without a gain."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (60, 8))
    units = Units(Space.of_cards((2,) * 8))
    data, held = (Data(units.encode(c), np.ones(len(c))) for c in (codes[:40], codes[40:]))
    options = LayerOptions(batch_size=10, max_iter=200, patience=2, learning_rate=0.2)
    machine, course, _ = train(first_machine(units, (6,), data, rng), data, held, options, cpu(0), rng)
    scores = [score for _, score, _ in course.curve]
    assert len(scores) < 200
    assert mean_log_likelihood(machine, codes[40:]) == pytest.approx(max(scores), abs=1e-9)
    assert scores.index(max(scores)) == len(scores) - 3


def test_pretraining_doubles_the_inputs_that_lack_a_neighbour() -> None:
    """A layer learned alone gets twice its input; pretrained layers explain rows better than random ones."""
    machine = machine_of((2,) * 4, (3, 2), seed=0)
    network = Network.of(machine, cpu())
    x = machine.units.encode(all_codes((2,) * 4)).astype(float)
    network.up = 2.0
    assert network.raw(2, [x, np.ones((16, 3)), None]) == pytest.approx(2 * np.ones((16, 3)) @ machine.weights[1])
    rng = np.random.default_rng(1)
    codes = np.repeat([[0, 0, 1, 1], [1, 1, 0, 0]], 100, axis=0)
    data = Data(machine.units.encode(codes), np.ones(200))
    start = first_machine(machine.units, (3, 2), data, rng)
    options = LayerOptions(solver="cd", max_iter=40, batch_size=10, learning_rate=0.1)
    learned, sound = pretrained(start, data, options, cpu(0, "float32"), rng)
    assert sound
    before, after = (fit.rebuilding(Network.of(m, cpu()), data.units) for m in (start, learned))
    assert after < before - 0.5


def test_pretraining_that_diverges_is_left_out() -> None:
    """A rate that is too large gives the machine back as it was, and says so."""
    rng = np.random.default_rng(1)
    units = Units(Space.of_cards((2,) * 4))
    data = Data(units.encode(rng.integers(0, 2, (100, 4))), np.ones(100))
    start = first_machine(units, (3, 2), data, rng)
    for rate in (1e4, 1e30):
        kept, sound = pretrained(start, data, LayerOptions(max_iter=2, learning_rate=rate), cpu(0, "float32"), rng)
        assert kept is start
        assert not sound


def test_joint_training_of_a_deep_machine_learns() -> None:
    """The exact likelihood of a small deep machine grows by joint training, and its bound lies below it."""
    rng = np.random.default_rng(5)
    codes = np.where(rng.random((400, 1)) < 0.5, [[0, 0, 1, 1]], [[1, 1, 0, 0]]) ^ (rng.random((400, 4)) < 0.05)
    units = Units(Space.of_cards((2,) * 4))
    data = Data(units.encode(codes), np.ones(len(codes)))
    start = first_machine(units, (4, 3), data, rng)
    options = LayerOptions(batch_size=20, max_iter=80, learning_rate=0.1)
    machine, _, _ = train(start, data, None, options, cpu(1, "float32"), rng)
    z = log_z(machine).value
    every, _, log = joint(machine)
    exact = {tuple(c): log_sum(log[(every[:, :4] == c).all(axis=1)]) - z for c in all_codes((2,) * 4)}
    truth = np.array([exact[tuple(c)] for c in codes])
    bounds = log_weights(machine, data.units, cpu()) - z
    assert (bounds <= truth + 1e-9).all()
    assert bounds.mean() > -2.0
    assert truth.mean() < -1.0


def test_the_partition_function_is_exact_where_it_can_be() -> None:
    machine = machine_of((2,) * 6, (5,))
    assert log_partition(machine, "auto", cpu()).is_exact
    assert not log_partition(machine, "auto", cpu(), 10, 10, most=16).is_exact
    assert not log_partition(machine, "ais", cpu(), 10, 10).is_exact
    with pytest.raises(FullspanError, match="'auto', 'exact', 'ais'"):
        log_partition(machine, "guess", cpu())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "newton"}, "'pcd', 'cd'"),
        ({"gradient": "natural"}, "'centred'"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"gibbs_steps": 1.5}, "gibbs_steps is 1.5"),
        ({"learning_rate": -1.0}, "learning_rate is -1.0"),
        ({"momentum": 1.0}, "momentum is 1.0"),
        ({"max_iter": True}, "max_iter is True"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        LayerOptions(**options)


@pytest.mark.parametrize("sizes", [(3,), (3, 2)])
def test_everything_keeps_to_the_array_api_standard(sizes: tuple[int, ...]) -> None:
    """Exact and annealed log Z, scores and learning run on a library that has nothing but the standard."""
    xp = pytest.importorskip("array_api_strict", reason="needs array-api-strict")
    rng = np.random.default_rng(0)
    on = Device(xp, "float64", lambda shape, kind: xp.asarray(rng.random(shape), dtype=kind))
    machine = machine_of(CARDS, sizes)
    estimate = annealed_log_z(machine, on, 200, 50)
    assert abs(estimate.value - log_z(machine).value) < 4 * estimate.standard_error
    data = Data(machine.units.encode(ROWS), np.ones(len(ROWS)))
    assert log_weights(machine, data.units, on) == pytest.approx(log_weights(machine, data.units, cpu()), abs=1e-12)
    for gradient in ("centred", "standardised", "plain"):
        for solver in ("cd", "pcd"):
            options = LayerOptions(solver=solver, gradient=gradient, max_iter=2, batch_size=3)
            _, course, _ = train(first_machine(machine.units, sizes, data, rng), data, data, options, on, rng)
            assert course.status == "epoch limit"
            assert len(course.curve) == 2
