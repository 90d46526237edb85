"""Mixtures of decomposable models: every answer against enumeration, files, gaps, and what is refused."""

from __future__ import annotations

import base64
import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullspan as fs
from fullspan.errors import ConvergenceWarning, FullspanError, ModelFileError, QueryError
from fullspan.model.files import checksum


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 600)[:, None]
    codes = (rng.random((600, 6)) < np.where(group, 0.8, 0.25)).astype(np.int64)
    codes[:, 5] = np.where(rng.random(600) < 0.8, codes[:, 0] + codes[:, 4], rng.integers(0, 3, 600))
    return codes


@pytest.fixture(scope="module")
def model(rows: np.ndarray) -> fs.FullSpanMixture:
    return fs.FullSpanMixture(runs=[(1, 2), (2, 2), (3, 1)], restarts=1, random_state=1).fit(rows)


@pytest.fixture(scope="module")
def table(model: fs.FullSpanMixture) -> np.ndarray:
    """Probabilities of all states, one axis per variable."""
    cards = model.space_.cards
    states = np.array(list(itertools.product(*map(range, cards))))
    return np.exp(model.score_samples(states)).reshape(cards)


def test_probabilities_sum_to_one(table: np.ndarray) -> None:
    """Sum_x p(x) = 1."""
    assert table.sum() == pytest.approx(1.0)


def test_conditionals_are_ratios_of_sums(model: fs.FullSpanMixture, table: np.ndarray) -> None:
    """P(x5 | x0 = 1, x2 = 0), P(x1 = 1) and the entropy of two variables, by enumeration."""
    slab = table[1, :, 0].sum(axis=(0, 1, 2))
    assert model.conditional("x5", given={"x0": 1, "x2": 0}).values == pytest.approx(slab / slab.sum())
    assert model.probability("x1=1") == pytest.approx(table[:, 1].sum())
    pair = table.sum(axis=(1, 3, 4, 5))
    assert model.entropy(["x0", "x2"]) == pytest.approx(-(pair * np.log(pair)).sum())


def test_gaps_are_summed_over_and_filled(model: fs.FullSpanMixture, table: np.ndarray) -> None:
    """A row with gaps has the sum over its completions; means are the conditionals, and draws follow them."""
    oracle = model.distribution_
    row = np.array([[1, -1, 0, -1, 1, -1]])
    slab = table[1, :, 0, :, 1, :]
    assert oracle.log_prob(row)[0] == pytest.approx(np.log(slab.sum()))
    assert oracle.impute(row, "mean")["x5"][0] == pytest.approx(slab.sum(axis=(0, 1)) / slab.sum())
    assert oracle.impute(row, "mode")[0, 1] == slab.sum(axis=(1, 2)).argmax()
    drawn = oracle.impute(np.repeat(row, 2000, axis=0), "draw", np.random.default_rng(0))
    assert np.mean(drawn[:, 1]) == pytest.approx(slab[1].sum() / slab.sum(), abs=0.05)


def test_what_is_certain_has_probability_one(model: fs.FullSpanMixture) -> None:
    """Exactly, whatever the shares of the components given it: 99.9 % would say that something else is possible."""
    for values in itertools.product((0, 1), repeat=5):
        given = {f"x{v}": value for v, value in enumerate(values)}
        found = model.distribution_.marginals(given).shares
        assert all(found[name][value] == 1.0 for name, value in given.items())


def test_samples_follow_the_mixture(model: fs.FullSpanMixture, table: np.ndarray) -> None:
    """Frequencies of x5 given x0 = 1 in 4,000 draws."""
    drawn = np.asarray(model.sample(4000, random_state=0, given={"x0": 1}))
    p = table[1].sum(axis=(0, 1, 2, 3))
    assert np.bincount(drawn[:, 5], minlength=3) / 4000 == pytest.approx(p / p.sum(), abs=0.04)
    assert (drawn[:, 0] == 1).all()


def test_a_file_brings_the_mixture_back(model: fs.FullSpanMixture, rows: np.ndarray, tmp_path: Path) -> None:
    """Scores, parameters and the class are the same after saving and loading."""
    model.save(tmp_path / "m.fsm")
    again = fs.load(tmp_path / "m.fsm")
    assert type(again) is fs.FullSpanMixture
    assert again.score_samples(rows) == pytest.approx(model.score_samples(rows))
    assert again.n_components_ == model.n_components_


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda parts: parts[0]["factors"].append({"scope": [0] * 20_000, "log": [0.0]}), "over 20000 variables"),
        (lambda parts: parts[0].update(factors=[]), "exactly one factor"),
        (lambda parts: parts[0]["factors"][0].update(log=[5.0] * len(parts[0]["factors"][0]["log"])), "sums to"),
        (lambda parts: parts[0]["factors"].append(parts[0]["factors"][0]), "exactly one factor"),
        (
            lambda parts: parts[0].update(
                factors=[
                    {"scope": [5], "log": [math.log(1 / 3)] * 3},
                    *({"scope": [v, (v + 1) % 5], "log": [math.log(1 / 2)] * 4} for v in range(5)),
                ]
            ),
            "depends on itself",
        ),
        (lambda parts: parts[0]["factors"][0].update(log="AAAA"), r"^\S+ is not a valid model file at (?!.*valid)"),
    ],
)
def test_a_component_that_is_no_distribution_is_refused(
    model: fs.FullSpanMixture, tmp_path: Path, change: Callable[[Any], None], message: str
) -> None:
    """A file whose components do not sum to 1 would give probabilities above 1; the place is named once."""
    path = tmp_path / "mixture.fsm"
    model.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document["components"])
    path.write_text(json.dumps({**document, "checksum": checksum(document)}), encoding="utf-8")
    with pytest.raises(ModelFileError, match=message):
        fs.load(path)


