"""Candidates of an ensemble, mixtures and pairwise models, against enumeration; which of them are learned."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Callable

import numba
import numpy as np
import pytest

import fullspan as fs
from fullspan.data import Empirical, Space
from fullspan.learn.base import Sample, bootstrap
from fullspan.learn.decomposable import (
    WARM_ITERATIONS,
    Complete,
    Em,
    GrowOptions,
    Learner,
    RunOptions,
    WideRows,
    grow,
    learn_mixture,
)
from fullspan.learn.ensemble import (
    Candidates,
    Member,
    OutOfBagRows,
    PairsLearner,
    Seen,
    Selection,
    Stacked,
    cross_validated,
    in_folds,
    mixture_of,
    n_pair_terms,
    stacked,
)
from fullspan.learn.likelihood import MachineOptions, fit_machine
from fullspan.model import AveragedLogLinear, LogLinear
from fullspan.model.algebra import Basis, BasisName

CARDS = (2, 3, 4, 2, 3)
BASES = ("walsh", "indicator", "monomial")


def rows_of(n: int, seed: int = 0) -> Empirical:
    """Two kinds of rows: in one the columns follow each other, in the other the last is a rule of the first two."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.integers(card, size=n) for card in CARDS])
    follows = rng.random(n) < 0.5
    for i in range(1, 5):
        same = follows & (rng.random(n) < 0.8)
        x[same, i] = x[same, i - 1] % CARDS[i]
    x[~follows, 4] = ((x[:, 0] + x[:, 1]) % 3)[~follows]
    return Empirical.from_codes(x, space=Space.of_cards(CARDS))


def selection(data: Empirical, candidates: Candidates) -> Selection:
    return Selection(data, Basis("walsh", CARDS), candidates, 7, threading.Event())


def stack(data: Empirical, rows: OutOfBagRows, mean: np.ndarray, candidates: Candidates, k: int = 1) -> Stacked | None:
    """The stack of k fits with ``log p`` of all states given, whose single fit is far behind, and of the candidates."""
    first = fit_machine(data, MachineOptions(order=1))
    members = [Member(number, Sample.whole(data), first) for number in range(k)]
    return stacked(data, Seen(rows, mean, mean - 50.0), members, selection(data, candidates))


def states() -> np.ndarray:
    """All states."""
    return np.array(list(itertools.product(*(range(card) for card in CARDS))))


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("smoothing", [3.0, 0.3])
def test_the_parts_of_a_mixture_are_the_mixture(basis: str, smoothing: float) -> None:
    """Its log-linear components, each normalised, have the mixture's probabilities; these sum to 1."""
    found = mixture_of(4, smoothing)(rows_of(300), Basis(basis, CARDS), np.random.default_rng(1))
    each = found.models()
    assert len(each) == 4
    assert sum(share for share, _ in each) == pytest.approx(1.0)
    p = np.exp([model.log_prob(states()) for _, model in each])
    assert np.allclose(p.sum(axis=1), 1.0)
    assert np.allclose(np.array([share for share, _ in each]) @ p, np.exp(found.log_prob(states())), rtol=1e-10)
    assert max(len(term) for _, model in each for term in model.terms) > 2


def test_missing_values_are_summed_over() -> None:
    """log P of a row with missing values is that of all its completions."""
    found = mixture_of(2, 1.0)(rows_of(200), Basis("monomial", CARDS), np.random.default_rng(0))
    p = np.exp(found.log_prob(states()))
    assert p.sum() == pytest.approx(1.0)
    for row in ([1, -1, 2, -1, 0], [-1, 2, -1, 1, -1], [-1] * 5):
        agrees = np.all((np.array(row) < 0) | (states() == row), axis=1)
        assert found.log_prob(np.array([row, row]))[0] == pytest.approx(np.log(p[agrees].sum()))


def test_a_mixture_finds_two_kinds_of_rows() -> None:
    """Fresh rows are likelier under two trees than under one, and the same seed gives the same."""
    data, fresh = rows_of(3000), rows_of(3000, seed=1)
    learn = [mixture_of(c, 1.0, 2)(data, Basis("monomial", CARDS), np.random.default_rng(0)) for c in (1, 2, 2)]
    one, two, again = (float(fresh.counts @ found.log_prob(fresh.states)) / fresh.total for found in learn)
    assert two > one + 0.02
    assert two == again


