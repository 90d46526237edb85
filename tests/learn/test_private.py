"""Differential privacy: the accountant against published values, noise against what a row moves, an audited release."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import fullspan as fs
from fullspan.data import Empirical, Space
from fullspan.errors import FullspanError
from fullspan.estimators.private import sentences
from fullspan.learn.private import (
    DenseOracle,
    Ledger,
    Privacy,
    WideOracle,
    cells_of,
    delta_of,
    measured,
    release,
    rho_of,
    worthwhile,
)

CARDS = (2, 3, 4)
SCOPES = [(0,), (1,), (2,), (0, 1), (1, 2)]


def test_delta_is_that_of_the_gaussian_and_below_the_bound_of_concentrated_privacy() -> None:
    """By the definition: the mass of N(mu, 1) above e^eps times that of N(0, 1); Bun & Steinke (2016) bound it."""
    from scipy.integrate import quad
    from scipy.stats import norm

    for rho, epsilon in ((0.005, 0.2), (0.1, 1.0), (0.5, 2.5)):
        mu = math.sqrt(2 * rho)
        cut = epsilon / mu + mu / 2  # where the two densities are e^eps apart
        beyond = quad(lambda x: norm.pdf(x - mu) - math.exp(epsilon) * norm.pdf(x), cut, cut + 30)[0]  # noqa: B023
        assert delta_of(rho, epsilon) == pytest.approx(beyond, rel=1e-7)
        assert delta_of(rho, epsilon) < math.exp(-((epsilon - rho) ** 2) / (4 * rho))


@pytest.mark.parametrize(
    ("epsilon", "budget"),
    [
        (0.05, 0.0002996297553181648),
        (0.1, 0.0010576052591204643),
        (0.8, 0.047823661006987095),
        (1.6, 0.16845174599438906),
        (3.2, 0.5793221713975072),
    ],
)
def test_conversion_has_its_published_values(epsilon: float, budget: float) -> None:
    """Those of the code that Cai et al. (2021) published with PrivMRF, for delta = 1e-5: mu^2."""
    assert 2 * rho_of(epsilon, 1e-5) == pytest.approx(budget, rel=1e-5)
    assert delta_of(rho_of(epsilon, 1e-5), epsilon) == pytest.approx(1e-5, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-4, 1e-12), (0.01, 1e-9), (20.0, 1e-5), (200.0, 1e-3), (1.0, 0.9)])
def test_budgets_of_any_size_have_their_delta(epsilon: float, delta: float) -> None:
    assert delta_of(rho_of(epsilon, delta), epsilon) == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta", "concentrated"),
    [(1.0, 1e-6, 0.024355970359538372), (0.8, 1e-9, 0.00976032164613208), (3.2, 1e-9, 0.13608273701614862)],
)
def test_gaussian_noise_buys_more_than_concentrated_privacy_alone(
    epsilon: float, delta: float, concentrated: float
) -> None:
    """The values of ``cdp_rho``, which Canonne, Kamath & Steinke (2020) published with their paper."""
    assert concentrated < rho_of(epsilon, delta) < 1.25 * concentrated


def test_costs_add_up_and_overspending_is_refused() -> None:
    ledger = Ledger(1.0)
    ledger.spend("shares", 0.6)
    with pytest.raises(FullspanError, match=r"pairs costs rho = 0\.5, and 0\.4 of 1 is left"):
        ledger.spend("pairs", 0.5)
    ledger.spend("pairs", 0.4)
    assert ledger.left == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilon": 0}, "epsilon is 0"),
        ({"epsilon": 1, "delta": 1}, "delta is 1"),
        ({"epsilon": math.nan}, "epsilon is nan"),
    ],
)
def test_a_budget_that_is_none_is_refused(given: dict[str, float], words: str) -> None:
    with pytest.raises(FullspanError, match=words):
        Privacy(**given)


def test_one_row_moves_contrasts_by_their_length() -> None:
    for cards in ((2, 2), (3,), (2, 3, 4)):
        rows = [np.zeros(cards) for _ in range(math.prod(cards))]
        for row, place in zip(rows, np.ndindex(*cards), strict=True):
            row[place] = 1.0
        moved = np.array([measured.of_margin(row) for row in rows])
        assert (moved**2).sum(axis=1) == pytest.approx(measured.squared_length(cards))
        # a row replaced by another moves them by two rows' worth at most: what bounded neighbours are charged
        apart = ((moved[:, None] - moved[None]) ** 2).sum(axis=2)
        assert apart.max() <= 4 * measured.squared_length(cards) + 1e-12


def test_contrasts_are_orthonormal_and_tables_their_adjoint() -> None:
    rng = np.random.default_rng(0)
    assert measured.contrasts(5) @ measured.contrasts(5).T == pytest.approx(np.eye(5))
    table, values = rng.normal(size=(3, 4)), rng.normal(size=6)
    assert measured.of_margin(table) @ values == pytest.approx((table * measured.to_table(values, (3, 4))).sum())


@pytest.mark.parametrize("oracle", [DenseOracle, WideOracle])
def test_expected_contrasts_are_those_of_enumeration(oracle: type) -> None:
    rng = np.random.default_rng(1)
    sizes = [math.prod(CARDS[i] - 1 for i in scope) for scope in SCOPES]
    theta, log_p = rng.normal(size=sum(sizes)), np.zeros(CARDS)
    for scope, part in zip(SCOPES, np.split(theta, np.cumsum(sizes)[:-1]), strict=True):
        shape = [CARDS[i] if i in scope else 1 for i in range(3)]
        log_p = log_p + measured.to_table(part, [CARDS[i] for i in scope]).reshape(shape)
    log_z, p = float(np.log(np.exp(log_p).sum())), np.exp(log_p) / np.exp(log_p).sum()
    margins = [p.sum(axis=tuple(i for i in range(3) if i not in scope)) for scope in SCOPES]
    found_z, eta = oracle(SCOPES, CARDS)(theta)
    assert found_z == pytest.approx(log_z)
    assert eta == pytest.approx(np.concatenate([measured.of_margin(m) for m in margins]))


def test_covariance_of_contrasts_is_the_change_of_their_expectations() -> None:
    rng = np.random.default_rng(2)
    oracle = DenseOracle([(0,), (1,), (0, 1), (0, 1, 2)], (2, 2, 2))
    theta, h = rng.normal(size=4), 1e-6
    changes = [(oracle(theta + h * e)[1] - oracle(theta - h * e)[1]) / (2 * h) for e in np.eye(4)]
    assert oracle.fisher(theta) == pytest.approx(np.stack(changes), abs=1e-8)


def test_cells_of_an_elimination() -> None:
    chain = [(0, 1), (1, 2)]
    assert cells_of(chain, (2, 3, 4)) == 6 + 12 + 4
    assert cells_of([(0, 1), (1, 2), (0, 2)], (2, 3, 4)) >= 24


def _table(n: int, seed: int) -> Empirical:
    """Four two-level columns, the first three dependent."""
    rng = np.random.default_rng(seed)
    a = rng.random(n) < 0.6
    columns = [a, a ^ (rng.random(n) < 0.2), a ^ (rng.random(n) < 0.3), rng.random(n) < 0.5]
    return Empirical.from_codes(np.stack(columns, axis=1).astype(int), space=Space.of_cards((2,) * 4))


def _released(data: Empirical, privacy: Privacy, seed: int) -> np.ndarray:
    """The probabilities of all states."""
    found = release(data, privacy, np.random.default_rng(seed), Ledger(privacy.rho))
    states = np.array(list(itertools.product(range(2), repeat=4)))
    p = np.exp(found.graph.log_weight(states))
    return np.asarray(p / p.sum())


def test_a_large_budget_gives_the_data_back() -> None:
    data = _table(5000, 0)
    shares = np.bincount(data.states @ [8, 4, 2, 1], data.counts, 16) / data.total
    assert np.abs(_released(data, Privacy(50.0, 1e-6), 1) - shares).max() < 0.012  # orders above three are not measured
    far = np.abs(_released(data, Privacy(0.02, 1e-6), 1) - shares).max()
    assert far > 0.02


def test_the_whole_budget_is_spent_and_no_more() -> None:
    for neighbours in ("unbounded", "bounded"):
        privacy = Privacy(1.0, 1e-6, neighbours)
        ledger = Ledger(privacy.rho)
        release(_table(500, 1), privacy, np.random.default_rng(0), ledger)
        assert sum(cost for _, cost in ledger.spent) == pytest.approx(privacy.rho)


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_neighbouring_tables_cannot_be_told_apart(neighbours: str) -> None:
    """An audit: a threshold on the released number that differs most must not separate neighbours beyond the bound.

    TPR <= e^eps FPR + delta, tested with 60 releases each way and a margin of three standard errors.
    """
    privacy = Privacy(0.5, 1e-3, neighbours)
    whole = _table(12, 3)
    rows = np.repeat(whole.states, whole.counts.astype(int), axis=0)
    odd = np.array([[1, 0, 1, 0]])
    other = np.concatenate([rows, odd]) if neighbours == "unbounded" else np.concatenate([rows[1:], odd])
    tables = [Empirical.from_codes(t, space=whole.space) for t in (rows, other)]
    n, place = 60, 10
    first, second = (
        np.array([_released(t, privacy, s)[place] for s in range(k, k + n)])
        for t, k in zip(tables, (0, 9999), strict=True)
    )
    for cut in np.quantile(np.concatenate([first, second]), [0.5, 0.7, 0.9]):
        for a, b in ((first, second), (second, first)):
            hit, false = float((a > cut).mean()), float((b > cut).mean())
            error = math.sqrt((hit * (1 - hit) + math.exp(2 * privacy.epsilon) * false * (1 - false)) / n)
            assert hit <= math.exp(privacy.epsilon) * false + privacy.delta + 3 * error + 1 / n


def test_a_private_table_has_the_columns_of_its_schema_and_nothing_else(tmp_path) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(4)
    age = rng.integers(18, 90, 400)
    rows = {
        "sex": rng.choice(["f", "m"], 400).tolist(),
        "age": age.tolist(),
        "town": ["X"] * 399 + ["only one lives here"],
    }
    schema = {"sex": ["f", "m", "x"], "age": {"edges": [0, 30, 60, 120]}}
    model = fs.private_model(rows, fs.Privacy(2.0, 1e-6), schema=schema, random_state=0)
    drawn = model.synthesize(300, given="age>=30", random_state=1).to_pydict()
    assert set(drawn) == {"sex", "age", "town"}
    assert set(drawn["sex"]) <= {"f", "m", "x"}
    assert min(drawn["age"]) >= 30
    assert max(drawn["age"]) <= 120
    assert set(drawn["town"]) <= {"X", "(other)"}  # a level of one row stays behind the threshold
    assert sum(cost for _, cost in model.costs) == pytest.approx(rho_of(2.0, 5e-7))


def test_missing_cells_have_the_remedies_that_privacy_allows() -> None:
    rows = rows_of(40) | {"town": [None, *["a"] * 39]}
    with pytest.raises(fs.errors.DataError, match=r"1 empty cell in town\. Use missing=True to count"):
        fs.private_model(rows, fs.Privacy(1.0), schema=LISTED)
    with pytest.raises(fs.errors.DataError, match="Use missing='level' to count them as a level of their own, or"):
        fs.FullSpan(private=fs.Privacy(1.0), levels=LISTED).fit(rows)


def test_the_parts_of_what_was_spent_add_up() -> None:
    """Levels that are paid for take half of delta, so that less is spent than epsilon and the whole of it would buy."""
    model = fs.PrivateModel(None, 5, Privacy(1.0), (("levels", 0.001), ("shares", 0.003)))  # type: ignore[arg-type]
    assert sentences(model)[1] == "budget: rho = 0.004, of which levels 25 %, shares 75 %"


def test_a_value_outside_the_schema_is_named() -> None:
    with pytest.raises(fs.errors.DataError, match="sex"):
        fs.private_model({"sex": ["f", "q"] * 10}, fs.Privacy(1.0), schema={"sex": ["f", "m"]})
    with pytest.raises(fs.errors.DataError, match=r"list of levels or"):
        fs.private_model({"sex": ["f", "m"] * 10}, fs.Privacy(1.0), schema={"sex": "fm"})


def test_wide_tables_screen_their_pairs() -> None:
    """Twenty columns in a chain: strong pairs are found, and the budget is spent."""
    rng = np.random.default_rng(5)
    x = np.zeros((4000, 20), dtype=int)
    x[:, 0] = rng.random(4000) < 0.5
    for i in range(1, 20):
        x[:, i] = x[:, i - 1] ^ (rng.random(4000) < 0.1)
    data = Empirical.from_codes(x, space=Space.of_cards((2,) * 20))
    privacy = Privacy(4.0, 1e-6)
    ledger = Ledger(privacy.rho)
    found = release(data, privacy, np.random.default_rng(0), ledger, max_cells=512)
    pairs = {scope for scope in found.graph.scopes if len(scope) == 2}
    assert {(i, i + 1) for i in range(19)} <= pairs
    assert ledger.left < 1e-9 * privacy.rho


def test_what_chosen_pairs_imply_is_left_for_last() -> None:
    """Columns 0 and 1 repeat each other: either brings what both say of the others, and cells go to other pairs."""
    shares = [np.full(4, 0.25)] * 6
    strengths = {pair: 200.0 for pair in itertools.combinations(range(6), 2)}
    strengths |= {(i, j): 300.0 for i in (0, 1) for j in range(2, 6)} | {(0, 1): 1500.0}
    wanted = {(0, 1)} | {pair for pair in strengths if min(pair) > 0}
    within = cells_of(sorted(wanted), [4] * 6)
    assert set(worthwhile(strengths, shares, 1000.0, 1e-3, within)) == wanted
    everything = worthwhile(strengths, shares, 1000.0, 1e-3, 4**7)
    assert set(everything) == set(strengths)


LISTED = {"sex": ["f", "m"], "smokes": ["n", "y"], "town": ["a", "b", "c"]}


def rows_of(n: int, seed: int = 0) -> dict[str, list[str]]:
    rng = np.random.default_rng(seed)
    return {name: rng.choice(levels, n).tolist() for name, levels in LISTED.items()}


def test_the_file_of_a_private_model_holds_what_was_paid_for_and_nothing_else(tmp_path: Path) -> None:
    """Every entry of the file is known; none is a count, a fingerprint, a history or the seed of the noise."""
    rows = rows_of(700) | {"age": np.random.default_rng(1).integers(18, 80, 700).tolist()}
    model = fs.FullSpan(
        private=fs.Privacy(1.0), levels=LISTED, bins={"age": [0, 30, 60, 120]}, random_state=987654321
    ).fit(rows)
    model.save(tmp_path / "m.fsm")
    document = json.loads((tmp_path / "m.fsm").read_text())
    assert set(document) == {
        *("format", "version", "kind", "space", "basis", "log_z", "terms", "fit", "checksum"),
    }  # fmt: skip
    fit = document["fit"]
    noisy = model.fitted_.n_rows
    assert noisy != 700
    kept = {name: value for name, value in fit.items() if value not in (None, [], {}, "", 0)}
    assert kept.pop("software")
    assert kept.pop("total") == kept.pop("n_rows") == noisy
    assert kept.pop("status") == "private"
    settings = kept.pop("settings")
    assert settings.pop("private") == {"epsilon": 1.0, "delta": 1e-9, "neighbours": "unbounded"}
    assert sum(settings.pop("privacy_costs").values()) == pytest.approx(fs.Privacy(1.0).rho)
    assert settings.pop("estimator") == "FullSpan"
    assert {name: v for name, v in settings.items() if v is not None} == {
        "basis": "auto", "missing": "error",
    }  # fmt: skip
    assert set(kept) <= {"interactions"}, kept
    assert "987654321" not in (tmp_path / "m.fsm").read_text()
    ages = document["space"]["variables"][-1]
    assert set(ages) == {"name", "levels", "edges", "bin_values"}
    assert ages["bin_values"][1] == list(range(31, 60, 2))  # spread evenly over the bin, not of the rows


def test_two_tables_of_the_same_noise_give_files_that_differ_by_the_model_alone(tmp_path: Path) -> None:
    """With so little budget that noise is all there is, a row more changes no entry but numbers of the model."""
    texts = []
    for n in (500, 501):
        model = fs.FullSpan(private=fs.Privacy(0.01), levels=LISTED, random_state=0).fit(rows_of(n))
        model.save(tmp_path / f"{n}.fsm")
        document = json.loads((tmp_path / f"{n}.fsm").read_text())
        fit = document["fit"]
        texts.append([document["space"], fit["settings"], fit["history"], fit["fingerprint"], fit["status"]])
    assert texts[0] == texts[1]


def test_a_private_full_span_answers_saves_and_says_what_it_is(tmp_path: Path) -> None:
    rows = rows_of(4000)
    model = fs.FullSpan(private=fs.Privacy(5.0, 1e-6), levels=LISTED, random_state=0).fit(rows)
    assert model.probability("sex=f") == pytest.approx(0.5, abs=0.05)
    model.save(tmp_path / "m.fsm")
    read = fs.load(tmp_path / "m.fsm")
    assert read.private == model.private == fs.Privacy(5.0, 1e-6)
    assert read.probability("sex=f, town=a") == pytest.approx(model.probability("sex=f, town=a"), rel=1e-12)
    assert read.synthesize(50, random_state=0).num_rows == 50
    assert model.missing_ == {}
    assert model.limits_ is None
    said = str(read._shown(5).blocks[0])
    assert f"about {model.fitted_.n_rows:,} rows" in said
    assert "from noisy counts alone, (5, 1e-06)-differentially private for tables that differ by one row" in said
    assert "nan" not in said
    drawn = fs.private_model(rows, fs.Privacy(5.0, 1e-6), schema=LISTED, random_state=0)
    assert drawn.distribution.probability("sex=f") == pytest.approx(model.probability("sex=f"), rel=1e-9)


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"private": 1.0}, {}, "private is 1.0; give fs.Privacy"),
        ({"bins": 3}, {}, "would be made from the rows"),
        ({"bins": {"age": ("width", 3)}}, {}, "would be made from the rows"),
        ({"missing": "em"}, {}, "with private= a missing cell is an 'error', or a 'level'"),
        ({"average": 4}, {}, "average is 4, and has no effect here: it applies only to a fit without private="),
        ({"count_column": "n"}, {}, "count_column is 'n'"),
        ({}, {"sample_weight": np.ones(40)}, "every row counts once"),
        ({}, {"validation": rows_of(5)}, "every row counts once"),
    ],
)
def test_what_would_read_rows_without_being_charged_is_refused(
    options: dict[str, object], fit: dict[str, object], message: str
) -> None:
    with pytest.raises(fs.errors.FullspanError, match=re.escape(message)):
        fs.FullSpan(**{"private": fs.Privacy(1.0), "levels": LISTED, **options}).fit(rows_of(40), **fit)


def test_private_counts_are_not_kept_to_go_on_from() -> None:
    with pytest.raises(fs.errors.FullspanError, match="whose counts are not kept"):
        fs.FullSpan(private=fs.Privacy(1.0), levels=LISTED).partial_fit(rows_of(40))
