"""A ridge that treats all levels alike, and its choice by held-out likelihood."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

import fullspan as fs
from fullspan.errors import TooLargeError
from fullspan.learn.likelihood import Multinomial, multinomial
from fullspan.model.algebra import Basis

CARDS = (3, 2, 4)


def rows(m: int = 240, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Three inputs, and an output of three levels that depends on two of them jointly."""
    rng = np.random.default_rng(seed)
    x = np.stack([rng.integers(card, size=m) for card in CARDS], axis=1)
    y = (x[:, 0] + x[:, 1] * (x[:, 2] > 1) + (rng.random(m) < 0.3) * rng.integers(3, size=m)) % 3
    return x, y


def counted(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    distinct, which = np.unique(x, axis=0, return_inverse=True)
    counts = np.zeros((len(distinct), int(y.max()) + 1))
    np.add.at(counts, (which.ravel(), y), 1)
    return distinct, counts


def test_contrasts_are_orthonormal_and_sum_to_zero() -> None:
    for card in (1, 2, 5):
        h = multinomial.contrasts(card)
        assert h.T @ h == pytest.approx(np.eye(card - 1), abs=1e-12)
        assert h.sum(axis=0) == pytest.approx(0, abs=1e-12)


def test_the_gradient_is_that_of_the_objective() -> None:
    x, counts = counted(*rows())
    width = multinomial.n_features(CARDS, 3)
    fit = Multinomial(multinomial.features(x, CARDS, 3), counts, np.random.default_rng(5).uniform(0.2, 5, width))
    w = np.random.default_rng(2).normal(size=width * 2) / 3
    _, gradient = fit.objective(w, 0.7)
    for k in (0, 5, 31):
        step = np.zeros(len(w))
        step[k] = 1e-5
        slope = (fit.objective(w + step, 0.7)[0] - fit.objective(w - step, 0.7)[0]) / 2e-5
        assert gradient[k] == pytest.approx(slope, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("basis", ["monomial", "indicator"])
def test_terms_of_every_basis_have_the_same_conditionals_and_penalty(basis: str) -> None:
    """Weights as tables, as terms, and back; the ridge of the terms is that of the tables."""
    cards = (*CARDS, 3)
    b = Basis(basis, cards)  # type: ignore[arg-type]
    pairs = [(i, j) for i, card in enumerate(cards) for j in range(1, card)]
    terms = [
        term
        for size in (1, 2, 3)
        for term in itertools.combinations(pairs, size)
        if len({i for i, _ in term}) == size and any(i == 3 for i, _ in term)
    ]
    weights = np.random.default_rng(3).normal(size=(multinomial.n_features(CARDS, 3), 2))
    theta = multinomial.weights_of_terms(b, (0, 1, 2), 3, 3, weights, terms)
    x = np.array(list(itertools.product(*map(range, CARDS))))
    expected = Multinomial(multinomial.features(x, CARDS, 3), np.ones((len(x), 3))).log_prob(weights)
    scores = np.stack([b.evaluate(terms, np.c_[x, np.full(len(x), k)]) @ theta for k in range(3)], axis=1)
    found = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
    assert found == pytest.approx(expected, abs=1e-9)
    assert theta @ multinomial.matrix_of_terms(b, (0, 1, 2), 3, 3, terms) == pytest.approx(weights.ravel(), abs=1e-9)
    assert len(multinomial.sets_of(3, 3)) == 1 + 3 + 3


def test_pairs_are_logistic_regression() -> None:
    """At the chosen penalty, the probabilities of scikit-learn with C = 1 / penalty; base rates are free there."""
    x, y = rows()
    model = fs.BoltzmannClassifier(order=2).fit(x, y)
    hot = OneHotEncoder().fit(x)
    logistic = LogisticRegression(C=1 / model.penalty_, tol=1e-10, max_iter=5000).fit(hot.transform(x), y)
    assert model.predict_proba(x) == pytest.approx(logistic.predict_proba(hot.transform(x)), abs=1e-4)
    assert model.order_ == 2


def test_an_interaction_that_predicts_is_found_and_noise_is_not() -> None:
    x, y = rows()
    model = fs.BoltzmannClassifier().fit(x, y)
    assert model.order_ == 3
    best = min((row for row in model.cross_validation_ if row[4] == model.adaptive_), key=lambda row: row[2])
    assert best[2] < 0.98 * min(row[2] for row in model.cross_validation_ if row[0] == 2)
    assert (model.order_, model.penalty_) == best[:2]
    y = (np.random.default_rng(4).random(len(x)) < 0.2 + 0.2 * x[:, 0]).astype(int)
    plain = fs.BoltzmannClassifier().fit(x, y)
    assert plain.order_ == 2
    again = fs.BoltzmannClassifier().fit(x[::-1], y[::-1])
    assert again.predict_proba(x) == pytest.approx(plain.predict_proba(x), abs=1e-9)


def test_the_penalty_of_a_set_is_divided_by_the_mean_square_of_its_weights() -> None:
    weights = np.random.default_rng(6).normal(size=(multinomial.n_features(CARDS, 2), 2))
    found = multinomial.scales(weights, CARDS, 2)
    blocks = [weights[1:3], weights[3:4], weights[4:7]]  # after the base rates, cards - 1 each
    squares = np.array([(block**2).mean() for block in blocks])
    own = squares.mean() / (squares + 1e-3 * squares.mean())
    assert found[1:] == pytest.approx(np.repeat(own, [2, 1, 3]))
    assert (multinomial.scales(np.zeros((4, 2)), (4,), 2) == 1).all()  # nothing to adapt to


def test_a_ridge_adapts_where_few_of_many_inputs_matter_and_not_where_all_do() -> None:
    rng = np.random.default_rng(7)
    x = rng.integers(0, 3, (700, 30))
    few = rng.random(700) < 1 / (1 + np.exp(3.0 * (x[:, 3] - 1) - 3.0 * (x[:, 8] - 1)))
    one = fs.BoltzmannClassifier(order=2, levels={f"x{i}": [0, 1, 2] for i in range(30)})
    model = one.fit(x[:350], few[:350])
    assert model.adaptive_
    distinct, counts = counted(x[:350], few[:350].astype(int))
    plain = Multinomial(multinomial.features(distinct, (3,) * 30, 2), counts)
    best = min((row for row in model.cross_validation_ if not row[4]), key=lambda row: row[2])
    w, _, _ = plain.fit(best[1], np.zeros((61, 1)), 1e-8, 500)
    ours = model.predict_log_proba(x[350:])[np.arange(350), few[350:].astype(int)].mean()
    theirs = Multinomial(multinomial.features(x[350:], (3,) * 30, 2), np.zeros((350, 2))).log_prob(w)
    assert ours > theirs[np.arange(350), few[350:].astype(int)].mean() + 0.02
    every = rng.random(700) < 1 / (1 + np.exp(0.3 * (x - 1).sum(axis=1)))
    assert not one.fit(x, every).adaptive_


def test_standard_errors_are_those_of_the_ridge_that_was_used() -> None:
    """The inverse of the second derivatives of the penalised log-loss, by differences of its gradient."""
    rng = np.random.default_rng(8)
    x = rng.integers(0, 2, (300, 40))
    y = (rng.random(300) < 1 / (1 + np.exp(8.0 * (0.8 - x[:, 5] - 0.6 * x[:, 9])))).astype(int)
    model = fs.BoltzmannClassifier(order=2, basis="walsh").fit(x, y)
    assert model.adaptive_
    distinct, counts = counted(x, y)
    fit = Multinomial(multinomial.features(distinct, (2,) * 40, 2), counts)
    base = min((row for row in model.cross_validation_ if not row[4]), key=lambda row: row[2])[1]
    start, _, _ = fit.fit(base, np.zeros((41, 1)), 1e-8, 500)
    fit.scales = multinomial.scales(start, (2,) * 40, 2)
    w, _, _ = fit.fit(model.penalty_, start, 1e-9, 500)
    steps = 1e-5 * np.eye(41)
    hessian = np.stack([fit.objective(w.ravel() + h, model.penalty_)[1] for h in steps])
    hessian = 300 * (hessian - np.stack([fit.objective(w.ravel() - h, model.penalty_)[1] for h in steps])) / 2e-5
    expected = np.sqrt(np.diag(np.linalg.inv(hessian))) / 2  # a contrast of two levels is a sign over the root of two
    assert model.fitted_.standard_errors[1:] == pytest.approx(expected[1:], rel=1e-3)


def test_folds_divide_the_rows_of_each_level() -> None:
    counts = np.array([[3.0, 0], [0, 7], [1, 0.5], [4, 2]])
    parts = multinomial.folds(counts)
    assert parts.sum(axis=0) == pytest.approx(counts)
    of_level = parts[:, :, 0].sum(axis=1)
    assert of_level.max() - of_level.min() <= 1


def test_held_out_losses_are_those_of_fits_without_the_fold() -> None:
    x, counts = counted(*rows())
    found = next(iter(multinomial.choose(x, CARDS, counts, [2]).tried))
    total = 0.0
    for part in multinomial.folds(counts):
        fit = Multinomial(multinomial.features(x, CARDS, 2), counts - part)
        w, _, _ = fit.fit(found.penalty, np.zeros((fit.x.shape[1], 2)), 1e-8, 500)
        total -= float(np.sum(part * fit.log_prob(w)))
    assert found.log_loss == pytest.approx(total / counts.sum(), rel=1e-3)
    assert 0 < found.error < 0.2


def test_a_given_ridge_or_structure_is_used_as_before() -> None:
    x, y = rows()
    for options in ({"l2": 0.0}, {"terms": [[0], [1], [2]]}, {"solver": "newton"}):
        graph = {"terms": [["y"], ["x0", "y"]]} if "terms" in options else options
        model = fs.BoltzmannClassifier(**graph).fit(x, y)
        assert model.penalty_ is None
        assert model.order_ == 2
        assert model.cross_validation_ == ()


def test_a_constant_column_changes_nothing() -> None:
    x, y = rows(60)
    wide = np.c_[x, np.full(60, 7)]
    found = fs.BoltzmannClassifier(order=3).fit(wide, y).predict_proba(wide)
    assert found == pytest.approx(fs.BoltzmannClassifier(order=3).fit(x, y).predict_proba(x), abs=1e-9)


def test_a_class_of_a_single_row_keeps_probabilities_finite() -> None:
    x, y = rows(40)
    y = np.where(np.arange(40) == 7, 3, y)
    model = fs.BoltzmannClassifier().fit(x, y)
    assert math.isfinite(model.penalty_)
    assert np.isfinite(model.predict_log_proba(x)).all()


def test_too_many_features_are_refused_before_they_are_made() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 30, (3000, 60))
    with pytest.raises(TooLargeError, match="features"):
        fs.BoltzmannClassifier(order=4, max_levels=99).fit(x, rng.integers(0, 2, 3000))
