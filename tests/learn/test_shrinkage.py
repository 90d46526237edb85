"""Shrinkage by evidence, against enumeration and dense linear algebra."""

from __future__ import annotations

import itertools
import json
import math
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullspan as fs
from fullspan.data import Empirical
from fullspan.errors import FullspanError, ModelFileError
from fullspan.learn.shrinkage import MAX_TERMS, Contrasts, fit_shrunken, highest_order, shrink
from fullspan.model.algebra import Basis, jit
from fullspan.model.files import checksum

CARDS = (2, 3, 2, 4)


def psi(contrasts: Contrasts) -> np.ndarray:
    """All contrasts as a matrix (y, x)."""
    n = math.prod(contrasts.cards)
    return np.stack([contrasts.function(row) for row in np.eye(n)])


def drawn(n: int, cards: tuple[int, ...] = CARDS, seed: int = 0) -> Empirical:
    """Rows of a generic distribution."""
    rng = np.random.default_rng(seed)
    contrasts = Contrasts(cards)
    f = contrasts.function(rng.normal(size=math.prod(cards)) * np.array([0, 0.7, 0.4, 0.05, 0.05])[contrasts.orders])
    p = np.exp(f - np.logaddexp.reduce(f))
    index = rng.choice(len(p), size=n, p=p)
    codes = np.stack(np.unravel_index(index, cards, order="F"), axis=1)
    return Empirical.from_codes(codes, space=fs.Space.of_cards(cards))


def test_contrasts_are_orthonormal() -> None:
    """Contrasts have mean product 0 with each other and mean square 1, and the orders of what they depend on."""
    contrasts = Contrasts(CARDS)
    table = psi(contrasts)
    assert np.allclose(table @ table.T / table.shape[1], np.eye(len(table)), atol=1e-12)
    p = np.random.default_rng(0).dirichlet(np.ones(len(table)))
    assert np.allclose(contrasts.expectations(p), table @ p, atol=1e-14)
    for y, digits in enumerate(itertools.product(*(range(c) for c in CARDS[::-1]))):
        assert contrasts.orders[y] == sum(d > 0 for d in digits)


@pytest.mark.parametrize("name", ["walsh", "indicator", "monomial"])
def test_natural_parameters_are_the_same_function(name: str) -> None:
    """theta . Phi = f up to a constant, and contrasts up to an order need no term beyond it."""
    contrasts, basis = Contrasts(CARDS), Basis(name, CARDS)  # type: ignore[arg-type]
    weights = np.random.default_rng(1).normal(size=48) * (contrasts.orders <= 2)
    theta = contrasts.natural(weights, basis)
    assert np.allclose(theta[contrasts.orders > 2], 0.0, atol=1e-12)
    table = theta.copy()
    basis.synthesise(table)
    difference = table - contrasts.function(weights)
    assert np.allclose(difference, difference[0], atol=1e-12)


def test_maximum_of_the_posterior_and_of_the_evidence() -> None:
    """``N (d - <Psi>) = alpha w`` at the end, and gamma is the trace of ``1 - alpha H^-1``."""
    data, contrasts = drawn(400), Contrasts(CARDS)
    found = shrink(contrasts, data, 3)
    table = psi(contrasts)
    f = contrasts.function(found.weights)
    p = np.exp(f - found.log_z)
    assert p.sum() == pytest.approx(1.0)
    share = np.zeros(48)
    share[data.space.index(data.states)] = data.counts / data.total
    own = (contrasts.orders > 0) & (contrasts.orders <= 3)
    alpha = found.precision[contrasts.orders[own]]
    pull = 400 * (table @ (share - p))[own]
    sd = 1 / np.sqrt(alpha)
    assert np.abs(sd * (pull - alpha * found.weights[own])).max() < 0.2
    fisher = (table * p) @ table.T - np.outer(table @ p, table @ p)
    inverse = np.linalg.inv(400 * fisher[np.ix_(own, own)] + np.diag(alpha))
    exact = np.bincount(contrasts.orders[own], 1 - alpha * np.diag(inverse))
    assert np.allclose(found.effective, exact, rtol=0.15, atol=0.05)
    assert np.all(found.weights[contrasts.orders > 3] == 0)


def test_names_and_order_of_levels_do_not_matter() -> None:
    """Exchanging levels permutes the probabilities and changes nothing else."""
    data = drawn(300)
    swapped = np.asarray(data.states).copy()
    swapped[:, 1] = np.array([2, 0, 1])[swapped[:, 1]]
    other = Empirical.from_codes(swapped, data.counts, data.space)
    one, two = (fit_shrunken(d, "walsh", 4).model for d in (data, other))
    assert np.allclose(one.log_prob(data.states), two.log_prob(swapped), atol=1e-3)


