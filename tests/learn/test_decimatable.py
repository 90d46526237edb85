"""Learning by the information gain: phases against enumeration, gradients against differences, the maxima of others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from engine.machines import enumerate_machine
from fullspan import graphs
from fullspan.data import Empirical, Space
from fullspan.errors import DataError, FullspanError, NotDecimatableError
from fullspan.graphs import Graph
from fullspan.learn.likelihood import (
    DecimatableOptions,
    Decimated,
    Features,
    MachineOptions,
    fit_conditional,
    fit_decimatable,
    fit_machine,
)
from fullspan.model.algebra import Basis
from fullspan.model.ising import walsh_terms

EDGES = np.array([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (1, 4)])


def rows_of(seed: int, n: int = 5, m: int = 40, share: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = np.where(rng.random((m, n)) < share, -1, rng.integers(2, size=(m, n)))
    return rows, rng.random(m) + 0.1


def drawn(seed: int, n: int, m: int, share: float = 0.0) -> Empirical:
    """Rows of a chain of spins that tend to agree, some cells open."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(2, size=(m, n))
    for i in range(1, n):
        rows[:, i] = np.where(rng.random(m) < 0.6, rows[:, i - 1], rows[:, i])
    rows = np.where(rng.random(rows.shape) < share, -1, rows)
    return Empirical.from_codes(rows, space=Space.of_cards((2,) * n), allow_missing=True)


@pytest.mark.parametrize("biased", [None, (0, 3, 4)])
def test_a_decimated_phase_is_the_phase_of_all_completions(biased: tuple[int, ...] | None) -> None:
    """Value, gradient and Hessian of the mean of log Z over rows with open cells."""
    rows, weights = rows_of(0)
    terms = walsh_terms(EDGES, range(5) if biased is None else biased)
    theta = np.random.default_rng(1).normal(size=len(terms))
    found = Decimated(5, EDGES, rows, weights, biased)
    truth = Features(Basis("walsh", (2,) * 5), terms, rows, weights)
    assert found.move(theta) == pytest.approx(truth.move(theta), rel=1e-13)
    assert found.eta() == pytest.approx(truth.eta(), abs=1e-13)
    assert found.covariance() == pytest.approx(truth.covariance(), abs=1e-12)


def test_without_hidden_nodes_it_is_the_machine_of_the_graph() -> None:
    data = drawn(3, 6, 400, share=0.1)
    names = data.space.names
    edges = [(names[i], names[j]) for i, j in ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (1, 3))]
    found = fit_decimatable(data, Graph.of(edges), DecimatableOptions(tol=1e-9))
    other = fit_machine(data, MachineOptions(graph=edges, basis="walsh", solver="newton"))
    assert found.status == other.status == "converged"
    assert found.divergence == pytest.approx(other.divergence, abs=1e-12)
    assert found.model.log_z == pytest.approx(other.model.log_z, abs=1e-6)
    for term, weight in other.model:
        assert found.model.weights[term] == pytest.approx(weight, abs=1e-6)
    place = {term: k for k, term in enumerate(other.model.terms)}
    errors = [other.standard_errors[place[term]] for term in found.model.terms]
    assert found.standard_errors == pytest.approx(errors, rel=1e-5)


def test_conditional_learning_is_that_of_completed_states() -> None:
    """The information gain of eq. 2; terms of inputs alone cancel and are left out."""
    data = drawn(5, 5, 300)
    names = data.space.names
    edges = [(names[i], names[j]) for i, j in ((0, 1), (0, 3), (1, 4), (2, 3), (3, 4))]
    graph = Graph.of(edges, inputs=names[:3], outputs=names[3:])
    found = fit_decimatable(data, graph, DecimatableOptions(tol=1e-9))
    options = MachineOptions(graph=edges, basis="walsh")
    other = fit_conditional(data, names[3:], names[:3], options)
    assert found.divergence == pytest.approx(other.divergence, abs=1e-10)
    assert set(found.model.terms) == set(other.model.terms)
    for term, weight in other.model:
        assert found.model.weights[term] == pytest.approx(weight, abs=1e-5)


@pytest.mark.parametrize("solver", ["lbfgs", "newton", "gradient", "em"])
def test_solvers_agree(solver: str) -> None:
    data = drawn(7, 4, 200, share=0.2)
    graph = graphs.chain(list(data.space.names))
    found = fit_decimatable(data, graph, DecimatableOptions(solver=solver, tol=1e-8, l2=1e-3))
    best = fit_decimatable(data, graph, DecimatableOptions(tol=1e-10, l2=1e-3))
    assert found.model.theta == pytest.approx(best.model.theta, abs=1e-5)


