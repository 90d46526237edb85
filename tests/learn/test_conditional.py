"""Conditional learning: the information gain given the inputs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.data import Empirical, Variable
from fullspan.errors import DataError, FullspanError, QueryError, TooLargeError
from fullspan.learn.likelihood import MachineOptions, fit_conditional, separating
from fullspan.model import Fitted
from fullspan.model.algebra import Basis


def table(rows: int, seed: int) -> NDArray[np.int64]:
    """Inputs of 3, 2 and 2 levels, and an output of 3 that depends on them."""
    rng = np.random.default_rng(seed)
    x = np.stack([rng.integers(0, 3, rows), rng.integers(0, 2, rows), rng.integers(0, 2, rows)], axis=1)
    score = np.stack([0.8 * x[:, 1], 0.5 * x[:, 0] - 0.4, 1.0 * x[:, 2] * x[:, 1]], axis=1)
    p = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) < rng.random(rows)[:, None]).sum(axis=1)
    return np.c_[x, y]


def conditional(fitted: Fitted, inputs: NDArray[np.int64], n_out: int) -> NDArray[np.float64]:
    """p(last variable before the hidden ones | all before), by enumerating the rest."""
    cards = fitted.model.space.cards
    rest = list(itertools.product(*map(range, cards[inputs.shape[1] + 1 :])))
    out = np.zeros((len(inputs), n_out))
    for y in range(n_out):
        for hidden in rest:
            full = np.c_[inputs, np.tile([y, *hidden], (len(inputs), 1))]
            out[:, y] += np.exp(fitted.model.log_prob(full))
    return np.asarray(out / out.sum(axis=1, keepdims=True))


def test_one_output_and_pairs_is_logistic_regression() -> None:
    """scikit-learn's weights, without a penalty, on ten binary inputs."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (3000, 10))
    y = (rng.random(3000) < 1 / (1 + np.exp(-(X - 0.5) @ rng.normal(size=10)))).astype(int)
    fitted = fit_conditional(Empirical.from_codes(np.c_[X, y]), ["x10"])
    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    weights = fitted.model.weights
    assert np.allclose([weights[(i, 1), (10, 1)] for i in range(10)], other.coef_[0], atol=1e-6)
    assert weights[((10, 1),)] == pytest.approx(other.intercept_[0], abs=1e-6)
    assert len(weights) == 11


@pytest.mark.parametrize("basis", ["monomial", "indicator", "walsh"])
def test_expectations_given_the_inputs_match(basis: str) -> None:
    """At the optimum sum_i q(i) E(Phi | i) is the data's mean of Phi, for every term with an output."""
    rows = table(500, 2)
    fitted = fit_conditional(Empirical.from_codes(rows), ["x3"], options=MachineOptions(order=3, basis=basis))
    model, p = fitted.model, conditional(fitted, rows[:, :3], 3)
    found = sum(
        p[:, [y]] * model.basis.evaluate(model.terms, np.c_[rows[:, :3], np.full(len(rows), y)]) for y in range(3)
    )
    assert np.allclose(np.mean(found, axis=0), model.basis.evaluate(model.terms, rows).mean(axis=0), atol=1e-9)


def test_a_saturated_conditional_is_the_data() -> None:
    """With all terms of the output, p(y | x) is the share of y among the rows with x, and the gain is 0."""
    rows = table(4000, 3)
    fitted = fit_conditional(Empirical.from_codes(rows), ["x3"], options=MachineOptions(order=4))
    inputs, which = np.unique(rows[:, :3], axis=0, return_inverse=True)
    shares = np.zeros((len(inputs), 3))
    np.add.at(shares, (which.ravel(), rows[:, 3]), 1.0)
    assert np.allclose(conditional(fitted, inputs, 3), shares / shares.sum(axis=1, keepdims=True), atol=1e-7)
    assert fitted.divergence == pytest.approx(0.0, abs=1e-9)


def test_log_likelihood_is_that_of_the_outputs_given_the_inputs() -> None:
    rows = table(300, 4)
    fitted = fit_conditional(Empirical.from_codes(rows), ["x3"])
    wanted = np.log(conditional(fitted, rows[:, :3], 3)[np.arange(300), rows[:, 3]]).sum()
    assert fitted.goodness is not None
    assert fitted.goodness.log_likelihood == pytest.approx(wanted, abs=1e-8)


def test_solvers_agree() -> None:
    data = Empirical.from_codes(table(400, 5))
    found = [
        fit_conditional(data, ["x3"], options=MachineOptions(solver=solver, l2=0.01)).model.theta
        for solver in ("newton", "lbfgs", "gradient")
    ]
    assert np.allclose(found[0], found[1:], atol=1e-7)


