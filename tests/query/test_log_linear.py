"""What is particular to log-linear models: their methods agree, keep digits, and need no table.

That their answers are those of enumeration is checked for all distributions, in ``tests/contract``.
"""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.engine.dual import DualTable
from fullspan.errors import DataError, FullspanError, QueryError, TooLargeError
from fullspan.query.distributions import LogLinearDistribution, rows
from query.enumeration import ALL_BASES, CARDS, Enumerated, normalised, random_model

METHODS = ("look-up", "elimination")


@pytest.fixture(params=ALL_BASES)
def basis(request):
    return request.param


@pytest.fixture(params=METHODS)
def either(request, basis):
    """A distribution and its enumeration; elimination has no table to look anything up in."""
    model = random_model(CARDS, basis, seed=3)
    return of(model, 0 if request.param == "elimination" else None), Enumerated.of(model)


def of(model, most_states, max_completions=1 << 10):
    """The distribution of a model, by a table of at most these states, and by weighing at most these completions."""
    distribution = LogLinearDistribution(model)
    distribution.most_states, distribution.max_completions = most_states, max_completions
    return distribution


def named(codes):
    return {f"x{i}": list(levels) if len(levels) > 1 else levels[0] for i, levels in codes.items()}


PARTIAL = np.array(list(itertools.product(*(range(-1, c) for c in CARDS))))


def test_log_prob_by_each_method_agrees(basis):
    """Look-ups, completions and elimination give the same log probability of partial states."""
    model = random_model(CARDS, basis, seed=5)
    by_look_up = of(model, None).log_prob(PARTIAL)
    for max_completions in (1 << 10, 0):
        found = of(model, 0, max_completions).log_prob(PARTIAL)
        np.testing.assert_allclose(found, by_look_up, rtol=1e-11, atol=1e-13)


@pytest.fixture(params=(1 << 10, 0), ids=("narrow", "wide"))
def incomplete(request, either):
    """Imputation by weighing all completions, and by elimination."""
    either[0].max_completions = request.param
    return either


def completed(truth, row):
    p = np.where(truth.mask({i: (int(x),) for i, x in enumerate(row) if x >= 0}), truth.p, 0.0)
    return p / p.sum()


def test_impute_by_mode(incomplete):
    distribution, truth = incomplete
    expected = [np.unravel_index(completed(truth, row).argmax(), CARDS) for row in PARTIAL]
    np.testing.assert_array_equal(distribution.impute(PARTIAL), expected)


def test_impute_by_mean(incomplete):
    distribution, truth = incomplete
    means = distribution.impute(PARTIAL, how="mean")
    assert list(means) == ["x0", "x1", "x2", "x3"]
    for i in range(4):
        others = tuple(a for a in range(4) if a != i)
        expected = [completed(truth, row).sum(axis=others) for row in PARTIAL]
        np.testing.assert_allclose(means[f"x{i}"], expected, rtol=1e-11, atol=1e-14)


def test_impute_by_draws(incomplete):
    distribution, truth = incomplete
    row = np.array([-1, 2, -1, 0])
    filled = distribution.impute(np.tile(row, (20_000, 1)), how="draw", rng=np.random.default_rng(4))
    p = completed(truth, row)
    counts = np.zeros(CARDS)
    np.add.at(counts, tuple(filled.T), 1)
    assert (np.abs(counts - 20_000 * p) <= 5 * np.sqrt(20_000 * p * (1 - p)) + 1e-9).all()


def test_impute_leaves_its_input_and_full_rows_alone(either):
    distribution, _ = either
    codes = np.array([[0, 1, 2, 1], [-1, 1, -1, 1]], dtype=np.int32)
    before = codes.copy()
    filled = distribution.impute(codes)
    np.testing.assert_array_equal(codes, before)
    np.testing.assert_array_equal(filled[0], codes[0])
    assert distribution.impute(np.empty((0, 4), dtype=int)).shape == (0, 4)


# -- precision ------------------------------------------------------------------------------------------------


