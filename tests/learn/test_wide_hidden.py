"""Hidden variables of a search without a table: latent classes, information, planted classes, invariance."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import fullspan as fs
from fullspan.data import Empirical, Space, Variable
from fullspan.learn.wide import (
    Em,
    Search,
    WideOptions,
    drawn_classes,
    fit_wide,
    latent_classes,
    missing_information,
)
from fullspan.model.algebra import Basis, BasisName

H = (Variable("kind", ("a", "b", "c")),)


def planted(rows: int, seed: int, n: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three kinds of rows, a pair that hangs together within each kind, and ``p(x_i = 1 | kind)``."""
    rng = np.random.default_rng(seed)
    chance = np.random.default_rng(1).choice([0.1, 0.5, 0.9], size=(3, n))
    kind = rng.choice(3, size=rows, p=[0.5, 0.3, 0.2])
    codes = (rng.random((rows, n)) < chance[kind]).astype(int)
    codes[:, 1] = np.where(rng.random(rows) < 0.8, codes[:, 0], codes[:, 1])
    return codes, kind, chance


def of(codes: np.ndarray, **more: bool) -> Empirical:
    return Empirical.from_codes(codes, space=Space.of_cards((2,) * codes.shape[1]), **more)


def visible(model: object, states: np.ndarray, levels: int) -> np.ndarray:
    """log p of visible rows: the hidden levels summed out by hand."""
    whole = [np.column_stack([states, np.full(len(states), level)]) for level in range(levels)]
    return np.logaddexp.reduce([model.log_prob(rows) for rows in whole], axis=0)  # type: ignore[attr-defined]


def test_classes_are_a_mixture_and_are_found() -> None:
    """Posteriors are Bayes' rule, also where cells are missing; planted kinds are recovered, the largest first."""
    codes, _, chance = planted(8000, 0)
    found = latent_classes(of(codes[:, 2:]), 3, 5, np.random.default_rng(0))
    one = np.exp(found.log[1::2])
    assert found.shares == pytest.approx([0.5, 0.3, 0.2], abs=0.04)
    assert one == pytest.approx(chance[:, 2:].T, abs=0.06)
    row = np.array([[1, 0, -1, 1, -1, 0, 0, 1, 1, 0]])
    each = found.shares * np.prod(np.where(row.T == 1, one, np.where(row.T == 0, 1 - one, 1.0)), axis=0)
    log, posterior = found.posterior(row)
    assert log[0] == pytest.approx(np.log(each.sum()))
    assert posterior[0] == pytest.approx(each / each.sum())
    drawn = drawn_classes(found, np.repeat(row, 4000, axis=0), np.random.default_rng(1))
    assert np.bincount(drawn[:, -1], minlength=3) / 4000 == pytest.approx(posterior[0], abs=0.04)
    assert drawn[:, 2].mean() == pytest.approx(one[2] @ posterior[0], abs=0.04)
    assert (drawn[:, [0, 1, 3]] == row[:, [0, 1, 3]]).all()


@pytest.mark.parametrize("name", ["walsh", "indicator", "monomial"])
def test_hidden_levels_take_information_away(name: BasisName) -> None:
    """F - M is the negative Hessian of the mean log-likelihood of the visible cells, by differences."""
    cards, rng = (2, 3, 2, 3), np.random.default_rng(2)
    basis, states = Basis(name, cards), np.array(list(itertools.product(*map(range, cards))))
    terms = sorted({((0, 1),), ((1, 2),), ((3, 1),), ((3, 2),), ((0, 1), (3, 1)), ((1, 1), (3, 2)), ((0, 1), (2, 1))})
    terms.append(((0, 1), (2, 1), (3, 2)))
    theta = rng.normal(0, 0.7, len(terms))
    rows = states[rng.integers(0, len(states), 9)].astype(np.int16)
    counts = rng.integers(1, 5, 9).astype(float)
    phi, seen = basis.evaluate(terms, states).astype(float), states[:, :3]

    def gradient(weights: np.ndarray) -> np.ndarray:
        p = np.exp(phi @ weights - np.logaddexp.reduce(phi @ weights))
        out = -(phi.T @ p)
        for row, count in zip(rows, counts, strict=True):
            here = (seen == row[:3]).all(axis=1)
            out += count / counts.sum() * (phi[here].T @ p[here]) / p[here].sum()
        return np.asarray(out)

    steps = 1e-5 * np.eye(len(terms))
    hessian = np.array([(gradient(theta + step) - gradient(theta - step)) / 2e-5 for step in steps])
    p = np.exp(phi @ theta - np.logaddexp.reduce(phi @ theta))
    fisher = (phi * p[:, None]).T @ phi - np.outer(phi.T @ p, phi.T @ p)
    missing = missing_information(basis, terms, theta, rows, counts, 1)
    assert fisher - missing == pytest.approx(-hessian, abs=1e-8)


