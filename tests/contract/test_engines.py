"""One suite for all engines: log Z and expectations of a log-linear model, on every topology, against enumeration.

What is particular to an engine (moves and candidates of tables, batches of patterns, diagnostics of chains) is tested
next to it, in ``tests/engine``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from enumeration import Enumeration
from fullspan.arrays import Array
from fullspan.data import Space
from fullspan.engine.cuda import why_not
from fullspan.engine.dual import DualTable
from fullspan.engine.elimination import ClusterTree, Decimation, Sums, TreeEngine, verdict
from fullspan.engine.planner import plan
from fullspan.engine.sampling import Chains, diagnose, layer_log_z, log_z, pairwise_of, target_of
from fullspan.engine.truncated import TruncatedEngine
from fullspan.model import FactorGraph, HiddenTree, LogLinear, TruncatedLogLinear
from fullspan.model.algebra import Basis, BasisName, Term

Scopes = list[tuple[int, ...]]
TOPOLOGIES: dict[str, tuple[int, Scopes]] = {
    "one variable": (1, []),
    "independent": (3, []),
    "chain": (5, [(i, i + 1) for i in range(4)]),
    "star": (5, [(0, i) for i in range(1, 5)]),
    "cycle": (5, [(i, (i + 1) % 5) for i in range(5)]),
    "grid": (6, [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]),
    "complete": (4, list(itertools.combinations(range(4), 2))),
    "two parts": (5, [(0, 1), (3, 4)]),
    "triples": (5, [(0, 1, 2), (2, 3), (2, 3, 4)]),
}
LEVELS = {"two levels": (2,) * 6, "several levels": (3, 2, 2, 4, 2, 3)}
BASES: tuple[BasisName, ...] = ("walsh", "monomial", "indicator")


def model_of(topology: str, levels: str, name: BasisName) -> LogLinear:
    """All terms on single variables and inside the scopes of a topology, at generic weights; log Z is left at 0."""
    n, scopes = TOPOLOGIES[topology]
    basis = Basis(name, LEVELS[levels][:n])
    inside = {s for scope in [(i,) for i in range(n)] + scopes for k in range(1, 4) for s in subsets(scope, k)}
    terms: list[Term] = [
        tuple(zip(scope, digits, strict=True))
        for scope in sorted(inside)
        for digits in itertools.product(*(range(1, basis.cards[i]) for i in scope))
    ]
    theta = np.random.default_rng(len(terms)).normal(scale=0.6, size=len(terms))
    return LogLinear(Space.of_cards(basis.cards), basis, tuple(terms), theta, 0.0)


def subsets(scope: tuple[int, ...], size: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations(sorted(scope), size))


@dataclass(frozen=True)
class Answer:
    """What an engine says of a model; ``eta`` is None where it only sums. Exact answers have no errors."""

    log_z: float
    eta: Array | None
    errors: Array | float = 0.0


def by_enumeration(model: LogLinear) -> Answer:
    """The plain sum over the list of all states."""
    states = model.space.states(np.arange(model.space.n_states))
    phi = model.basis.evaluate(model.terms, states)
    exponent = phi @ model.theta
    log_z = float(np.logaddexp.reduce(exponent))
    return Answer(log_z, np.exp(exponent - log_z) @ phi)


def by_table(make: Callable[[Basis], Any]) -> Callable[[LogLinear], Answer]:
    def answer(model: LogLinear) -> Answer:
        engine = make(model.basis)
        engine.set_theta(dict(zip(model.indices, map(float, model.theta), strict=True)))
        return Answer(engine.log_partition(), engine.eta_at(np.array(model.indices, dtype=np.int64)))

    return answer


def by_gpu(model: LogLinear) -> Answer:
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    return by_table(lambda basis: plan(basis, 1.0, "float64", device="cuda").table(basis))(model)


def by_chains(model: LogLinear) -> Answer:
    rng = np.random.default_rng(1)
    states = Chains(target_of(model), 40, rng).draw(200, warm_up=50)
    values = model.basis.evaluate(model.terms, states.reshape(-1, len(model.space)))
    found = diagnose(values.reshape(*states.shape[:2], -1))
    return Answer(log_z(model, rng).value, found.mean, found.error)


def by_clusters(model: LogLinear) -> Answer:
    tree = ClusterTree(FactorGraph.of_loglinear(model))
    return Answer(tree.log_z(), None)


def by_sums(model: LogLinear) -> Answer:
    sums = Sums(model)
    return Answer(sums.log_z(), sums.expectations())


def by_decimation(model: LogLinear) -> Answer:
    """Spins are +1 at level 0 of the Walsh basis; other bases and wider graphs are not for decimation."""
    edges = np.array([[i for i, _ in t] for t in model.terms if len(t) == 2], dtype=np.int64).reshape(-1, 2)
    n = len(model.space)
    if model.basis.name != "walsh" or set(model.basis.cards) != {2} or max(map(len, model.terms)) > 2:
        pytest.skip("no machine of spins and pairs")
    if not verdict(n, edges):
        pytest.skip("too wide for the rules of decimation")
    place = {term: k for k, term in enumerate(model.terms)}
    singles = [place[((i, 1),)] for i in range(n)]
    pairs = [place[((i, 1), (j, 1))] for i, j in edges.tolist()]
    found = Decimation(n, edges).expectations(model.theta[pairs], model.theta[singles])
    eta = np.empty(len(model.terms))
    eta[singles], eta[pairs] = found.nodes, found.edges
    return Answer(found.log_z, eta)


def by_truncation(model: LogLinear) -> Answer:
    """A truncated space that leaves out no state."""
    if model.basis.name != "monomial":
        pytest.skip("a truncated space goes with the monomial basis")
    empty = TruncatedLogLinear(model.space, model.basis, model.terms, model.theta, 0.0)
    every = model.space.states(np.arange(model.space.n_states))
    listed = set(map(tuple, empty.states.tolist()))
    others = np.array([x for x in every.tolist() if tuple(x) not in listed]).reshape(-1, len(model.space))
    engine = TruncatedEngine.of_model(
        TruncatedLogLinear(model.space, model.basis, model.terms, model.theta, 0.0, others=others)
    )
    return Answer(engine.log_z, engine.eta())


def by_tree(model: LogLinear) -> Answer:
    """The tree of the model's own pairs, its tables from enumeration; log Z = theta . Phi(x) - log p(x) for every x."""
    scopes = {tuple(i for i, _ in term) for term in model.terms}
    n, pairs = len(model.space), [scope for scope in scopes if len(scope) == 2]
    if max(map(len, scopes)) > 2 or len(pairs) != n - 1 or any(i != min(i, j) for i, j in pairs):
        pytest.skip("no tree")
    parents = np.full(n, -1)
    for i, j in pairs:
        parents[j] = i
    if (parents[1:] < 0).any():
        pytest.skip("no tree")
    states = model.space.states(np.arange(model.space.n_states))
    phi = model.basis.evaluate(model.terms, states)
    p = np.exp(phi @ model.theta)
    k = max(model.space.cards)
    transitions, emissions = np.zeros((n, k, k)), np.zeros((n, k, k))
    for i, card in enumerate(model.space.cards):
        emissions[i, :card, :card] = np.eye(card)
        if parents[i] >= 0:
            np.add.at(transitions[i], (states[:, parents[i]], states[:, i]), p)
            transitions[i] /= np.maximum(transitions[i].sum(axis=1, keepdims=True), 1e-300)
    prior = np.bincount(states[:, 0], p, minlength=k) / p.sum()
    tree = HiddenTree(model.space, parents, prior, transitions, emissions, is_observed=True)
    engine = TreeEngine(tree)
    log_p = engine.log_likelihood(engine.columns(states))
    differences = phi @ model.theta - log_p
    assert np.ptp(differences) < 1e-10
    return Answer(float(differences[0]), np.exp(log_p) @ phi)


