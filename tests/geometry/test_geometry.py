"""The identities of the dually flat geometry, each against enumeration at generic points."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import fullspan as fs
from fullspan import geometry as g
from fullspan.data import Space
from fullspan.errors import BoundaryWarning, FullspanError
from fullspan.model.algebra import Basis, Term

CARDS = (2, 3, 2, 2)
TERMS: tuple[Term, ...] = (
    ((0, 1),),
    ((1, 1),),
    ((1, 2),),
    ((2, 1),),
    ((0, 1), (1, 2)),
    ((1, 1), (2, 1)),
    ((2, 1), (3, 1)),
    ((0, 1), (1, 1), (3, 1)),
)
PAIRS = TERMS[:7]
SINGLES = TERMS[:4]


def listed() -> np.ndarray:
    """The states of a truncated space: 0, the terms, and some more."""
    every = Space.of_cards(CARDS).states(np.arange(24))
    rows = [np.zeros(4, dtype=int)]
    for term in TERMS:
        rows.append(np.array([dict(term).get(i, 0) for i in range(4)]))
    rows += [x for x in every[::2] if not any(np.array_equal(x, y) for y in rows)]
    return np.array(rows)


def manifolds() -> Iterator[tuple[str, g.Manifold]]:
    space = Space.of_cards(CARDS)
    for basis in ("monomial", "indicator"):
        b = Basis(basis, CARDS)  # type: ignore[arg-type]
        yield f"table-{basis}", g.Manifold(space, b, TERMS)
        yield f"elimination-{basis}", g.Manifold(space, b, TERMS, how="elimination")
    yield "list", g.Manifold(space, Basis("monomial", CARDS), TERMS, listed())


ALL = dict(manifolds())


@pytest.fixture(params=ALL)
def manifold(request: pytest.FixtureRequest) -> g.Manifold:
    return ALL[request.param]


def features(manifold: g.Manifold) -> np.ndarray:
    states = manifold.space.states(np.arange(24)) if manifold.states is None else manifold.states
    return manifold.basis.evaluate(manifold.terms, states).astype(float)


def p_of(point: g.Point) -> np.ndarray:
    weight = np.exp(features(point.manifold) @ point.theta)
    return np.asarray(weight / weight.sum())


def generic(manifold: g.Manifold, seed: int = 0, scale: float = 0.7) -> g.Point:
    return manifold.at(np.random.default_rng(seed).normal(scale=scale, size=len(manifold.terms)))


def kl(p: np.ndarray, q: np.ndarray) -> float:
    return float(p @ np.log(p / q))


def test_both_coordinates_and_potentials(manifold: g.Manifold) -> None:
    """psi = log Z (eq. 7), eta = <Phi>, phi = theta.eta - psi = sum p log p (eq. 8)."""
    point = generic(manifold)
    p, phi = p_of(point), features(manifold)
    assert np.isclose(point.psi, np.log(np.exp(phi @ point.theta).sum()), rtol=1e-13)
    assert np.allclose(point.eta, p @ phi, atol=1e-13)
    assert np.isclose(point.phi, p @ np.log(p), rtol=1e-12)


def test_eta_is_the_gradient_of_psi_and_theta_that_of_phi(manifold: g.Manifold) -> None:
    """Eq. 10, by central differences."""
    point, h = generic(manifold), 1e-5
    for i in range(len(TERMS)):
        step = h * np.eye(len(TERMS))[i]
        psi = [manifold.at(point.theta + s * step).psi for s in (1, -1)]
        assert np.isclose((psi[0] - psi[1]) / (2 * h), point.eta[i], atol=1e-8)
    for i in range(0, len(TERMS), 3):
        step = 1e-4 * np.eye(len(TERMS))[i]
        phi = [manifold.at_eta(point.eta + s * step, point).phi for s in (1, -1)]
        assert np.isclose((phi[0] - phi[1]) / 2e-4, point.theta[i], atol=1e-4)


def test_theta_comes_back_from_eta(manifold: g.Manifold) -> None:
    """The exchange of coordinates is one to one."""
    point = generic(manifold)
    assert np.allclose(manifold.at_eta(point.eta).theta, point.theta, atol=1e-9)


def test_the_metric_in_theta(manifold: g.Manifold) -> None:
    """g_ij(theta) = sum_k f_ki f_kj p_k - eta_i eta_j (eq. 11), which is d eta_i / d theta_j."""
    point = generic(manifold)
    p, phi = p_of(point), features(manifold)
    assert np.allclose(point.fisher, phi.T @ (phi * p[:, None]) - np.outer(p @ phi, p @ phi), atol=1e-13)
    h = 1e-5
    for j in (0, 5):
        step = h * np.eye(len(TERMS))[j]
        slope = (manifold.at(point.theta + step).eta - manifold.at(point.theta - step).eta) / (2 * h)
        assert np.allclose(slope, point.fisher[:, j], atol=1e-8)


def test_the_metric_in_eta_is_its_inverse(manifold: g.Manifold) -> None:
    """g(eta) g(theta) = 1: the coordinates are orthogonal (eq. 13)."""
    point = generic(manifold)
    assert np.allclose(point.fisher_eta @ point.fisher, np.eye(len(TERMS)), atol=1e-8)


@pytest.mark.parametrize("truncated", [False, True])
def test_the_metric_in_eta_of_a_full_family(truncated: bool) -> None:
    """Eq. 12 by the inverse of the model matrix: sum_k f^-1_ik f^-1_jk / p_k + sum_kl f^-1_ik f^-1_jl / p_0."""
    space, basis = Space.of_cards(CARDS), Basis("monomial", CARDS)
    states = listed() if truncated else space.states(np.arange(24))
    terms = tuple(tuple((i, int(x)) for i, x in enumerate(row) if x) for row in states[1:])
    full = g.Manifold(space, basis, terms, states if truncated else None)
    point = generic(full, scale=0.3)
    inverse = np.linalg.inv(basis.evaluate(terms, states[1:]).astype(float))
    p = np.exp(point.log_p)
    expected = inverse @ np.diag(1 / p[1:]) @ inverse.T + np.outer(inverse.sum(1), inverse.sum(1)) / p[0]
    assert np.allclose(point.fisher_eta, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


def test_divergence_is_that_of_the_distributions(manifold: g.Manifold) -> None:
    """KL(p || q) = psi(q) + phi(p) - theta_q . eta_p, also between models with different terms."""
    a, b = generic(manifold, 1), generic(manifold, 2)
    small = generic(manifold.with_terms(PAIRS), 3)
    assert np.isclose(g.divergence(a, b), kl(p_of(a), p_of(b)), rtol=1e-10)
    assert np.isclose(g.divergence(a, small), kl(p_of(a), p_of(small)), rtol=1e-10)
    assert g.divergence(a, a) < 1e-14


def test_the_natural_gradient_undoes_the_metric(manifold: g.Manifold) -> None:
    """For a gradient d f / d theta = g v it is v; that of psi is g^-1 eta."""
    point = generic(manifold)
    v = np.random.default_rng(5).normal(size=len(TERMS))
    assert np.allclose(point.natural_gradient(point.fisher @ v), v, atol=1e-8)
    assert np.allclose(point.natural_gradient(point.eta), np.linalg.solve(point.fisher, point.eta), atol=1e-7)


def test_the_m_projection_keeps_expectations_and_is_nearest(manifold: g.Manifold) -> None:
    """argmin_Q KL(P || Q) over a model has the eta of P there; no neighbour in the model is nearer."""
    p = generic(manifold)
    r = g.m_projection(p, PAIRS)
    assert np.allclose(r.eta, p.eta[:7], atol=1e-10)
    nearest = g.divergence(p, r)
    rng = np.random.default_rng(6)
    for _ in range(5):
        assert g.divergence(p, r.manifold.at(r.theta + 0.05 * rng.normal(size=7))) > nearest


def test_the_e_projection_keeps_the_other_weights_and_is_nearest(manifold: g.Manifold) -> None:
    """argmin_P KL(P || Q) under eta_B = given changes the weights of B alone."""
    q, goal = generic(manifold, 1), generic(manifold, 2)
    r = g.e_projection(q, SINGLES, goal.eta[:4])
    assert np.allclose(r.eta[:4], goal.eta[:4], atol=1e-10)
    assert np.array_equal(r.theta[4:], q.theta[4:])
    other = g.from_mixed(manifold, SINGLES, goal.eta[:4], q.theta[4:] + 0.1)  # also in the m-flat submanifold
    assert g.divergence(other, q) > g.divergence(r, q)


def test_pythagoras_holds_at_a_projection(manifold: g.Manifold) -> None:
    """KL(P || Q) = KL(P || R) + KL(R || Q) for Q in the model and R the projection of P; not at other points."""
    p = generic(manifold)
    r = g.m_projection(p, PAIRS)
    q = generic(r.manifold, 4)
    right = g.pythagoras(p, r, q)
    assert abs(right.defect) < 1e-10
    assert np.isclose(right.whole, kl(p_of(p), p_of(q)))
    elsewhere = r.manifold.at(r.theta + 0.3)
    assert abs(g.pythagoras(p, elsewhere, q).defect) > 1e-3


def test_mixed_coordinates_come_back(manifold: g.Manifold) -> None:
    """(eta_B, theta_rest) names one point, and the two parts are orthogonal: their block of the metric is 0."""
    point = generic(manifold)
    eta, theta = g.mixed(point, SINGLES)
    assert np.allclose(g.from_mixed(manifold, SINGLES, eta, theta).theta, point.theta, atol=1e-8)
    fisher = point.fisher
    # d/d eta_B at fixed theta_rest moves theta_B alone; d/d theta_rest at fixed eta_B moves theta_B against it
    along_eta = np.vstack([np.linalg.inv(fisher[:4, :4]), np.zeros((4, 4))])
    along_theta = np.vstack([-np.linalg.solve(fisher[:4, :4], fisher[:4, 4:]), np.eye(4)])
    assert np.allclose(along_eta.T @ fisher @ along_theta, 0, atol=1e-10)


def test_the_orders_share_the_divergence_from_chance(manifold: g.Manifold) -> None:
    """KL(P || uniform) = sum_k KL(P_k || P_{k-1}) + KL(P || P_K), for a distribution off the model."""
    if manifold.how == "elimination":
        p: object = generic(manifold)
        truth = p_of(p)  # type: ignore[arg-type]
    else:
        truth = np.random.default_rng(7).dirichlet(np.full(len(features(manifold)), 2.0))
        p = truth
    parts = g.explained(manifold, p)
    assert parts.names == ("order 1", "order 2", "order 3")
    assert np.isclose(parts.total, truth @ np.log(truth * len(truth)), atol=1e-8)
    direct = [p_of(point) for point in parts.points]
    assert np.isclose(parts.parts[1], kl(direct[1], direct[0]), atol=1e-8)
    assert np.isclose(parts.rest, kl(truth, direct[2]), atol=1e-7)
    assert "order 2" in repr(parts)


def test_fitted_machines_are_points() -> None:
    """Estimators on tables, truncated spaces and sparse graphs; the fit is the m-projection of the data."""
    rng = np.random.default_rng(8)
    rows = (rng.random((300, 5)) < [0.3, 0.6, 0.5, 0.4, 0.5]).astype(int)
    rows[:, 1] ^= rows[:, 0] & (rng.random(300) < 0.5)
    for machine in (fs.BoltzmannMachine(tol=1e-12), fs.TruncatedBoltzmannMachine(min_support=0.1, tol=1e-12)):
        machine.fit(rows)
        manifold = g.Manifold.of(machine)
        fitted = manifold.point_of(machine)
        assert np.isclose(fitted.psi, machine.log_z_)
        assert np.allclose(fitted.eta, manifold.expectations(machine), atol=1e-9)
        assert np.allclose(g.m_projection(machine, manifold).theta, fitted.theta, atol=1e-6)
        parts = g.explained(machine)
        assert np.isclose(parts.rest, machine.divergence_, atol=1e-8)
    sparse = fs.BoltzmannMachine(graph=[("x0", "x1"), ("x1", "x2"), ("x2", "x3"), ("x3", "x4")]).fit(rows)
    table, chain = (g.Manifold.of(sparse, how=how).point_of(sparse) for how in ("table", "elimination"))
    assert np.allclose(table.eta, chain.eta, atol=1e-13)
    assert np.allclose(table.fisher, chain.fisher, atol=1e-12)


def test_a_chain_of_a_thousand_variables() -> None:
    """No table of 2^1000 states: coordinates by elimination agree with the closed form of independent variables."""
    n = 1000
    terms = tuple(((i, 1),) for i in range(n))
    manifold = g.Manifold(Space.of_cards((2,) * n), Basis("monomial", (2,) * n), terms)
    theta = np.random.default_rng(9).normal(size=n)
    point = manifold.at(theta)
    assert np.isclose(point.psi, np.log1p(np.exp(theta)).sum())
    assert np.allclose(point.eta, 1 / (1 + np.exp(-theta)))


def test_what_is_no_point_is_refused() -> None:
    manifold = ALL["table-monomial"]
    with pytest.raises(FullspanError, match="8 finite weights"):
        manifold.at([1.0])
    with pytest.raises(FullspanError, match="no point has these expectations"):
        manifold.at_eta(np.full(8, 0.99))
    with pytest.raises(FullspanError, match="different states"):
        g.divergence(generic(manifold), generic(ALL["list"]))
    with pytest.raises(FullspanError, match="no term"):
        g.e_projection(generic(manifold), [((3, 1),)], [0.5])
    with pytest.raises(FullspanError, match="has no weights"):
        g.Manifold.of(fs.ChowLiuTree().fit([[0, 1], [1, 0], [1, 1]]))
    with pytest.raises(FullspanError, match="no list of its states"):
        _ = generic(ALL["elimination-monomial"]).log_p
    with pytest.raises(FullspanError, match="each level holds"):
        g.explained(manifold, generic(manifold), levels=[PAIRS, SINGLES])
    with pytest.raises(FullspanError, match="data are not at hand"):
        g.explained(manifold)


def test_the_limit_of_a_fit_at_infinity_has_no_metric_in_eta() -> None:
    """Where states have vanished Cov(Phi) is singular, which is said and not returned as an inverse."""
    rows = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 1]])
    with pytest.warns(BoundaryWarning):
        machine = fs.BoltzmannMachine().fit(rows)
    point = g.Manifold.of(machine).point_of(machine)
    assert np.linalg.eigvalsh(point.fisher)[0] < 1e-9
    with pytest.raises(FullspanError, match="metric is singular"):
        _ = point.fisher_eta