def test_noise_is_shrunken_away() -> None:
    """Independent columns leave nearly no interaction, where maximum likelihood of all pairs has many."""
    rng = np.random.default_rng(0)
    rows = rng.integers(2, size=(60, 6))
    levels = {f"x{i}": [0, 1] for i in range(6)}
    fresh = rng.integers(2, size=(2000, 6))
    shrunken = fs.BoltzmannMachine(order=2, shrinkage="evidence", levels=levels).fit(rows)
    plain = fs.BoltzmannMachine(order=2, l2=1e-3, levels=levels).fit(rows)
    assert shrunken.score(fresh) > plain.score(fresh) + 0.05
    assert shrunken.score(fresh) == pytest.approx(-6 * math.log(2), abs=0.1)


def test_order_and_limits() -> None:
    """The highest order has at most so many terms; too many, standard errors with gaps or other options are refused."""
    assert highest_order((2,) * 16) == 6
    assert highest_order((2, 2)) == 2
    assert sum(math.comb(16, o) for o in range(1, 7)) <= MAX_TERMS < sum(math.comb(16, o) for o in range(1, 8))
    rows = [[0, 1], [1, 1], [1, 0], [0, 0]] * 5
    with pytest.raises(FullspanError, match="leave out graph"):
        fs.BoltzmannMachine(graph=[("x0", "x1")], shrinkage="evidence").fit(rows)
    with pytest.raises(FullspanError, match="hidden"):
        fs.FullSpan(hidden=1, shrinkage="evidence").fit(rows)
    with pytest.raises(FullspanError, match="choose 'evidence'"):
        fs.FullSpan(shrinkage="much").fit(rows)
    with pytest.raises(FullspanError, match="complete rows"):
        fs.BoltzmannMachine(shrinkage="evidence", missing="em").fit([*rows, [0, None]])


@pytest.mark.parametrize("average", [1, 4])
def test_search_with_a_shrunken_background(average: int, tmp_path: Path) -> None:
    """The mixture is the share of the background and the mean of the members, in memory and from its file."""
    data = drawn(200)
    rows = np.repeat(np.asarray(data.states), data.counts.astype(int), axis=0)
    levels = {f"x{i}": list(range(c)) for i, c in enumerate(CARDS)}
    model = fs.FullSpan(average=average, shrinkage="evidence", random_state=0, levels=levels).fit(rows)
    every = np.stack(np.unravel_index(np.arange(48), CARDS, order="F"), axis=1)
    mean = np.mean([np.exp(m.log_prob(every)) for m in model.model_.members], axis=0)
    share, beside = model.model_.share, model.model_.background
    wanted = (1 - share) * mean + sum(own * np.exp(m.log_prob(every)) for own, m in beside)
    assert 0 < share < 1
    assert share == pytest.approx(sum(own for own, _ in beside))
    assert (len(beside) == 1) is (average == 1)
    assert len(model.model_.members) == average
    assert np.allclose(np.exp(model.score_samples(every)), wanted, rtol=1e-10)
    path = tmp_path / "m.fsm"
    model.save(path)
    again = fs.load(path)
    assert again.shrinkage == "evidence"
    assert again.average == average
    assert np.array_equal(again.score_samples(every), model.score_samples(every))
    damaged = json.loads(path.read_text())
    if average == 1:  # as files of before have it: one model, without a list
        before = {**damaged, "background": damaged["background"][0]}
        path.write_text(json.dumps({**before, "checksum": checksum(before)}))
        assert np.array_equal(fs.load(path).score_samples(every), model.score_samples(every))
    for key, value, place in [("share", 1.0, "share"), ("places", [5, 2], "increase"), ("weights", [1.0], "weights")]:
        broken = json.loads(json.dumps(damaged))
        broken["background"][0][key] = value
        broken["checksum"] = checksum(broken)
        path.write_text(json.dumps(broken))
        with pytest.raises(ModelFileError, match=place):
            fs.load(path)


def test_interrupt_keeps_the_search() -> None:
    """Ctrl-C while the background is shrunken leaves the search alone, and a shrunken machine as far as it has come."""
    from fullspan.learn.ensemble import shrunken_search
    from fullspan.learn.search import Options

    def stop(step) -> None:  # type: ignore[no-untyped-def]
        if step.move == "shrink":
            raise KeyboardInterrupt

    data = drawn(200)
    found = shrunken_search(data, Options(), watch=stop)
    assert found.status == "interrupted"
    assert not hasattr(found.model, "members")
    early = fit_shrunken(data, "walsh", watch=stop)
    assert early.status == "interrupted"
    assert math.isfinite(early.divergence)