def by_two_layers(model: LogLinear) -> Answer:
    """log Z only, of machines whose units fall into two layers."""
    machine = pairwise_of(model)
    found = None if machine is None else layer_log_z(machine)
    if found is None:
        pytest.skip("no two layers of binary units")
    return Answer(found, None)


ENGINES: dict[str, Callable[[LogLinear], Answer]] = {
    "reference": by_table(Enumeration),
    "planned table": by_table(lambda basis: plan(basis, 1.0).table(basis)),
    "dual table": by_table(lambda basis: DualTable(basis, np.float64)),
    "cuda table": by_gpu,
    "cluster tree": by_clusters,
    "sums": by_sums,
    "decimation": by_decimation,
    "tree": by_tree,
    "truncated": by_truncation,
    "two layers": by_two_layers,
    "chains": by_chains,
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", BASES)
def test_log_z_and_expectations_are_those_of_enumeration(
    engine: str, topology: str, levels: str, name: BasisName
) -> None:
    """log Z = log sum_x exp(theta . Phi(x)) and eta = <Phi>: to rounding where exact, else within 5 standard errors."""
    model = model_of(topology, levels, name)
    exact, found = by_enumeration(model), ENGINES[engine](model)
    assert found.log_z == pytest.approx(exact.log_z, abs=1e-10)
    if found.eta is not None:
        assert exact.eta is not None
        assert (np.abs(found.eta - exact.eta) <= 5 * np.asarray(found.errors) + 1e-10).all()


@pytest.mark.parametrize("engine", [name for name in ENGINES if name not in ("chains", "cuda table")])
def test_eta_is_the_gradient_of_log_z(engine: str) -> None:
    """eta_y = d log Z / d theta_y by central differences, of the engine's own log Z."""
    model, step = model_of("chain", "two levels", "monomial" if engine == "truncated" else "walsh"), 1e-5
    eta = ENGINES[engine](model).eta
    if eta is None:
        eta = by_enumeration(model).eta
    assert eta is not None
    for y in (0, len(model.terms) - 1):
        at = [model.theta + sign * step * (np.arange(len(model.terms)) == y) for sign in (1, -1)]
        high, low = (ENGINES[engine](LogLinear(model.space, model.basis, model.terms, t, 0.0)).log_z for t in at)
        assert (high - low) / (2 * step) == pytest.approx(eta[y], abs=1e-8)