def strong_model(basis):
    """A model whose evidence x1 = x2 = 0 (0/1 and indicator: = 1) has a probability of about 1e-30."""
    space = Space.of_cards((2, 3, 2, 3))
    sign = 1.0 if basis == "monomial" else 0.5
    terms = (((0, 1),), ((0, 1), (1, 1)), ((0, 1), (2, 1)), ((1, 1),), ((2, 1),), ((2, 1), (3, 2)))
    push = 35.0 * sign * (-1 if basis != "walsh" else 1)
    return normalised(space, basis, terms, np.array([0.4, 0.9, -0.7, -35.0 * sign, push, 0.3]))


def test_improbable_evidence(basis):
    """P(x0 | evidence) keeps ten digits when P(evidence) is 1e-30, also for a row of codes and for a sample."""
    model = strong_model(basis)
    distribution, truth = LogLinearDistribution(model), Enumerated.of(model)
    evidence = {1: (1,), 2: (1,)}
    assert truth.probability(evidence) < 1e-28
    assert distribution.probability(named(evidence)) == pytest.approx(truth.probability(evidence), rel=1e-10)
    expected = truth.probability({0: (1,)}, evidence)
    assert 0.01 < expected < 0.99
    assert distribution.probability({"x0": 1}, named(evidence)) == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(distribution.conditional("x0", named(evidence)).values[1], expected, rtol=1e-10)
    np.testing.assert_allclose(distribution.conditionals([[1, -1, -1, -1]], [[-1, 1, 1, -1]]), expected, rtol=1e-10)
    assert distribution.entropy("x0", named(evidence)) == pytest.approx(truth.entropy((0,), evidence), rel=1e-10)
    assert distribution.mode(named(evidence)).state[[1, 2]].tolist() == [1, 1]
    drawn = distribution.sample(4000, np.random.default_rng(1), named(evidence))
    assert abs(drawn[:, 0].mean() - expected) < 0.05
    assert (drawn[:, 1:3] == 1).all()


def test_look_ups_above_the_floor_have_ten_digits():
    """The smallest probability that is looked up at n = 16 agrees with elimination to 1e-10."""
    model = random_model((2,) * 16, "walsh", seed=2, k=40, scale=0.8)
    distribution = LogLinearDistribution(model)
    names = [f"x{i}" for i in range(10)]
    looked_up = distribution.table.marginal(range(10)).reshape((2,) * 10, order="F")
    exact = np.exp(distribution.elimination.log_sums(range(10), {}) - model.log_z)
    trusted = looked_up >= rows.TRUSTED_PROBABILITY
    assert trusted.sum() > 100
    np.testing.assert_allclose(looked_up[trusted], exact[trusted], rtol=1e-10)
    np.testing.assert_allclose(distribution.marginal(names).values, exact, rtol=1e-12)


# -- large and sparse -----------------------------------------------------------------------------------------


def chain(n):
    """A chain of n spins, whose log Z is known in closed form: 2 prod 2 cosh(theta)."""
    theta = np.linspace(-0.8, 0.9, n - 1)
    terms = tuple(((i, 1), (i + 1, 1)) for i in range(n - 1))
    return terms, theta, float(np.log(2) + np.log(2 * np.cosh(theta)).sum())


def test_a_chain_of_sixty_variables_needs_no_table():
    """<s_i s_j> is the product of the tanh between them; the entropy follows; 2^60 states are never listed."""
    from fullspan.model import LogLinear
    from fullspan.model.algebra import Basis

    terms, theta, log_z = chain(60)
    space = Space.of_cards((2,) * 60)
    distribution = LogLinearDistribution(LogLinear(space, Basis("walsh", space.cards), terms, theta, log_z))
    assert distribution.table is None
    correlation = np.tanh(theta[10:20]).prod()
    assert distribution.probability({"x20": 1}, {"x10": 1}) == pytest.approx((1 + correlation) / 2, rel=1e-12)
    assert distribution.entropy() == pytest.approx(log_z - theta @ np.tanh(theta), rel=1e-12)
    mode = distribution.mode({"x0": 1})
    spins = 1 - 2 * mode.state
    np.testing.assert_array_equal(spins[1:] * spins[:-1], np.sign(theta))
    states = distribution.sample(2000, np.random.default_rng(0))
    spins = 1 - 2 * states
    assert np.abs((spins[:, 1:] * spins[:, :-1]).mean(axis=0) - np.tanh(theta)).max() < 0.12
    row = np.full((1, 60), -1)
    row[0, [0, 59]] = 1
    ends = (1 + np.tanh(theta).prod()) / 4
    np.testing.assert_allclose(distribution.log_prob(row), np.log(ends), rtol=1e-12)
    assert distribution.impute(row).min() >= 0
    np.testing.assert_allclose(distribution.impute(row, how="mean")["x0"], [[0.0, 1.0]])