def test_factors_of_many_constant_variables_are_refused(model: fs.FullSpanMixture, tmp_path: Path) -> None:
    """An array has at most 64 axes, however few its entries."""
    path = tmp_path / "mixture.fsm"
    model.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["space"]["variables"] = [{"name": f"x{i}", "levels": [0]} for i in range(100)]
    wide = {"share": 1.0, "orders": [100], "variables": list(range(100)), "log": base64.b64encode(bytes(8)).decode()}
    document["components"] = [wide]
    path.write_text(json.dumps({**document, "checksum": checksum(document)}), encoding="utf-8")
    with pytest.raises(ModelFileError, match="over 100 variables"):
        fs.load(path)


def test_a_mixture_is_likelier_than_one_model(rows: np.ndarray, model: fs.FullSpanMixture) -> None:
    """On rows of two groups a mixture is likelier than a tree, on rows that neither has seen."""
    held = rows[:200]
    one = fs.ChowLiuTree().fit(rows[200:])
    many = fs.FullSpanMixture(runs=[(2, 1), (3, 1)], restarts=1, random_state=0).fit(rows[200:])
    assert many.score(held) > one.score(held)


def test_what_is_not_known_is_said(model: fs.FullSpanMixture, rows: np.ndarray) -> None:
    """Modes and entropies of a mixture and senseless runs are refused with a way out."""
    with pytest.raises(QueryError, match="impute"):
        model.mode()
    with pytest.raises(QueryError, match="estimate it"):
        fs.FullSpanMixture(runs=[(2, 1)], restarts=1, random_state=0).fit(np.tile(rows[:, :5], 4)).entropy()
    with pytest.raises(FullspanError, match="components, width"):
        fs.FullSpanMixture(runs=[(0, 1)]).fit(rows)


def test_gaps_are_learned_from(rows: np.ndarray) -> None:
    """missing="em" with two fifths of the cells gone: rows held out are likelier than after dropping rows with gaps,
    and nearly as likely as without gaps, in the mean over seeds, which choose the rows that stop em (between seeds the
    loss is 0.03 to 0.35 nats, 0.24 in the mean of ten); a component may be averaged over samples."""
    train, held = rows[:450], rows[450:]
    gaps = train.astype(float)
    gaps[np.random.default_rng(3).random(gaps.shape) < 0.4] = np.nan
    lost = []
    for seed in range(3):
        options = {"runs": [(2, 2), (1, 1)], "restarts": 1, "random_state": seed}
        whole = fs.FullSpanMixture(**options).fit(train)
        em = fs.FullSpanMixture(missing="em", **options).fit(gaps)
        dropped = fs.FullSpanMixture(missing="drop", **options).fit(gaps)
        assert em.fitted_.total > 350 > 40 > dropped.fitted_.total
        assert whole.score(held) + 0.05 > em.score(held) > dropped.score(held)
        lost.append(whole.score(held) - em.score(held))
    assert np.mean(lost) < 0.35


def test_rows_that_say_nothing_are_counted_as_dropped() -> None:
    """Of 60 rows the first has no cell."""
    X = np.random.default_rng(0).integers(0, 2, (60, 3)).astype(float)
    X[0] = np.nan
    own = {"runs": [(1, 1)], "restarts": 1, "missing": "em", "validation_fraction": 0, "random_state": 0}
    fitted = fs.FullSpanMixture(**own).fit(X).fitted_
    assert (fitted.n_rows, fitted.n_dropped, fitted.total) == (60, 1, 59)


def test_weights_that_sum_to_one_are_bagged_like_rows(rows: np.ndarray) -> None:
    """A bootstrap sample draws as many rows as there are, whatever they weigh: no column rests on a single row."""
    model = fs.FullSpanMixture(runs=[(1, 2)], restarts=1, smoothing=1e-5, validation_fraction=0, random_state=0)
    model.fit(rows, sample_weight=np.full(600, 1 / 600))
    shares = [np.bincount(column) / 600 for column in rows.T]
    entropy = -sum(float(p @ np.log(p)) for p in shares)
    assert model.score(rows) == pytest.approx(-entropy, abs=0.02)  # one row in all joins nothing
    assert len({tuple(graph.values.tolist()) for graph in model.model_.components}) == 6


def test_a_mixture_in_a_notebook_is_drawn(model: fs.FullSpanMixture) -> None:
    """Its card has the graph of its pairs; weights are refused in words, since there are none."""
    assert "interaction graph" in model._repr_html_()
    with pytest.raises(FullspanError, match="FullSpanMixture has no weights"):
        model.plot_terms()


def test_a_mixture_out_of_time_says_so(rows: np.ndarray) -> None:
    with pytest.warns(ConvergenceWarning, match="after max_seconds; the model combines the 1 run finished"):
        stopped = fs.FullSpanMixture(runs=[(1, 1), (2, 1)], restarts=1, max_seconds=0.0, random_state=0).fit(rows)
    assert stopped.status_ == "time limit"
    whole = fs.FullSpanMixture(runs=[(1, 1)], restarts=1, max_seconds=0.0, random_state=0).fit(rows)
    assert whole.status_ == "converged"