@pytest.mark.parametrize("inputs", [(), ("x0", "x1")])
def test_em_ends_where_lbfgs_does_and_never_goes_up(inputs: tuple[str, ...]) -> None:
    """Hidden nodes and missing cells, joint and conditional: -log p falls at every step, to the same optimum."""
    rng = np.random.default_rng(2)
    rows = drawn(19, 5, 300).states.astype(np.int64)
    rows = rows[rng.integers(len(rows), size=250)]
    rows[:, 2:] = np.where(rng.random((250, 3)) < 0.2, -1, rows[:, 2:])
    data = Empirical.from_codes(rows, space=Space.of_cards((2,) * 5), allow_missing=True)
    edges = [("h", "x0"), ("h", "x2"), ("h", "x4"), ("x1", "x2"), ("x3", "x4"), ("x1", "x3")]
    outputs = ("x2", "x4") if inputs else ()
    graph = Graph.of(edges, [*data.space.names, "h"], inputs=inputs, hidden=["h"], outputs=outputs)
    options = {"l2": 1e-2, "restarts": 1, "seed": 4, "tol": 1e-6}
    em = fit_decimatable(data, graph, DecimatableOptions(solver="em", **options))
    other = fit_decimatable(data, graph, DecimatableOptions(solver="lbfgs", **options))
    assert em.status == other.status == "converged"
    assert em.divergence == pytest.approx(other.divergence, abs=1e-6)
    flip = np.array([-1.0 if len([i for i, _ in t if i == 5]) % 2 else 1.0 for t in em.model.terms])
    near = min(np.abs(em.model.theta - sign * other.model.theta).max() for sign in (1.0, flip))
    assert near < 1e-3
    values = np.array([step.cost for step in em.history])
    assert len(values) > 3
    assert (np.diff(values) <= 1e-9).all()


def test_hidden_nodes_lower_the_divergence_and_the_optimum_is_stationary() -> None:
    data = drawn(11, 6, 500)
    hidden = graphs.hidden_markov(6)
    plain = fit_decimatable(data, Graph.of([], data.space.names))
    found = fit_decimatable(data, hidden, DecimatableOptions(restarts=2, seed=1, tol=1e-5, l2=1e-4))
    assert found.n_hidden == 6
    assert found.divergence < plain.divergence - 0.05
    rows = np.full((len(data.states), 12), -1)
    rows[:, :6] = data.states
    phase = Decimated(12, hidden.pairs(), rows, data.counts)
    free = Decimated(12, hidden.pairs(), np.full((1, 12), -1), np.ones(1))
    phase.move(found.model.theta)
    free.move(found.model.theta)
    assert np.abs(free.eta() - phase.eta() + 1e-4 * found.model.theta).max() < 2e-5


def test_the_log_likelihood_is_that_of_the_joint_distribution() -> None:
    data = drawn(13, 4, 150)
    found = fit_decimatable(data, graphs.hidden_markov(4), DecimatableOptions(restarts=1, seed=0, l2=1e-3))
    from fullspan.model.ising import Ising

    machine = Ising.of(found.model)
    truth = enumerate_machine(8, machine.edges, machine.couplings, machine.fields)
    seen = {x: 0.0 for x in itertools.product((0, 1), repeat=4)}
    for state, p in zip(truth.states, truth.p, strict=True):
        seen[tuple(((state[:4] + 1) // 2).tolist())] += p
    expected = sum(c * np.log(seen[tuple(x)]) for x, c in zip(data.states.tolist(), data.counts, strict=True))
    assert found.goodness is not None
    assert found.goodness.log_likelihood == pytest.approx(expected, rel=1e-12)


def test_what_does_not_fit_is_refused() -> None:
    data = drawn(0, 4, 50, share=0.1)
    names = list(data.space.names)
    with pytest.raises(FullspanError, match="'z' is not a column of the table and not hidden"):
        fit_decimatable(data, graphs.chain([*names, "z"]))
    with pytest.raises(FullspanError, match="the column 'x3' is not a node"):
        fit_decimatable(data, graphs.chain(names[:3]))
    with pytest.raises(FullspanError, match="'x1' is hidden, but the table has a column"):
        fit_decimatable(data, Graph.of([("x0", "x1")], names, hidden=["x1"]))
    with pytest.raises(DataError, match="the input 'x0' is missing"):
        fit_decimatable(data, graphs.chain(names, inputs=["x0"]))
    with pytest.raises(FullspanError, match="every column is an input"):
        fit_decimatable(drawn(0, 4, 50), graphs.chain(names, inputs=names))
    with pytest.raises(FullspanError, match="solver is 'ipf'"):
        fit_decimatable(data, graphs.chain(names), DecimatableOptions(solver="ipf"))
    three = Empirical.from_codes(np.array([[0, 2], [1, 0]]))
    with pytest.raises(DataError, match="'x1' has 3 levels"):
        fit_decimatable(three, graphs.chain(["x0", "x1"]))
    complete = list(itertools.combinations(names, 2))
    with pytest.raises(NotDecimatableError, match="x0, x1, x2, x3 has more than three neighbours"):
        fit_decimatable(data, Graph.of(complete))
