"""Models on held-out rows: means, paired errors, calibration, baselines, and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import fullspan as fs
from fullspan.data import Empirical
from fullspan.errors import FullspanError
from fullspan.estimators.compare import BASELINES, Saturated
from fullspan.query.calibration import calibration


def rows_of(seed: int, n: int) -> np.ndarray:
    """Three columns of 2, 3 and 2 levels: the second leans on the first, the third on both."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.7, a, rng.integers(0, 3, n))
    c = ((a + b + (rng.random(n) < 0.2)) % 2).astype(np.int64)
    return np.stack([a, b, c], axis=1)


TRAIN, TEST = rows_of(0, 400), rows_of(1, 150)


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    return {"pairs": fs.BoltzmannMachine().fit(TRAIN), "single": fs.BoltzmannMachine(order=1).fit(TRAIN)}


def test_means_and_paired_errors_are_those_of_the_rows(models: dict[str, Any]) -> None:
    """The difference of two models is the mean of row-wise differences, its error their deviation over sqrt(N)."""
    found = fs.compare(models, TEST, baselines=False)
    a, b = (models[name].score_samples(TEST) for name in ("pairs", "single"))
    by_name = {row.name: row for row in found}
    assert by_name["pairs"].log_likelihood == pytest.approx(a.mean(), abs=1e-12)
    assert by_name["pairs"].standard_error == pytest.approx(a.std(ddof=1) / np.sqrt(150), rel=1e-9)
    assert found.difference("pairs", "single") == pytest.approx(
        ((a - b).mean(), (a - b).std(ddof=1) / np.sqrt(150)), rel=1e-9
    )
    assert [row.name for row in found] == ["pairs", "single"]


def test_the_order_of_columns_and_levels_does_not_matter() -> None:
    """A model of the same variables in another order has the same score."""
    frames = [
        {"a": TRAIN[:, 0].tolist(), "b": TRAIN[:, 1].tolist()},
        {"b": TRAIN[:, 1].tolist(), "a": TRAIN[:, 0].tolist()},
    ]
    import pandas as pd

    one = fs.BoltzmannMachine().fit(pd.DataFrame(frames[0]))
    two = fs.BoltzmannMachine(levels={"b": [2, 0, 1]}).fit(pd.DataFrame(frames[1]))
    test = pd.DataFrame({"b": TEST[:, 1], "a": TEST[:, 0]})
    found = fs.compare([one, two], test, baselines=False)
    assert found[0].log_likelihood == pytest.approx(found[1].log_likelihood, abs=1e-6)


@pytest.mark.parametrize("name", list(BASELINES))
def test_a_baseline_is_a_distribution_with_consistent_margins(name: str) -> None:
    """Probabilities of all states sum to 1, and what is not said is summed over."""
    model = BASELINES[name](Empirical.from_codes(TRAIN[:60]))
    states = np.array(list(itertools.product(range(2), range(3), range(2))))
    p = np.exp(model.log_prob(states))
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    partial = np.exp(model.log_prob(np.array([[1, -1, 0], [-1, -1, -1]])))
    assert partial == pytest.approx([p[(states[:, 0] == 1) & (states[:, 2] == 0)].sum(), 1.0], abs=1e-12)


def test_the_smoothing_of_the_saturated_table_predicts_rows_left_out_best() -> None:
    """No other strength gives the rows more probability, each from the others."""
    model = Saturated(Empirical.from_codes(TRAIN[:60]))
    best = model._left_out(model.strength)
    assert all(model._left_out(model.strength * f) <= best for f in (0.2, 0.5, 2.0, 5.0))


def test_calibration_is_that_of_enumerated_conditionals(models: dict[str, Any]) -> None:
    """Bins hold p(x_i | rest) of all levels of all cells, and how often each came true."""
    model, data = models["pairs"], Empirical.from_codes(TEST, space=models["pairs"].space_)
    found = calibration(model._log_prob, data, np.random.default_rng(0))
    said, came = [], []
    for row in TEST:
        for i, levels in enumerate((2, 3, 2)):
            p = np.array([model.model_.log_prob([[*row[:i], k, *row[i + 1 :]]])[0] for k in range(levels)])
            said += (np.exp(p) / np.exp(p).sum()).tolist()
            came += [k == row[i] for k in range(levels)]
    bins = np.minimum((np.array(said) * 10).astype(int), 9)
    used = np.unique(bins)
    assert found.predicted == pytest.approx([np.array(said)[bins == b].mean() for b in used])
    assert found.observed == pytest.approx([np.array(came)[bins == b].mean() for b in used])
    gaps = [(bins == b).sum() * abs(np.array(came)[bins == b].mean() - np.array(said)[bins == b].mean()) for b in used]
    assert found.error == pytest.approx(sum(gaps) / len(bins))