def test_a_plan_that_does_not_fit_is_refused_before_it_is_allocated():
    model = random_model((2,) * 14, "walsh", seed=1, k=60)
    distribution = LogLinearDistribution(model, max_memory=1000)
    assert distribution.table is None
    with pytest.raises(TooLargeError, match=r"GiB.*may be used; clamp some of these variables"):
        distribution.mode()


def test_one_level_variables_are_harmless():
    model = random_model((2, 1, 3, 1), "indicator", seed=8, k=4)
    distribution, truth = LogLinearDistribution(model), Enumerated.of(model)
    np.testing.assert_allclose(distribution.conditional(["x1", "x2"]).values, truth.conditional((1, 2)), rtol=1e-12)
    assert distribution.sample(5, np.random.default_rng(0))[:, [1, 3]].tolist() == [[0, 0]] * 5
    assert distribution.probability({"x1": 0}) == pytest.approx(1.0)


def test_a_model_without_terms_is_uniform():
    distribution = LogLinearDistribution(normalised(Space.of_cards((2, 3)), "walsh", (), np.empty(0)))
    assert distribution.probability({"x1": 2}) == pytest.approx(1 / 3)
    assert distribution.entropy() == pytest.approx(np.log(6))
    np.testing.assert_allclose(
        distribution.log_prob([[-1, -1], [0, -1], [1, 2]]), [0, -np.log(2), -np.log(6)], atol=1e-15
    )


# -- refusals -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def distribution():
    return LogLinearDistribution(random_model(CARDS, "walsh", seed=3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda o: o.probability({"x9": 1}), "no variable 'x9'"),
        (lambda o: o.probability({"x1": 7}), "no level 7"),
        (lambda o: o.probability({"x1": 0}, {"x2": []}), "leaves no level of 'x2'"),
        (lambda o: o.mode({"x2": ()}), "leaves no level"),
        (lambda o: o.probability(["x1"]), "an event is a dictionary"),
        (lambda o: o.conditional(["x1", "x1"]), "is listed twice"),
        (lambda o: o.conditional([]), "at least one variable"),
        (lambda o: o.impute([[-1, 0, 0, 0]], how="median"), "how='median'"),
        (lambda o: o.impute([[-1, 0, 0, 0]], how="draw"), "need a random generator"),
    ],
)
def test_questions_that_cannot_be_answered(distribution, call, message):
    with pytest.raises(QueryError, match=message):
        call(distribution)


@pytest.mark.parametrize(
    ("codes", "message"),
    [([[0, 0, 0]], r"shape \(1, 3\)"), ([[0, 3, 0, 0]], "code 3 for 'x1'"), ([[0.5, 0, 0, 0]], "integer codes")],
)
def test_codes_that_are_none(distribution, codes, message):
    with pytest.raises(DataError, match=message):
        distribution.log_prob(codes)


def test_a_table_given_is_used_and_checked():
    model = random_model(CARDS, "walsh", seed=3)
    table = DualTable(model.basis)
    table.set_theta(dict(zip(model.indices, model.theta, strict=True)))
    assert LogLinearDistribution(model, table).table is table
    assert LogLinearDistribution(model, table).probability({"x0": 1}) == pytest.approx(
        Enumerated.of(model).probability({0: (1,)})
    )
    with pytest.raises(FullspanError, match="float64 table"):
        LogLinearDistribution(model, SimpleNamespace(basis=model.basis, dtype=np.dtype(np.float32)))


def test_a_table_of_answers_reads_like_one(distribution):
    table = distribution.marginal(["x0", "x1"])
    assert len(table) == 6
    assert table[1, 2] == table.values[1, 2]
    assert dict(table)[(1, 2)] == table[1, 2]
    assert str(table).splitlines()[0].split() == ["x0", "x1", "probability"]
    assert len(str(table).splitlines()) == 7
    assert distribution.marginal("x0")[1] == pytest.approx(table.values[1].sum())
    for wrong in ((5, 0), (0,)):
        with pytest.raises(KeyError):
            table[wrong]
