"""Sums over log-linear models by elimination, against enumeration, and where no table over all states exists."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.engine.elimination import Sums
from fullspan.errors import TooLargeError
from fullspan.model import LogLinear
from fullspan.model.algebra import Basis
from fullspan.query.distributions import LogLinearDistribution
from query.enumeration import ALL_BASES, CARDS, Enumerated, all_states, random_model


def chain(n: int, seed: int = 0) -> LogLinear:
    """Fields, couplings of neighbours, and couplings of three in a row, of n two-level variables."""
    rng = np.random.default_rng(seed)
    runs = [tuple(range(i, i + k)) for k in (1, 2, 3) for i in range(n - k + 1)]
    terms = tuple(tuple((i, 1) for i in run) for run in sorted(runs))
    space = Space.of_cards((2,) * n)
    bare = LogLinear(space, Basis("walsh", space.cards), terms, rng.normal(scale=0.6, size=len(terms)), 0.0)
    return LogLinear(space, bare.basis, terms, bare.theta, Sums(bare).log_z())


@pytest.mark.parametrize("basis", ALL_BASES)
@pytest.mark.parametrize("keep", [(), (2,), (3, 0), (2, 1, 0)])
@pytest.mark.parametrize("allowed", [{}, {1: (2,)}, {1: (0, 2), 3: (1,)}, {2: (3,), 0: (1,)}])
def test_log_sums(basis, keep, allowed):
    """``exp(log sums)`` of a few variables are the sums of all states that agree with the evidence."""
    model = random_model(CARDS, basis, seed=5)
    p = Enumerated.of(model).p * Enumerated.of(model).mask(allowed)
    others = tuple(i for i in range(len(CARDS)) if i not in keep)
    axes = np.argsort(np.argsort(keep)) if keep else ()
    expected = p.sum(axis=others).transpose(axes) if keep else p.sum()
    found = Sums(model).log_sums(keep, allowed) - model.log_z
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-12)
    assert (np.isneginf(found) == (expected == 0)).all()


@pytest.mark.parametrize("basis", ALL_BASES)
def test_expectations_are_those_of_enumeration(basis):
    """``eta_y = sum_x p(x) Phi_y(x)`` of the model's own terms."""
    model = random_model(CARDS, basis, seed=6)
    phi = model.basis.evaluate(model.terms, all_states(CARDS))
    np.testing.assert_allclose(Sums(model).expectations(), Enumerated.of(model).p.ravel() @ phi, rtol=0, atol=1e-13)


def test_rows_are_summed_one_by_one_or_together():
    """Rows that know the same cells have the same sums alone and in a batch, and as enumeration has them."""
    model = random_model(CARDS, "walsh", seed=7)
    rows = np.array([[0, -1, 2, -1], [1, -1, 3, -1], [1, -1, 0, -1], [0, -1, 0, -1], [-1, 2, -1, -1], [-1] * 4])
    sums, truth = Sums(model), Enumerated.of(model)
    expected = [truth.p[truth.mask({i: (x,) for i, x in enumerate(row.tolist()) if x >= 0})].sum() for row in rows]
    together = sums.log_sums_of_rows(rows) - model.log_z
    np.testing.assert_allclose(np.exp(together), expected, rtol=1e-12)
    alone = [float(sums.log_sums_of_rows(row[None, :])[0]) - model.log_z for row in rows]
    np.testing.assert_allclose(together, alone, rtol=1e-12, atol=1e-13)


def test_a_model_of_hundreds_of_variables_answers_all_questions():
    """2^400 states: probabilities of neighbours agree with those of a short chain cut out by conditioning."""
    n, model = 400, chain(400)
    oracle = LogLinearDistribution(model)
    assert oracle.table is None
    around = {f"x{i}": i % 2 for i in (150, 151, 160, 161)}
    inner = range(152, 160)
    part = [(t, w) for t, w in model if any(i in inner for i, _ in t)]
    restricted: dict[tuple[tuple[int, int], ...], float] = {}
    for term, weight in part:
        sign = math.prod(1 - 2 * (i % 2) for i, _ in term if i not in inner)
        free = tuple((i - 152, 1) for i, _ in term if i in inner)
        restricted[free] = restricted.get(free, 0.0) + sign * weight
    space = Space.of_cards((2,) * 8)
    small = LogLinear(space, Basis("walsh", space.cards), tuple(restricted), np.array([*restricted.values()]), 0.0)
    truth = Enumerated.of(small).p
    found = oracle.conditional(["x152", "x156", "x159"], around).values
    np.testing.assert_allclose(found, truth.sum(axis=(1, 2, 3, 5, 6)), rtol=1e-11)
    mode = oracle.mode(around)
    assert mode.state[152:160].tolist() == list(np.unravel_index(truth.argmax(), truth.shape))
    drawn = oracle.sample(4000, np.random.default_rng(0), around)
    assert drawn.shape == (4000, n)
    assert abs(drawn[:, 155].mean() - truth.sum(axis=(0, 1, 2, 4, 5, 6, 7))[1]) < 0.04
    row = np.full((1, n), -1)
    row[0, [150, 151, 160, 161]] = [0, 1, 0, 1]
    means = oracle.impute(row, how="mean")
    np.testing.assert_allclose(means["x153"][0], truth.sum(axis=(0, 2, 3, 4, 5, 6, 7)), rtol=1e-11)
    assert oracle.entropy() == pytest.approx(model.log_z - model.theta @ Sums(model).expectations(), rel=1e-12)


def test_a_term_of_high_order_is_refused_before_its_table_exists():
    """A term over 40 variables is a table of 2^40 cells, which is not tried."""
    space = Space.of_cards((2,) * 40)
    term = tuple((i, 1) for i in range(40))
    model = LogLinear(space, Basis("walsh", space.cards), (term,), np.array([0.3]), 0.0)
    with pytest.raises(TooLargeError, match=r"a table of 1099511627776 cells"):
        Sums(model).log_z()