def test_a_wrong_model_is_called_uncalibrated() -> None:
    """Forecasts that are too sure have a far larger error than the truth."""
    rng = np.random.default_rng(3)
    x = (rng.random((4000, 1)) < 0.7).astype(np.int64)
    data = Empirical.from_codes(x)

    def model(p: float) -> Any:
        return lambda codes: np.log(np.where(codes[:, 0] == 1, p, 1 - p))

    assert calibration(model(0.7), data, rng).error < 0.02
    assert calibration(model(0.95), data, rng).error > 0.2


def test_baselines_without_a_training_table_never_score_rows_they_saw(models: dict[str, Any]) -> None:
    """Cross-validated baselines lie below what they reach on rows they were learned from."""
    found = {row.name: row for row in fs.compare(models, TEST)}
    seen = {row.name: row for row in fs.compare(models, TEST, TEST)}
    for name in BASELINES:
        assert found[name].is_baseline
        assert found[name].log_likelihood < seen[name].log_likelihood
        assert np.isnan(found[name].description_length)
        assert np.isfinite(seen[name].description_length)
        assert found[name].calibration_error < 0.15


def test_missing_cells_are_summed_out(models: dict[str, Any]) -> None:
    """An incomplete row counts for what it says, also of a model that was fitted without missing cells."""
    test = TEST[:20].astype(float)
    test[3, 1] = np.nan
    found = fs.compare({"pairs": models["pairs"]}, test)
    codes = TEST[:20].copy()
    codes[3, 1] = -1
    assert found[0].name in {"pairs", *BASELINES}
    by_name = {row.name: row.log_likelihood for row in found}
    assert by_name["pairs"] == pytest.approx(models["pairs"].distribution_.log_prob(codes).mean(), abs=1e-12)


def test_trees_have_a_description_length(models: dict[str, Any]) -> None:
    """-log-likelihood + (k/2) ln N."""
    tree = fs.ChowLiuTree().fit(TRAIN)
    row = next(r for r in fs.compare({"tree": tree}, TEST, baselines=False))
    assert row.description_length == pytest.approx(-tree.log_likelihood_ + tree.n_parameters_ / 2 * np.log(400))
    assert row.n_parameters == tree.n_parameters_


def test_other_variables_or_levels_are_refused(models: dict[str, Any]) -> None:
    other = fs.BoltzmannMachine().fit(TRAIN[:, :2])
    with pytest.raises(FullspanError, match="x2 is in one of them only"):
        fs.compare({"a": models["pairs"], "b": other}, TEST)
    wide = fs.BoltzmannMachine(levels={"x1": [0, 1, 2, 3]}, l2=0.01).fit(TRAIN)
    with pytest.raises(FullspanError, match="other levels of 'x1'"):
        fs.compare({"a": models["pairs"], "b": wide}, TEST)
    with pytest.raises(FullspanError, match="no model"):
        fs.compare([], TEST)


def test_it_prints_and_shows_as_html(models: dict[str, Any]) -> None:
    found = fs.compare(models, TEST)
    assert "paired error" in repr(found)
    assert "10-fold" in repr(found)
    assert found._repr_html_().count("<tr>") == 6
    assert {"name", "log_likelihood", "difference_error"} <= set(found.to_dicts()[0])


@pytest.mark.parametrize("deep", [False, True])
def test_machines_in_layers_are_compared_too(deep: bool) -> None:
    """Their mean is that of their own scores, and a bound is said to be one."""
    kind: Any = fs.DeepBoltzmannMachine(layers=[2, 2], max_iter=2) if deep else fs.RestrictedBoltzmannMachine(2)
    machine = kind.set_params(max_iter=2, random_state=0).fit(TRAIN)
    found = fs.compare({"layers": machine, "pairs": fs.BoltzmannMachine().fit(TRAIN)}, TEST, baselines=False)
    by_name = {row.name: row for row in found}
    assert by_name["layers"].log_likelihood == pytest.approx(machine.score(TEST), abs=1e-9)
    assert any("lower bound" in note for note in found.notes()) == deep


