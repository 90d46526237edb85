"""The model's own arithmetic against enumeration, and every refusal."""

from __future__ import annotations

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.errors import DataError, FullspanError
from fullspan.model import LogLinear
from fullspan.model.algebra import BASES, Basis, local_row, log_sum_exp, small_exponents

SPACE = Space.of_cards((2, 3, 4, 2))
TERMS = (((0, 1),), ((0, 1), (1, 2)), ((1, 1), (2, 3), (3, 1)), ((2, 2),))
THETA = np.array([0.3, -0.7, 1.1, 0.45])


@pytest.fixture(params=BASES)
def model(request):
    basis = Basis(request.param, SPACE.cards)
    log_z = log_sum_exp(basis.evaluate(TERMS, SPACE.states(range(SPACE.n_states))) @ THETA)
    return LogLinear(SPACE, basis, TERMS, THETA, log_z)


def test_log_prob_is_the_equation(model):
    """log p(x) = theta . Phi(x) - log Z, also of more states than are evaluated together."""
    states = SPACE.states(range(SPACE.n_states))
    expected = model.basis.evaluate(TERMS, states) @ THETA - model.log_z
    np.testing.assert_allclose(model.log_prob(states), expected, rtol=1e-14)
    many = 40_000 // len(states)
    repeated = np.tile(states.astype(np.uint8), (many, 1))
    np.testing.assert_allclose(model.log_prob(repeated), np.tile(expected, many), rtol=1e-14)
    np.testing.assert_allclose(model.energy(states), -expected - model.log_z, rtol=1e-13)
    assert np.exp(expected).sum() == pytest.approx(1.0, abs=1e-14)


def test_local_rows_and_small_tables_agree_with_the_basis(model):
    for i, card in enumerate(SPACE.cards):
        for j in range(card):
            np.testing.assert_array_equal(local_row(model.basis, i, j), model.basis.local(i)[j])
    expected = model.basis.evaluate(TERMS, SPACE.states(range(SPACE.n_states))) @ THETA
    np.testing.assert_allclose(small_exponents(model.basis, model.weights), expected, rtol=1e-13)


def test_indices_weights_and_iteration(model):
    assert model.indices == tuple(model.basis.index(term) for term in TERMS)
    assert dict(model) == model.weights == dict(zip(TERMS, THETA, strict=True))
    assert model.log_prob(np.empty((0, 4), dtype=int)).shape == (0,)


def test_weights_are_a_copy_that_cannot_change():
    theta = THETA.copy()
    model = LogLinear(SPACE, Basis("walsh", SPACE.cards), TERMS, theta, 0.0)
    theta[0] = 99
    assert model.theta[0] == 0.3
    with pytest.raises(ValueError, match="read-only"):
        model.theta[0] = 1


def built(**changes):
    parts = {"space": SPACE, "basis": Basis("walsh", SPACE.cards), "terms": TERMS, "theta": THETA, "log_z": 0.0}
    return LogLinear(**{**parts, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"basis": Basis("walsh", (2, 2))}, "the basis is over"),
        ({"theta": np.ones(3)}, "as many weights"),
        ({"theta": np.ones((4, 1))}, "as many weights"),
        ({"theta": np.array([0.1, np.nan, 0, 0])}, "finite"),
        ({"theta": np.array([1e308, 1e308, 0, 0])}, "finite"),
        ({"log_z": np.inf}, "finite"),
        ({"terms": (*TERMS[:3], ())}, "not a term"),
        ({"terms": (*TERMS[:3], ((1, 3),))}, "not a term"),
        ({"terms": (*TERMS[:3], ((0, 0),))}, "not a term"),
        ({"terms": (*TERMS[:3], ((4, 1),))}, "not a term"),
        ({"terms": (*TERMS[:3], ((-1, 1),))}, "not a term"),
        ({"terms": (*TERMS[:3], ((2, 1), (0, 1)))}, "not a term"),
        ({"terms": (*TERMS[:3], ((2, 1), (2, 2)))}, "not a term"),
        ({"terms": (*TERMS[:3], TERMS[0])}, "listed twice"),
    ],
)
def test_parts_that_do_not_fit(changes, message):
    with pytest.raises(FullspanError, match=message):
        built(**changes)


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([0, 0, 0, 0], "shape"),
        ([[0, 0, 0]], "shape"),
        ([[0, 0, 0, 2]], "row 0 has the code 2 for 'x3'"),
        ([[0, 0, 0, 0], [0, -1, 0, 0]], "row 1 has the code -1 for 'x1'"),
        ([[0.0, 1.0, 0.0, 0.0]], "integer codes"),
    ],
)
def test_states_that_are_none(states, message):
    with pytest.raises(DataError, match=message):
        built().log_prob(states)


def test_a_term_the_model_lacks_is_not_described():
    with pytest.raises(FullspanError, match="has no term"):
        built().describe(((3, 1),))