def test_planted_kinds_predict_better_than_interactions_alone() -> None:
    """Held-out rows under a hidden variable come within a hundredth of the truth, and the planted pair is found."""
    codes, _, chance = planted(9000, 3)
    train, held = of(codes[:5000]), codes[5000:]
    found = fit_wide(train, WideOptions(cells=1 << 9), hidden=H, seed=0)
    alone = fit_wide(train, WideOptions(cells=1 << 9))
    assert found.n_hidden == 1
    assert found.model.space.names[-1] == "kind"
    first, second = held[:, :1], held[:, 1:2]
    given = [np.where(held == 1, chance[k], 1 - chance[k]) for k in range(3)]
    copied = [0.2 * own[:, 1] + 0.8 * (first == second)[:, 0] for own in given]
    each = [own[:, 0] * copy * own[:, 2:].prod(axis=1) for own, copy in zip(given, copied, strict=True)]
    truth = np.log(np.array([0.5, 0.3, 0.2]) @ each).mean()
    assert visible(found.model, held, 3).mean() == pytest.approx(truth, abs=0.015)
    assert visible(found.model, held, 3).mean() > alone.model.log_prob(held).mean() + 0.01
    pairs = {tuple(i for i, _ in term) for term in found.model.terms if len(term) == 2}
    assert (0, 1) in pairs
    assert np.isfinite(found.standard_errors).all()


def test_columns_in_any_order_give_the_same_classes() -> None:
    codes, _, _ = planted(1500, 4, 8)
    order = np.random.default_rng(0).permutation(8)
    first, second = (fit_wide(of(rows), WideOptions(cells=256), hidden=H, seed=0) for rows in (codes, codes[:, order]))
    assert visible(first.model, codes[:50], 3) == pytest.approx(visible(second.model, codes[:50][:, order], 3))


def test_an_estimator_with_hidden_variables_answers_about_the_others(tmp_path: object) -> None:
    """Scores, questions, samples and files by elimination: hidden levels are summed out, missing cells too."""
    codes, _, _ = planted(1200, 5, 7)
    table = codes.astype(float)
    table[np.random.default_rng(0).random(table.shape) < 0.05] = np.nan
    model = fs.FullSpan(engine="elimination", hidden=1, missing="em", random_state=0, verbose=False).fit(table)
    states = np.array(list(itertools.product((0, 1), repeat=7)), dtype=float)
    p = np.exp(model.score_samples(states))
    assert p.sum() == pytest.approx(1.0)
    given = states[:, 3] == 1
    expected = p[given & (states[:, 0] == 1)].sum() / p[given].sum()
    assert model.probability("x0=1 | x3=1") == pytest.approx(expected)
    assert np.asarray(model.sample(5, random_state=0)).shape == (5, 7)
    model.save(f"{tmp_path}/hidden.fsm")
    assert fs.load(f"{tmp_path}/hidden.fsm").score(codes) == pytest.approx(model.score(codes))


@pytest.mark.parametrize("hidden", [(), H])
def test_an_interruption_while_the_model_is_described_keeps_it(
    hidden: tuple[Variable, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C after the last step, when standard errors are computed, does not lose what was learned."""
    codes, _, _ = planted(400, 6, 6)
    data, times = of(codes), itertools.count()
    whole = fit_wide(data, WideOptions(cells=64), hidden=hidden)
    describe = Em.ended if hidden else Search.fitted

    def interrupted(self: object, status: str) -> object:
        if next(times) == 0:
            raise KeyboardInterrupt
        return describe(self, status)  # type: ignore[arg-type]

    monkeypatch.setattr(Em if hidden else Search, "ended" if hidden else "fitted", interrupted)
    found = fit_wide(data, WideOptions(cells=64), hidden=hidden)
    assert (whole.status, found.status) == ("converged", "interrupted")
    assert found.model.log_prob(whole.model.space.states(np.arange(9))) == pytest.approx(
        whole.model.log_prob(whole.model.space.states(np.arange(9)))
    )