def test_a_coin_is_calibrated_and_has_no_skill() -> None:
    """Forecasts of 1/2 come true in half of the cases: calibration alone would call a coin perfect."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (4000, 1))
    data = Empirical.from_codes(np.hstack([x, x ^ (rng.random((4000, 3)) < 0.1)]).astype(np.int64))
    coin = calibration(lambda codes: np.full(len(codes), -4 * np.log(2)), data, np.random.default_rng(0))
    known = fs.BoltzmannMachine(basis="walsh").fit(data.states.repeat(data.counts.astype(int), axis=0))
    machine = calibration(known._log_prob, data, np.random.default_rng(0))
    assert coin.error < 0.01
    assert coin.skill == pytest.approx(0.0, abs=0.01)
    assert machine.error < 0.02
    assert machine.skill > 0.5


def test_the_skill_is_that_of_squares_summed_by_hand(models: dict[str, Any]) -> None:
    data, machine = Empirical.from_codes(TEST), models["pairs"]
    cards, square, base = (2, 3, 2), 0.0, 0.0
    for row in TEST:
        for i, card in enumerate(cards):
            rest = {f"x{j}": int(row[j]) for j in range(3) if j != i}
            p = machine.conditional(f"x{i}", rest).values
            truth = np.arange(card) == row[i]
            rates = np.bincount(TEST[:, i], minlength=card) / len(TEST)
            square, base = square + ((p - truth) ** 2).sum(), base + ((rates - truth) ** 2).sum()
    found = calibration(machine._log_prob, data, np.random.default_rng(0))
    assert found.brier == pytest.approx(square / TEST.size, rel=1e-9)
    assert found.skill == pytest.approx(1 - square / base, rel=1e-9)


@pytest.mark.parametrize("rows", [TEST, TRAIN[:150]], ids=["fresh", "of the training rows"])
def test_rows_of_a_small_table_are_not_called_held_out(rows: np.ndarray) -> None:
    """Few states: every row coincides with a training row, fresh or not, so that nothing can be said."""
    model = fs.BoltzmannMachine().fit(TRAIN)
    found = fs.compare({"m": model}, rows)
    assert found.notes()[:2] == [
        "150 rows; nats/row is the mean log-likelihood, higher is better",
        "m: whether the model was learned from some of these rows cannot be judged, because the same rows occur often",
    ]
    assert {row["name"]: row["rows_are"] for row in found.to_dicts()}["m"] == "not known"


def test_fresh_rows_of_a_wide_table_are_called_held_out() -> None:
    """Given the time to say otherwise: the record would notice if half of them were training rows."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, (500, 24))
    tree = fs.ChowLiuTree().fit(rows[:300])
    found = fs.compare({"tree": tree}, rows[300:], baselines=False)
    assert found.notes()[0].startswith("200 held-out rows;")
    assert found[0].rows_are == "held-out"
    few = fs.compare({"tree": tree}, rows[300:310], baselines=False).notes()
    assert few[0].startswith("10 rows;")
    assert few[1].endswith("cannot be judged, because there are too few of them")


def test_description_lengths_of_other_rows_are_not_comparable() -> None:
    """The mean distance to the best is positive: a model is behind by so much."""
    whole, half = fs.BoltzmannMachine().fit(TRAIN), fs.BoltzmannMachine().fit(TRAIN[:200])
    same = fs.ChowLiuTree().fit(TRAIN)
    words = "description lengths are of different training rows and cannot be compared with each other"
    assert words in fs.compare({"a": whole, "b": half}, TEST).notes()
    assert words in fs.compare({"b": half}, TEST, TRAIN).notes()
    assert words not in fs.compare({"b": half}, TEST).notes()
    found = fs.compare({"a": whole, "c": same}, TEST, TRAIN)
    assert words not in found.notes()
    assert all(row.cells()[3] == f"{row.difference:.4f}" for row in found)
    assert all(float(row.cells()[3]) >= 0 for row in found)


def test_the_whole_small_table_is_called_training_rows() -> None:
    model = fs.BoltzmannMachine().fit(TRAIN)
    notes = fs.compare({"m": model}, TRAIN).notes()
    assert notes[0].startswith("400 rows;")
    assert notes[1].startswith("m: these are training rows")


def test_training_rows_that_occur_more_often_than_learned_are_not_called_training_rows() -> None:
    """Learned from the distinct rows, scored on the table with its repeats: the rows agree, their counts do not."""
    rng = np.random.default_rng(0)
    rows = (rng.integers(0, 2, (2000, 1)) ^ (rng.random((2000, 10)) < 0.2)).astype(np.int64)
    distinct = np.unique(rows, axis=0)
    tree = fs.ChowLiuTree().fit(distinct)
    found = fs.compare({"tree": tree}, rows, baselines=False)
    assert found[0].rows_are == "repeated training"
    assert found.notes()[1] == (
        f"tree: these rows equal training rows, but occur about {2000 / len(distinct):.2g} times as often: the score "
        "is not of new rows"
    )
    both = np.concatenate([rows, rng.integers(0, 2, (2000, 10))])
    assert "occur about" in fs.compare({"tree": tree}, both, baselines=False).notes()[1]
    same = fs.compare({"tree": tree}, distinct, baselines=False)
    assert same[0].rows_are == "training"


def test_a_part_of_the_training_rows_is_said_in_per_cent() -> None:
    rng = np.random.default_rng(0)
    draw = lambda n: (rng.integers(0, 2, (n, 1)) ^ (rng.random((n, 16)) < 0.2)).astype(np.int64)  # noqa: E731
    train = draw(2000)
    model = fs.ChowLiuTree().fit(train)
    found = fs.compare({"tree": model}, np.concatenate([train[:400], draw(600)]), baselines=False)
    assert found[0].training_share == pytest.approx(0.4, abs=0.06)
    assert f"tree: about {found[0].training_share:.0%} of these rows are training rows" in found.notes()[1]