def test_compiled_em_is_the_em_of_mixtures() -> None:
    """The twin makes the iterations of its original from the same shares of rows, growing graphs included."""
    rows = WideRows.of(rows_of(400))
    share = np.random.default_rng(3).dirichlet(np.full(3, 0.3), size=len(rows))
    em = Em(Learner(Complete(rows), None), RunOptions(3, 2, 1.5, 0.5))
    stage = em.begin(share)
    for done in range(1, 12):
        twin = learn_mixture(rows, np.ascontiguousarray(share.T), 2, 1.5, 0.5, most=done, warm=WARM_ITERATIONS)
        assert twin.log_shares == pytest.approx(stage.mixed.log_shares, rel=1e-9)
        for mine, theirs in zip(stage.mixed.components, twin.components, strict=True):
            assert mine.shape == theirs.shape
            assert mine.tables == pytest.approx(theirs.tables, rel=1e-9)
        stage = em.project(em.complete(stage).data, stage)
    assert stage.mixed.components[0].shape.width > 0


def test_parents_are_in_the_order_of_what_they_tell() -> None:
    """The first parent says nearly everything, the last one next to nothing; smoothing gives the last up first."""
    rng = np.random.default_rng(4)
    a, b, noise = (rng.integers(0, 2, 4000) for _ in range(3))
    child = np.where(rng.random(4000) < 0.9, a, np.where(rng.random(4000) < 0.8, b, noise))
    rows = WideRows.of(Empirical.from_codes(np.stack([noise, b, a, child], axis=1)))
    for v, own in enumerate(grow(rows, rows.weights, GrowOptions(3, 0.0))[0].parents):
        if len(own) > 1:
            kept = [_conditional_entropy(rows, v, [u for u in own if u != out]) for out in own]
            assert np.argmin(kept) == len(own) - 1


def _conditional_entropy(rows: WideRows, v: int, given: list[int]) -> float:
    def entropy(which: list[int]) -> float:
        n = np.bincount(np.ravel_multi_index(rows.columns[which], [2] * len(which)), rows.weights)
        return -float(n[n > 0] @ np.log(n[n > 0] / n.sum()))

    return entropy([v, *given]) - entropy(given)


@pytest.mark.parametrize("max_order", [1, 2])
def test_no_table_is_larger_than_asked_for(max_order: int) -> None:
    """``max_order`` bounds a variable and its parents."""
    found = mixture_of(3, 1.0, max_order)(rows_of(200), Basis("walsh", CARDS), np.random.default_rng(0))
    assert max(len(term) for _, model in found.models() for term in model.terms) == max_order


@pytest.mark.parametrize("rows", [[[1, 2, 3, 0, 1]], [[0, 0, 0, 0, 0], [1, 2, 3, 1, 2]]])
def test_one_row_and_two(rows: list[list[int]]) -> None:
    """Nothing is impossible, and what was seen is likelier than a state with nothing in common."""
    data = Empirical.from_codes(rows, space=Space.of_cards(CARDS))
    for learn in (mixture_of(4, 0.3), PairsLearner(0.1, "walsh")):
        p = np.exp(learn(data, Basis("monomial", CARDS), np.random.default_rng(0)).log_prob(states()))
        assert p.sum() == pytest.approx(1.0)
        assert p.min() > 0
        assert p[np.all(states() == rows[0], axis=1)] > p[np.all(states() == [1, 1, 1, 1, 0], axis=1)]


def test_a_column_of_many_levels_has_its_table() -> None:
    """However many its levels, a variable alone has the tables of its components, each a distribution."""
    cards = (3000, 2500)
    rows = np.random.default_rng(0).integers(cards, size=(200, 2))
    data = Empirical.from_codes(rows, space=Space.of_cards(cards))
    mixture = mixture_of(4, 1.0)(data, Basis("indicator", cards), np.random.default_rng(0)).mixed
    for part in mixture.components:
        assert [np.exp(part.family(v)[1]).sum() for v in range(2)] == pytest.approx([1.0, 1.0])
        assert len(part.tables) == sum(cards)