def test_standard_errors_are_those_of_the_conditional_likelihood() -> None:
    """The inverse of a numerically differentiated gradient."""
    rows = table(800, 6)
    fitted = fit_conditional(Empirical.from_codes(rows), ["x3"])
    model = fitted.model

    def log_likelihood(theta: NDArray[np.float64]) -> float:
        exponents = np.stack(
            [model.basis.evaluate(model.terms, np.c_[rows[:, :3], np.full(800, y)]) @ theta for y in range(3)], axis=1
        )
        return float((exponents[np.arange(800), rows[:, 3]] - np.log(np.exp(exponents).sum(axis=1))).sum())

    k, h = len(model.theta), 1e-3
    information = np.zeros((k, k))
    for a, b in itertools.product(range(k), range(k)):
        e, f = h * np.eye(k)[a], h * np.eye(k)[b]
        t = model.theta
        information[a, b] = -(
            log_likelihood(t + e + f)
            - log_likelihood(t + e - f)
            - log_likelihood(t - e + f)
            + log_likelihood(t - e - f)
        ) / (4 * h * h)
    assert np.allclose(fitted.standard_errors, np.sqrt(np.diag(np.linalg.inv(information))), rtol=1e-4)


def test_hidden_units_learn_exclusive_or() -> None:
    """No pair of variables tells anything; hidden units reach what the third order does."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 2, (600, 2))
    y = np.where(rng.random(600) < 0.1, 1 - (X[:, 0] ^ X[:, 1]), X[:, 0] ^ X[:, 1])
    data = Empirical.from_codes(np.c_[X, y])
    hidden = [Variable("h1", (0, 1)), Variable("h2", (0, 1))]
    plain = fit_conditional(data, ["x2"])
    third = fit_conditional(data, ["x2"], options=MachineOptions(order=3))
    found = fit_conditional(data, ["x2"], options=MachineOptions(seed=0), hidden=hidden)
    assert plain.divergence > 0.3
    assert found.divergence == pytest.approx(third.divergence, abs=1e-6)
    assert found.n_hidden == 2


def test_a_missing_output_tells_nothing_about_its_inputs() -> None:
    rows = table(500, 8)
    gaps = np.concatenate([rows, np.c_[table(300, 9)[:, :3], np.full(300, -1)]])
    space = Empirical.from_codes(rows).space
    whole = fit_conditional(Empirical.from_codes(rows, space=space), ["x3"])
    more = fit_conditional(Empirical.from_codes(gaps, space=space, allow_missing=True), ["x3"])
    assert np.allclose(whole.model.theta, more.model.theta, atol=1e-6)


def test_separated_outputs_are_named_and_the_limit_is_reached() -> None:
    """The output copies the first input: that weight diverges, the other does not, and p(y | x) is 0 or 1."""
    rng = np.random.default_rng(10)
    X = rng.integers(0, 2, (200, 2))
    fitted = fit_conditional(Empirical.from_codes(np.c_[X, X[:, 0]]), ["x2"])
    assert [fitted.model.terms[k] for k in fitted.diverging] == [((2, 1),), ((0, 1), (2, 1))]
    p = conditional(fitted, np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), 2)
    assert np.allclose(p, [[1, 0], [1, 0], [0, 1], [0, 1]], atol=1e-8)
    ridged = fit_conditional(Empirical.from_codes(np.c_[X, X[:, 0]]), ["x2"], options=MachineOptions(l2=0.01))
    assert ridged.diverging == ()
    assert np.abs(ridged.model.theta).max() < 10


def test_overlapping_outputs_are_not_separated() -> None:
    basis, rows = Basis("walsh", (2, 2)), np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert separating(basis, (((1, 1),), ((0, 1), (1, 1))), rows, (1,)).size == 0


@pytest.mark.parametrize(
    ("outputs", "inputs", "message"),
    [
        (["x3"], ["x3", "x0", "x1", "x2"], "'x3' is both an input and an output"),
        (["x3"], ["x0", "x1"], "'x2' is neither input nor output"),
        ([], None, "there are no outputs"),
        (["x0", "x1", "x2", "x3"], None, "there are no inputs"),
    ],
)
def test_roles_that_contradict_each_other(outputs: list[str], inputs: list[str] | None, message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        fit_conditional(Empirical.from_codes(table(50, 11)), outputs, inputs)


def test_an_unknown_role() -> None:
    with pytest.raises(QueryError, match="there is no variable 'z'"):
        fit_conditional(Empirical.from_codes(table(50, 11)), ["z"])


def test_inputs_must_be_known() -> None:
    rows = table(50, 12)
    rows[3, 1] = -1
    with pytest.raises(DataError, match="the input 'x1' is missing in 1 distinct rows"):
        fit_conditional(Empirical.from_codes(rows, allow_missing=True), ["x3"])


def test_solvers_that_do_not_apply() -> None:
    for options in (MachineOptions(solver="ipf"), MachineOptions(em="exact")):
        with pytest.raises(FullspanError, match="conditional learning has the solvers"):
            fit_conditional(Empirical.from_codes(table(50, 13)), ["x3"], options=options)


def test_too_many_open_states_are_refused() -> None:
    hidden = [Variable(f"h{j}", (0, 1)) for j in range(30)]
    options = MachineOptions(max_memory=1 << 24)
    with pytest.raises(TooLargeError, match="states of outputs and hidden units"):
        fit_conditional(Empirical.from_codes(table(100, 14)), ["x3"], options=options, hidden=hidden)
