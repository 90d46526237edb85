"""Laws that hold for every model: each test's docstring is the theorem it checks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullspan.data import Space, Variable
from fullspan.model.algebra import Basis
from fullspan.query.distributions import LogLinearDistribution
from query.enumeration import ALL_BASES, normalised, random_model

# Two shapes only, so that compiled code is shared; everything else is drawn.
shapes = st.sampled_from([(2, 3, 4, 2), (3, 2, 2, 5)])
models = st.builds(
    random_model,
    shapes,
    st.sampled_from(ALL_BASES),
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(1, 15),
    scale=st.floats(0.01, 3.0),
)
law = settings(max_examples=40, deadline=None)


@st.composite
def oracles_and_codes(draw):
    model = draw(models)
    return LogLinearDistribution(model), [draw(st.integers(0, card - 1)) for card in model.space.cards]


@law
@given(oracles_and_codes())
def test_probabilities_sum_to_one(drawn):
    """sum_a P(A = a | B = b) = 1, and no term is negative."""
    oracle, codes = drawn
    values = oracle.conditional(["x0", "x2"], {"x1": codes[1]}).values
    assert values.min() >= 0
    assert values.sum() == pytest.approx(1.0, abs=1e-12)
    total = sum(oracle.probability({"x3": x}, {"x1": codes[1]}) for x in range(oracle.model.space.cards[3]))
    assert total == pytest.approx(1.0, abs=1e-10)


@law
@given(oracles_and_codes())
def test_chain_rule(drawn):
    """P(a, b, c, d) = P(a) P(b | a) P(c | a, b) P(d | a, b, c) = p(x)."""
    oracle, codes = drawn
    product, known = 1.0, {}
    for i, x in enumerate(codes):
        product *= oracle.probability({f"x{i}": x}, known)
        known[f"x{i}"] = x
    assert product == pytest.approx(oracle.probability(known), rel=1e-9)
    assert product == pytest.approx(float(np.exp(oracle.model.log_prob([codes])[0])), rel=1e-9)


@law
@given(oracles_and_codes())
def test_conditional_is_joint_over_marginal(drawn):
    """P(A | B = b) P(B = b) = P(A, B = b)."""
    oracle, codes = drawn
    given_b = oracle.conditional("x2", {"x0": codes[0], "x3": codes[3]}).values
    joint = oracle.marginal(["x2", "x0", "x3"]).values[:, codes[0], codes[3]]
    np.testing.assert_allclose(given_b * joint.sum(), joint, rtol=1e-9)


@law
@given(models)
def test_mutual_information_is_symmetric_and_not_negative(model):
    """I(A; B | C) = I(B; A | C) >= 0, and I(A; B, C) = I(A; C) + I(A; B | C)."""
    oracle = LogLinearDistribution(model)
    for condition in (None, "x1", {"x1": 1}):
        forth = oracle.mutual_information("x0", ["x2", "x3"], condition)
        back = oracle.mutual_information(["x3", "x2"], "x0", condition)
        assert forth >= 0
        assert forth == pytest.approx(back, abs=1e-9)
    chained = oracle.mutual_information("x0", "x1") + oracle.mutual_information("x0", "x2", "x1")
    assert oracle.mutual_information("x0", ["x1", "x2"]) == pytest.approx(chained, abs=1e-12)


@law
@given(models)
def test_conditioning_never_adds_entropy(model):
    """0 <= H(A | B) <= H(A) <= log |A|, and H(A, B) = H(B) + H(A | B)."""
    oracle = LogLinearDistribution(model)
    plain, known = oracle.entropy("x2"), oracle.entropy("x2", given=["x0", "x1"])
    assert 0 <= known <= plain + 1e-12 <= np.log(model.space.cards[2]) + 2e-12
    joint = oracle.entropy(["x0", "x1", "x2"])
    assert joint == pytest.approx(oracle.entropy(["x0", "x1"]) + known, abs=1e-12)


@law
@given(oracles_and_codes())
def test_no_state_beats_the_mode(drawn):
    """p(mode | e) >= p(x | e) for every state x that agrees with e."""
    oracle, codes = drawn
    mode = oracle.mode({"x1": codes[1]})
    assert mode.state[1] == codes[1]
    here = oracle.model.log_prob([codes])[0] - oracle.log_prob([[-1, codes[1], -1, -1]])[0]
    assert mode.log_prob >= here - 1e-9


@law
@given(models, st.permutations(range(4)), st.integers(0, 2**32 - 1))
def test_relabelling_changes_nothing(model, order, seed):
    """Variables listed in another order, and a model described in another basis, give the same answers."""
    cards = model.space.cards
    moved = Space(tuple(Variable(f"x{i}", tuple(range(cards[i]))) for i in order))
    terms = tuple(tuple(sorted((order.index(i), j) for i, j in term)) for term in model.terms)
    one, two = (
        LogLinearDistribution(model),
        LogLinearDistribution(normalised(moved, model.basis.name, terms, model.theta)),
    )
    rng = np.random.default_rng(seed)
    event, condition = {"x0": int(rng.integers(cards[0]))}, {"x2": int(rng.integers(cards[2]))}
    assert one.probability(event, condition) == pytest.approx(two.probability(event, condition), rel=1e-9)
    assert one.entropy(["x1", "x3"]) == pytest.approx(two.entropy(["x1", "x3"]), abs=1e-11)
    np.testing.assert_allclose(one.conditional(["x3", "x1"]).values, two.conditional(["x3", "x1"]).values, rtol=1e-9)


@law
@given(models, st.sampled_from(ALL_BASES))
def test_the_basis_does_not_matter(model, other):
    """A distribution has the same conditionals whatever basis its weights are written in."""
    algebra = Basis(other, model.space.cards)
    table = np.zeros(model.basis.n_states)
    for index, weight in zip(model.indices, model.theta, strict=True):
        table[index] = weight
    model.basis.synthesise(table)
    matrix = algebra.evaluate([algebra.term(y) for y in range(table.size)], model.space.states(range(table.size)))
    theta = np.linalg.solve(matrix.astype(float), table)
    terms = tuple(algebra.term(y) for y in range(1, table.size))
    one, two = LogLinearDistribution(model), LogLinearDistribution(normalised(model.space, other, terms, theta[1:]))
    values = one.conditional(["x0", "x3"], {"x2": 1}).values
    np.testing.assert_allclose(two.conditional(["x0", "x3"], {"x2": 1}).values, values, rtol=1e-7)