@pytest.mark.parametrize("functions", ["walsh", "monomial"])
@pytest.mark.parametrize("basis", BASES)
def test_all_pairs_are_the_machine_with_the_ridge(basis: str, functions: BasisName) -> None:
    """The same maximum as a fitted machine, in any basis; started from that of other rows, to a hundredth of noise."""
    data, learn = rows_of(150), PairsLearner(2.0, functions)
    wanted = fit_machine(data, MachineOptions(order=2, basis=functions, l2=2.0 / data.total)).model.log_prob(states())
    found = learn(data, Basis(basis, CARDS), np.random.default_rng(0))
    ((share, model),) = found.models()
    assert share == 1.0
    assert model.basis.name == basis
    assert np.allclose(found.log_prob(states()), wanted, atol=1e-4)
    other = PairsLearner(2.0, functions)
    far = other(rows_of(40, seed=5), Basis(basis, CARDS), np.random.default_rng(0)).log_prob(states())
    near = other(data, Basis(basis, CARDS), np.random.default_rng(0)).log_prob(states())
    assert np.abs(near - wanted).max() < np.abs(far - wanted).max() / 100
    assert np.allclose(model.log_prob(states()), found.log_prob(states()), rtol=1e-10)
    assert len(found.machine.terms) == n_pair_terms(data.space)


@pytest.mark.parametrize(("n", "share"), [(20_000, 0.005), (100_000, 0.02), (1_000, 0.5)])
def test_pairs_forget_the_rows_that_are_left_out(n: int, share: float) -> None:
    """However many rows there are and however rare a level: what predicts a part is the maximum of the others."""
    cells = (np.random.default_rng(0).random((n, 6)) < share).astype(np.int64)
    data, basis, rng = Empirical.from_codes(cells), Basis("walsh", (2,) * 6), np.random.default_rng(0)
    followed = OutOfBagRows(data).followed
    parts, learn = in_folds(data, followed, rng), PairsLearner(1.0, "monomial")
    learn(data, basis, rng)
    found = cross_validated(data, followed, parts, learn, basis, rng)
    anew = cross_validated(data, followed, parts, lambda *rows: PairsLearner(1.0, "monomial")(*rows), basis, rng)
    whole = learn(data, basis, rng).log_prob(data.states)[followed.state]
    leak = float(followed.weight @ (found - anew)) / float(followed.weight @ (whole - anew))
    assert abs(leak) < 0.02


def test_columns_of_one_level_have_no_pairs() -> None:
    model = fs.FullSpan(average=16, random_state=0).fit(np.zeros((30, 3), dtype=int))
    assert model.score(np.zeros((2, 3), dtype=int)) == pytest.approx(0.0)


class _Even:
    """All states have the same probability."""

    def __init__(self, space: Space, log_p: float) -> None:
        self.space, self.log_p = space, log_p

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        return np.full(len(rows), self.log_p)

    def models(self) -> tuple[()]:
        return ()


def test_a_candidate_that_no_row_needs_is_left_out() -> None:
    """Of three candidates, the one that is never better is dropped, and the shares of the others sum to 1."""
    data = rows_of(400)
    rows = OutOfBagRows(data)
    rng = np.random.default_rng(0)
    for _ in range(3):
        rows.add(bootstrap(data, rng).drawn, np.full(len(data.counts), -5.0), rng)
    even = np.full(len(data.counts), -5.0)
    learn = {name: (lambda *given, v=v: _Even(data.space, v)) for name, v in (("as good", -5.0), ("bad", -9.0))}
    found = stack(data, rows, even, Candidates(learn), 3)
    assert found is not None
    assert found.shares["bad"] == 0.0
    assert 0.0 < found.shares["as good"] < found.shares["fits"]
    assert sum(found.shares.values()) == pytest.approx(1.0)
    assert np.allclose(found.mean, -5.0)
    assert found.out_of_bag.score == pytest.approx(-5.0)