def test_one_step_is_told_at_a_time_and_ctrl_c_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits and the shrunken model beside them, which share two cores: whichever is told of, no other is meanwhile.

    Fits of samples wait for the shrunken model here, however busy the machine is: only that of the rows is done.
    """
    from fullspan.learn.ensemble import averages, shrunken_search
    from fullspan.learn.search import Options, fit_search

    data = Empirical.from_codes(np.random.default_rng(0).integers(2, size=(300, 15)))
    inside, moves = threading.Semaphore(1), []
    begun, shrinks = itertools.count(1), threading.Event()

    def first_or_later(*given: Any) -> Any:
        assert next(begun) == 1 or shrinks.wait(60)
        return fit_search(*given)

    def watch(step) -> None:  # type: ignore[no-untyped-def]
        assert inside.acquire(blocking=False)
        time.sleep(0.001)
        moves.append(step.move)
        inside.release()
        if step.move == "shrink":
            shrinks.set()
            raise KeyboardInterrupt

    monkeypatch.setattr(averages, "fit_search", first_or_later)
    monkeypatch.setattr(jit, "cores", lambda: 2)
    found = shrunken_search(data, Options(basis="walsh"), 7, 0, watch)
    assert found.status == "interrupted"
    assert moves[-1] == "shrink"
    assert len(found.model.members) == 1


@pytest.mark.parametrize("name", ["walsh", "indicator", "monomial"])
def test_standard_errors_are_those_of_the_posterior(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The covariance of theta is T (N F + alpha)^-1 T', with F and T by enumeration; draws give the same to their
    error, and the prior makes errors smaller than those of the maximum of the likelihood."""
    data = drawn(300, seed=4)
    fitted = fit_shrunken(data, name, 2, errors=True)  # type: ignore[arg-type]
    contrasts, basis = Contrasts(CARDS), Basis(name, CARDS)  # type: ignore[arg-type]
    own = np.flatnonzero((contrasts.orders > 0) & (contrasts.orders <= 2))
    p = np.exp(fitted.model.log_prob(np.stack(np.unravel_index(np.arange(48), CARDS, order="F"), axis=1)))
    functions = psi(contrasts)[own]
    centred = functions - (functions @ p)[:, None]
    alpha = np.array([0.0, *fitted.settings["precision"]])[contrasts.orders[own]]
    information = 300 * (centred * p) @ centred.T
    natural = np.stack([contrasts.natural(row, basis) for row in np.eye(48)[own]], axis=1)
    places = [basis.index(term) for term in fitted.model.terms]
    full, plain = (
        np.sqrt(np.diag(natural @ np.linalg.inv(information + np.diag(prior)) @ natural.T))[places]
        for prior in (alpha, 0 * alpha)
    )
    assert fitted.standard_errors == pytest.approx(full, rel=0.02)
    assert (full < plain).all()
    assert fitted.nats_saved == pytest.approx(fitted.model.theta**2 / (2 * fitted.standard_errors**2))
    monkeypatch.setattr("fullspan.learn.shrinkage.rows.MAX_EXACT", 0)
    monkeypatch.setattr("fullspan.learn.shrinkage.rows.DRAWS", 1000)
    drawn_errors = fit_shrunken(data, name, 2, errors=True).standard_errors  # type: ignore[arg-type]
    assert drawn_errors == pytest.approx(full, rel=0.15)


def test_a_shrunken_machine_shows_its_errors() -> None:
    """terms_ and the summary have finite standard errors."""
    model = fs.BoltzmannMachine(order=2, shrinkage="evidence").fit(drawn(200, seed=5).states)
    assert all(0 < term.standard_error < 10 for term in model.terms_)
    assert all(term.nats_saved >= 0 for term in model.terms_)
    assert "nan" not in str(model.summary()).lower()


@pytest.mark.parametrize("table", [{"k": [1] * 10}, {"k": [1] * 10, "l": ["a"] * 10}, {"k": [1], "b": ["x"]}])
def test_constant_columns_give_a_model_without_terms(table: dict[str, list[object]], tmp_path: Path) -> None:
    machine = fs.BoltzmannMachine(shrinkage="evidence").fit(table)
    assert len(machine.terms_) == machine.n_terms_ == 0
    assert machine.probability({"k": 1}) == 1.0
    machine.save(tmp_path / "m.fsm")
    assert fs.load(tmp_path / "m.fsm").probability({"k": 1}) == 1.0