@pytest.mark.parametrize("large", [1 << 20, 1])
def test_candidates_share_the_cores(large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Side by side each has one; of large tables with missing values one is learned at a time, and has all of them."""
    monkeypatch.setattr("fullspan.learn.ensemble.selection.IN_TURN_STATES", large)
    cells = rows_of(30).states.astype(np.int64)
    cells[0, 0] = -1
    data = Empirical.from_codes(cells, space=Space.of_cards(CARDS), allow_missing=True)
    rows, rng, used = OutOfBagRows(data), np.random.default_rng(0), []
    even = np.full(len(data.counts), -5.0)
    rows.add(bootstrap(data, rng).drawn, even, rng)

    def learn(*given: object) -> _Several:
        used.append(numba.get_num_threads())
        return _Several(data.space, -np.log(data.space.n_states), 0)

    stack(data, rows, even, Candidates({"other": learn}))
    assert set(used) == {numba.get_num_threads() if large == 1 else 1}


def test_a_series_is_learned_until_held_out_likelihood_falls() -> None:
    """The first that is clearly worse than the one before is the last; what follows is not learned."""
    data = rows_of(100)
    rows, rng, learned = OutOfBagRows(data), np.random.default_rng(0), []
    even = np.full(len(data.counts), -5.0)
    rows.add(bootstrap(data, rng).drawn, even, rng)

    def candidate(name: str, log_p: float) -> Callable[..., _Several]:
        def learn(*given: object) -> _Several:
            learned.append(name)
            return _Several(data.space, log_p, 0)

        return learn

    heights = {"alone": -6.0, "one": -5.5, "two": -5.0, "three": -5.2, "four": -1.0}
    learn = {name: candidate(name, log_p) for name, log_p in heights.items()}
    candidates = Candidates(learn, families=[[["one", "two", "three", "four"]]])
    found = stack(data, rows, even, candidates)
    assert found is not None
    assert set(learned) == set(found.shares) - {"fits", "single fit"} == {"alone", "one", "two", "three"}
    assert sum(found.shares.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("heights", "learned"), [((-8.0, -7.0, -6.8), 2), ((-8.0, -6.4, -5.6), 3), ((-5.09, -5.08, -5.07), 3)]
)
def test_a_series_that_ends_far_below_the_others_is_left(heights: tuple[float, ...], learned: int) -> None:
    """A candidate that gains less than it still lacks to a trusted one, a tenth of a nat and more, is the last."""
    data = rows_of(100)
    rows, rng = OutOfBagRows(data), np.random.default_rng(0)
    fits = np.full(len(data.counts), -5.0)
    rows.add(bootstrap(data, rng).drawn, fits, rng)
    learn = {str(i): (lambda *given, v=v: _Several(data.space, v, 0)) for i, v in enumerate((-5.0, *heights))}
    candidates = Candidates(learn, {"0": 2.0}, [[list(learn)[1:]]])
    found = stack(data, rows, fits, candidates)
    assert found is not None
    assert len(found.shares) - ("single fit" in found.shares) == 2 + learned


@pytest.mark.parametrize(("second", "learned"), [(-5.5, 2), (-5.5001, 2), (-5.4999, 3)])
def test_a_candidate_that_gains_nothing_is_the_last(second: float, learned: int) -> None:
    """Even if it is hardly worse than the one before: it adds nothing to it."""
    data = rows_of(600)
    rows, rng = OutOfBagRows(data), np.random.default_rng(0)
    fits = np.full(len(data.counts), -5.5)
    rows.add(bootstrap(data, rng).drawn, fits, rng)
    heights = {"one": -5.5, "two": second, "three": -5.4}
    learn = {name: (lambda *given, v=v: _Even(data.space, v)) for name, v in heights.items()}
    found = selection(data, Candidates(learn, families=[[list(learn)]])).found(
        rows.expected(1), rows.known, rows.known_weight
    )
    assert list(found) == list(heights)[:learned]


@pytest.mark.parametrize(("n", "second", "learned"), [(600, -5.05, 2), (600, -4.9, 3), (100, -5.05, 3)])
def test_a_series_of_no_use_next_to_trusted_candidates_is_left(n: int, second: float, learned: int) -> None:
    """Two candidates that add nothing are enough, however little the second lacks; of few rows all are learned."""
    data = rows_of(n)
    rows, rng = OutOfBagRows(data), np.random.default_rng(0)
    rows.add(bootstrap(data, rng).drawn, np.full(len(data.counts), -5.5), rng)
    heights = {"known": -5.0, "one": -5.06, "two": second, "three": -4.8}
    learn = {name: (lambda *given, v=v: _Even(data.space, v)) for name, v in heights.items()}
    found = selection(data, Candidates(learn, {"known": 2.0}, [[list(learn)[1:]]])).found(
        rows.expected(1), rows.known, rows.known_weight
    )
    assert list(found) == list(heights)[: 1 + learned]


@pytest.mark.parametrize(("top", "others"), [(-6.9, False), (-5.001, False), (-4.9, True)])
def test_the_first_series_shows_whether_to_learn_the_others(top: float, others: bool) -> None:
    """If it adds nothing to the fits, no other of its family is learned; otherwise from its best size on."""
    data = rows_of(600)
    rows, rng = OutOfBagRows(data), np.random.default_rng(0)
    fits = np.full(len(data.counts), -5.0)
    rows.add(bootstrap(data, rng).drawn, fits, rng)
    heights = {"low": -7.0, "top": top, "second": -5.5, "third": -6.0, "fourth": -6.0, "alone": -5.0}
    learn = {name: (lambda *given, v=v: _Several(data.space, v, 0)) for name, v in heights.items()}
    candidates = Candidates(learn, families=[[["low", "top"], ["below", "second"], ["below", "third", "fourth"]]])
    found = stack(data, rows, fits, candidates)
    assert found is not None
    assert set(found.shares) - {"single fit"} == {"fits", "low", "top", "alone"} | (
        {"second", "third", "fourth"} if others else set()
    )


class _Several(_Even):
    """The same by many models, each with a share."""

    def __init__(self, space: Space, log_p: float, seed: int) -> None:
        super().__init__(space, log_p)
        self.own = np.random.default_rng(seed).dirichlet(np.ones(48))

    def models(self) -> tuple[tuple[float, LogLinear], ...]:  # type: ignore[override]
        even = LogLinear(self.space, Basis("walsh", CARDS), (), np.zeros(0), -self.log_p)
        return tuple((float(share), even) for share in self.own)


@pytest.mark.parametrize("seed", range(20))
def test_the_fits_have_a_share_however_unlikely_rows_are_under_them(seed: int) -> None:
    """The candidates have less than the whole, in the arithmetic of doubles, too: the average has members."""
    some = rows_of(400)
    data = dataclasses.replace(some, counts=np.full(len(some.counts), 8e15 / len(some.counts)))
    rows, rng, log_p = OutOfBagRows(data), np.random.default_rng(seed), -np.log(data.space.n_states)
    far = np.full(len(data.counts), -60.0)
    rows.add(bootstrap(some, rng).drawn, far, rng)
    learn = {"other": lambda *given: _Several(data.space, log_p, seed)}
    found = stack(data, rows, far, Candidates(learn))
    assert found is not None
    assert 0.0 < found.shares["fits"] < 1e-9
    average = AveragedLogLinear.of([found.models[0][1]], found.models)
    assert np.exp(average.log_prob(states())).sum() == pytest.approx(1.0)


def test_an_average_with_all_candidates(tmp_path: object) -> None:
    """It answers by the shares of its parts, survives its file, and the same seed gives the same."""
    data = rows_of(250)
    X = np.repeat(data.states, data.counts.astype(int), axis=0)
    X[:, 3] = 1
    models = [
        fs.FullSpan(average=8, random_state=3, levels={f"x{i}": list(range(c)) for i, c in enumerate(CARDS)})
        for _ in "ab"
    ]
    one, two = (model.fit(X) for model in models)
    shares = one.fitted_.settings["shares"]
    assert any(name.startswith("mixture of 8") for name in shares)
    assert any(name.startswith("all pairs") for name in shares)
    assert sum(share for name, share in shares.items() if name != "fits") == pytest.approx(one.model_.share)
    wanted = np.log(sum(share * np.exp(part.log_prob(states())) for share, part in one.model_.parts))
    assert np.allclose(one.score_samples(states()), wanted)
    assert np.array_equal(one.score_samples(states()), two.score_samples(states()))
    one.save(tmp_path / "average.fsm")
    again = fs.load(tmp_path / "average.fsm")
    assert np.allclose(again.score_samples(states()), wanted)
    assert again.probability("x0=1 | x1=2") == pytest.approx(one.probability("x0=1 | x1=2"))


@pytest.mark.parametrize(
    ("k", "networks", "mixtures", "pairs"), [(2, 0, 0, 0), (4, 1, 0, 0), (8, 2, 1, 1), (16, 2, 3, 3)]
)
def test_few_fits_have_few_candidates(k: int, networks: int, mixtures: int, pairs: int) -> None:
    """No more than the fits have time for: nothing, networks, one of each kind, or all; k components of 5 rows."""
    X = np.random.default_rng(0).integers(2, size=(40, 3))
    shares = fs.FullSpan(average=k, random_state=0).fit(X).fitted_.settings.get("shares", {})
    found = [name.removeprefix("mixture of ").split(", ") for name in shares if name.startswith("mixture")]
    assert len({smoothing for _, smoothing in found}) == mixtures
    assert all(int(size) <= min(k, 40 // 5) for size, _ in found)
    assert sum(name.startswith("all pairs") for name in shares) == pairs
    assert sum(name.startswith("networks") for name in shares) == networks
