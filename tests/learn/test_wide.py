"""The search without a table of states, against enumeration and against the search on the dual table."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fullspan.data import Empirical, Space
from fullspan.engine.elimination import Sweeps
from fullspan.errors import FullspanError, TooLargeError
from fullspan.estimators.full_span import FullSpan
from fullspan.learn.base import Progress
from fullspan.learn.decomposable import (
    Complete,
    GrowOptions,
    Incomplete,
    Learner,
    RunOptions,
    Shape,
    WideRows,
    conditionals,
    count_cells,
    grow,
)
from fullspan.learn.search import fit_search
from fullspan.learn.shares import best_shares
from fullspan.learn.wide import WideOptions, fit_wide
from fullspan.learn.wide.plan import cells_for
from fullspan.model import Fitted

CARDS = (2, 3, 2, 4, 2)


def chain(n: int, rows: int, seed: int, stay: float = 0.8) -> np.ndarray:
    """Binary rows in which every column repeats the one before it, mostly."""
    rng = np.random.default_rng(seed)
    out = (rng.random((rows, n)) < 0.4).astype(np.int64)
    for i in range(1, n):
        out[:, i] = np.where(rng.random(rows) < stay, out[:, i - 1], out[:, i])
    return out


@pytest.fixture(scope="module")
def mixed() -> Empirical:
    rng = np.random.default_rng(3)
    codes = np.stack([rng.integers(0, card, 400) for card in CARDS], axis=1)
    codes[:, 4] = (codes[:, 0] + codes[:, 2] + (rng.random(400) < 0.1)) % 2
    codes[:, 3] = np.where(rng.random(400) < 0.7, codes[:, 1], codes[:, 3])
    return Empirical.from_codes(codes, space=Space.of_cards(CARDS))


SHAPE = Shape((1, 3, 0, 2, 4), ((), (), (0,), (1,), (0, 2)))


def states(cards: tuple[int, ...]) -> np.ndarray:
    return np.array(list(itertools.product(*map(range, cards))))


def test_counts_of_a_clique_and_every_cell_are_sums_over_rows(mixed: Empirical) -> None:
    """T[c, (u, l)] = sum_r w_r [x_C = c][x_u = l] for every level but the usual one."""
    rows = WideRows.of(mixed)
    table = np.zeros((6, rows.n_features + 1))
    count_cells(rows.listed, np.array([0, 1]), np.array([1, 2]), rows.weights, table)
    for u, card in enumerate(CARDS):
        levels = [x for x in range(card) if x != rows.usual[u]]
        for place, level in enumerate(levels):
            for a, b in itertools.product(range(2), range(3)):
                here = (mixed.states[:, [0, 1, u]] == (a, b, level)).all(axis=1)
                assert table[a + 2 * b, rows.features[u] + place] == mixed.counts[here].sum()


def test_the_gain_of_growing_is_the_gain_in_likelihood(mixed: Empirical) -> None:
    """Without a price of weights, what growing saves is N sum_v I(x_v; x_S(v)), the likelihood ratio of the closed-form
    model, less the names of the parents."""
    rows = WideRows.of(mixed)
    shape, saved = grow(rows, rows.weights, GrowOptions(2, 0.0))
    model = conditionals(rows, rows.weights, shape, 1e-9)
    alone = conditionals(rows, rows.weights, Shape.alone(5), 1e-9)
    ratio = float(rows.weights @ (model.log_prob(rows.columns) - alone.log_prob(rows.columns)))
    names = sum(np.log(5) + np.log(CARDS[i] - 1) for parents in shape.parents for i in parents)
    assert shape.width == 2
    assert ratio - names == pytest.approx(saved, rel=1e-6)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_parents_lie_inside_one_clique_of_what_came_before(mixed: Empirical, width: int) -> None:
    """S(v) is a subset of {u} + S(u) for an earlier u: the graph is decomposable, its width at most the one given."""
    rows = WideRows.of(mixed)
    shape, _ = grow(rows, rows.weights, GrowOptions(width, 0.1))
    assert shape.width <= width
    for place, v in enumerate(shape.order):
        earlier = [{u, *shape.parents[u]} for u in shape.order[:place]]
        assert not shape.parents[v] or any(set(shape.parents[v]) <= clique for clique in earlier)


def test_conditionals_sum_to_one_and_smooth_towards_fewer_parents(mixed: Empirical) -> None:
    """Sum_x p(x) = 1 at any smoothing; with a huge one every table is the even distribution."""
    rows = WideRows.of(mixed)
    columns = np.ascontiguousarray(states(CARDS).T, dtype=np.uint8)
    for s in (0.5, 7.0):
        assert np.exp(conditionals(rows, rows.weights, SHAPE, s).log_prob(columns)).sum() == pytest.approx(1.0)
    flat = np.exp(conditionals(rows, rows.weights, SHAPE, 1e12).log_prob(columns))
    assert flat == pytest.approx(np.full(96, 1 / 96), rel=1e-6)


def test_conditionals_are_smoothed_by_the_level_before(mixed: Empirical) -> None:
    """p_1(x | t) = (n(x, t) + s p_0(x)) / (n(t) + s), p_0 = (n(x) + s / |X|) / (N + s)."""
    rows, s = WideRows.of(mixed), 3.0
    model = conditionals(rows, rows.weights, SHAPE, s)
    counts = np.array(
        [[((mixed.states[:, [3, 1]] == (x, t)) @ [1, 1] == 2) @ mixed.counts for t in range(3)] for x in range(4)]
    )
    shares = (counts.sum(axis=1) + s / 4) / (400 + s)
    expected = (counts + s * shares[:, None]) / (counts.sum(axis=0) + s)
    found = np.exp(model.family(3)[1]).reshape(4, 3, order="F")
    assert found == pytest.approx(expected)


def test_a_chain_is_found_exactly_and_as_well_as_on_the_table() -> None:
    """On a chain of 10 binary variables both searches keep the 9 neighbours and nothing else, with the same weights."""
    data = Empirical.from_codes(chain(10, 3000, 0))
    wide, table = fit_wide(data, WideOptions(max_width=3)), fit_search(data)
    pairs = {tuple(i for i, _ in term) for term in wide.model.terms if len(term) > 1}
    assert pairs == {(i, i + 1) for i in range(9)}
    held = chain(10, 2000, 1)
    difference = wide.model.log_prob(held).mean() - table.model.log_prob(held).mean()
    assert abs(difference) < 0.003
    everything = states((2,) * 10)
    assert np.exp(wide.model.log_prob(everything)).sum() == pytest.approx(1.0)


def test_effects_of_three_variables_are_found_around_a_pair() -> None:
    """x2 = x0 xor x1 with noise, where x0 and x1 go together a little: the term of order 3 is in the model."""
    rng = np.random.default_rng(2)
    x0 = rng.integers(0, 2, 2000)
    x1 = np.where(rng.random(2000) < 0.2, x0, rng.integers(0, 2, 2000))
    x2 = (x0 ^ x1) ^ (rng.random(2000) < 0.1)
    fitted = fit_wide(Empirical.from_codes(np.stack([x0, x1, x2], axis=1).astype(np.int64)), WideOptions(max_width=2))
    assert ((0, 1), (1, 1), (2, 1)) in fitted.model.terms


def test_missing_cells_are_summed_over() -> None:
    """With a tenth of the cells missing the chain is found, and the observed likelihood is at its maximum: no scaling
    of the pair weights improves it."""
    codes = chain(8, 1500, 4)
    codes[np.random.default_rng(5).random(codes.shape) < 0.1] = -1
    data = Empirical.from_codes(codes, allow_missing=True)
    fitted = fit_wide(data, WideOptions(max_width=2))
    pairs = {tuple(i for i, _ in term) for term in fitted.model.terms if len(term) > 1}
    assert pairs >= {(i, i + 1) for i in range(7)}

    def mean(scale: float) -> float:
        weights = np.array([w * (scale if len(t) > 1 else 1) for t, w in fitted.model])
        log = np.array([observed(row, fitted.model.terms, weights) for row in data.states])
        everything = exponent(states((2,) * 8), fitted.model.terms, weights)
        return float(data.counts @ log) / data.total - float(np.logaddexp.reduce(everything))

    best = mean(1.0)
    assert best == pytest.approx(-(fitted.divergence + fitted.entropy), abs=1e-6)
    assert best > max(mean(0.9), mean(1.1))


def exponent(rows: np.ndarray, terms: tuple, weights: np.ndarray) -> np.ndarray:
    spins = 1 - 2 * rows
    return sum(w * spins[:, [i for i, _ in t]].prod(axis=1) for t, w in zip(terms, weights, strict=True))


def observed(row: np.ndarray, terms: tuple, weights: np.ndarray) -> float:
    """``log sum exp`` over the completions of a row."""
    missing = np.flatnonzero(row < 0)
    rows = np.repeat(row[None].astype(np.int64), 2 ** len(missing), axis=0)
    rows[:, missing] = states((2,) * len(missing)) if len(missing) else rows[:, missing]
    return float(np.logaddexp.reduce(exponent(rows, terms, weights)))


def test_an_interruption_keeps_the_graph_so_far() -> None:
    """Ctrl-C while the network is learned: its edges so far; after the first round: the pairs so far."""
    data = Empirical.from_codes(chain(12, 500, 6))

    def n_pairs(fitted: Fitted) -> int:
        return sum(len(term) == 2 for term in fitted.model.terms)

    def first(progress: Progress) -> None:
        raise KeyboardInterrupt

    def later(progress: Progress) -> None:
        if n_pairs(progress.snapshot()):  # type: ignore[misc]
            raise KeyboardInterrupt

    fitted = fit_wide(data, WideOptions(max_width=2), first)
    assert (fitted.status, n_pairs(fitted)) == ("interrupted", 1)
    fitted = fit_wide(data, WideOptions(max_width=2), later)
    assert (fitted.status, n_pairs(fitted)) == ("interrupted", 11)
    assert np.exp(fitted.model.log_prob(states((2,) * 12))).sum() == pytest.approx(1.0)


def test_plans_are_refused_before_anything_is_allocated() -> None:
    """A search that would not fit says what it needs; a width below 1 is no width."""
    data = Empirical.from_codes(chain(40, 50, 7))
    with pytest.raises(TooLargeError, match="leave variables out"):
        fit_wide(data, WideOptions(max_memory=1000))
    with pytest.raises(FullspanError, match="at least 1"):
        WideOptions(max_width=0)


def test_a_mixture_is_a_distribution_and_beats_its_parts() -> None:
    """Two groups of rows: a mixture of trees sums to 1, and rows held out are likelier under it than under
    one tree."""
    rng = np.random.default_rng(8)

    def rows(size: int) -> Complete:
        group = rng.integers(0, 2, size)[:, None]
        codes = (rng.random((size, 9)) < np.where(group, 0.85, 0.15)).astype(np.int64)
        return Complete(WideRows.of(Empirical.from_codes(codes, space=Space.of_cards((2,) * 9))))

    learner = Learner(rows(1500), rows(700))
    one, two = (learner.run(RunOptions(k, 1, 1.0), np.random.default_rng(0)) for k in (1, 2))
    assert two.score > one.score + 0.1
    both = learner.combined([one, two])
    assert both.score >= two.score
    every = Complete(WideRows.of(Empirical.from_codes(states((2,) * 9))))
    assert np.exp(both.model.log_prob(every)).sum() == pytest.approx(1.0)


def test_complete_rows_are_read_alike_by_both(mixed: Empirical) -> None:
    """Rows read as incomplete of which none is: the same log-probabilities and the same tables, for any graph."""
    complete, incomplete = Complete(WideRows.of(mixed)), Incomplete(mixed, np.random.default_rng(0))
    weights = np.random.default_rng(1).uniform(0, 2000, len(mixed.counts))  # so many that every parent pays
    model = complete.grown(weights, GrowOptions(3, 0.0), 1.0, None)
    again = incomplete.refilled(weights, model, 2.0)
    assert model.shape.width == 3
    assert incomplete.log_prob(model) == pytest.approx(complete.log_prob(model))
    assert again.tables == pytest.approx(complete.refilled(weights, model, 2.0).tables)
    assert incomplete.alone(weights, 1.0).tables == pytest.approx(complete.alone(weights, 1.0).tables)


def test_mixtures_learn_from_missing_values() -> None:
    """Em over the hidden level and missing values: an iteration without smoothing never lowers the likelihood of what
    is seen, and all rows, incomplete ones included, predict better than the complete ones alone."""
    rng = np.random.default_rng(9)

    def codes(size: int) -> np.ndarray:
        group = rng.integers(0, 2, size)[:, None]
        return (rng.random((size, 8)) < np.where(group, 0.8, 0.2)).astype(np.int64)

    whole, held = codes(600), Complete(WideRows.of(Empirical.from_codes(codes(2000))))
    missing = np.where(rng.random(whole.shape) < 0.3, -1, whole)
    space = Space.of_cards((2,) * 8)
    data = Empirical.from_codes(missing, space=space, allow_missing=True)
    rows = Incomplete(data, rng)
    share = rng.dirichlet(np.ones(2), size=len(rows.weights))
    models = [rows.grown(rows.weights * share[:, h], GrowOptions(2, 0.0), 1e-9, None) for h in range(2)]
    shares, values = np.array([0.3, 0.7]), []
    for _ in range(6):
        joint = np.stack([rows.log_prob(model) for model in models], axis=1) + np.log(shares)
        log = np.logaddexp.reduce(joint, axis=1)
        values.append(float(rows.weights @ log))
        share = np.exp(joint - log[:, None])
        models = [rows.refilled(rows.weights * share[:, h], models[h], 1e-9) for h in range(2)]
        shares = rows.weights @ share / rows.weights.sum()
    assert (np.diff(values) > -1e-6).all()
    assert values[-1] > values[0] + 1
    seen = (missing >= 0).all(axis=1)
    assert 10 < seen.sum() < 100
    few = Complete(WideRows.of(Empirical.from_codes(whole[seen], space=space)))
    scores = []
    for table in (rows, few):
        run = Learner(table, None).run(RunOptions(2, 1, 1.0), np.random.default_rng(0))
        scores.append(float(held.weights @ run.model.log_prob(held)) / held.weights.sum())
    assert scores[0] > scores[1]


def test_shares_of_a_mixture_go_to_the_likelier_part() -> None:
    """Em on the shares alone: the likelihood at the end is at least that of equal shares and of every part."""
    rng = np.random.default_rng(9)
    logs, weights = rng.normal(-3, 1, (200, 3)), rng.random(200)
    shares = best_shares(logs, weights)

    def value(w: np.ndarray) -> float:
        return float(weights @ np.log(np.exp(logs) @ w))

    assert shares.sum() == pytest.approx(1.0)
    assert value(shares) > max(value(np.full(3, 1 / 3)), *(value(e) for e in np.eye(3))) - 0.5


def test_pruning_shortens_the_description_where_dropping_by_second_order_would_not() -> None:
    """Rare levels make log p far from quadratic: every round is refitted, and none makes the description longer."""
    rng = np.random.default_rng(5)
    rows = (rng.random((3000, 10)) < 0.02).astype(np.int64)
    for i in range(3, 10):
        rows[:, i] |= rows[:, i - 1] & (rng.random(3000) < 0.9)
        rows[:, i] |= rows[:, i - 2] & rows[:, i - 3]
    told: list[object] = []
    fitted = fit_wide(Empirical.from_codes(rows), WideOptions(4, penalty=0.1), told.append)
    costs = [step.cost for step in fitted.history if step.move == "prune"]
    assert len(costs) > 1
    assert (np.diff(costs) < 0).all()
    assert len(fitted.model.terms) == fitted.history[-1].n_terms


def test_sweeps_over_rows_with_gaps_are_sums_over_completions() -> None:
    """log Z(row), expected counts and draws of rows with missing values, against enumeration, families in any order."""
    families, order = [(0,), (1,), (2, 0), (3, 1), (2, 4, 0)], (1, 3, 0, 2, 4)
    strides = [np.concatenate([[1], np.cumprod([CARDS[i] for i in f])[:-1]]).astype(np.int64) for f in families]
    sweeps, rng, every = Sweeps.of(CARDS, order, families, strides), np.random.default_rng(0), states(CARDS)
    values = rng.normal(0, 2, int(sweeps.starts[-1]))
    place = [sweeps.starts[v] + every[:, families[v]] @ strides[v] for v in range(5)]
    exponents = sum(values[where] for where in place)
    rows = np.stack([rng.integers(-1, card, 60) for card in CARDS], axis=1).astype(np.int16)
    weights, log_z, counts = rng.uniform(0.5, 2, 60), np.empty(60), np.zeros(len(values))
    for r, row in enumerate(rows):
        fits = ((every == row) | (row < 0)).all(axis=1)
        log_z[r] = np.logaddexp.reduce(exponents[fits])
        for where in place:
            np.add.at(counts, where[fits], weights[r] * np.exp(exponents[fits] - log_z[r]))
    found, expected = sweeps.expected(rows, weights, values)
    assert found == pytest.approx(log_z)
    assert sweeps.log_z(rows, values) == pytest.approx(log_z)
    assert expected == pytest.approx(counts)
    row = np.array([-1, 1, -1, -1, 1], dtype=np.int16)
    drawn = sweeps.draw(np.repeat(row[None], 20_000, axis=0), values, rng)
    fits = ((every == row) | (row < 0)).all(axis=1)
    p = np.exp(exponents[fits] - np.logaddexp.reduce(exponents[fits]))
    shares = np.array([(drawn == state).all(axis=1).mean() for state in every[fits]])
    assert shares == pytest.approx(p, abs=0.02)
    assert shares.sum() == pytest.approx(1.0)


def test_an_interruption_of_em_keeps_the_weights_so_far() -> None:
    """Ctrl-C during em: the terms stay, the status says so, and the likelihood is that of the weights kept."""
    rng, rows = np.random.default_rng(2), chain(8, 400, 7)
    rows[rng.random(rows.shape) < 0.2] = -1
    data = Empirical.from_codes(rows, space=Space.of_cards((2,) * 8), allow_missing=True)

    def watch(progress: Progress) -> None:
        if progress.move == "em":
            assert progress.snapshot().status == "interrupted"
            raise KeyboardInterrupt

    fitted = fit_wide(data, WideOptions(max_width=2), watch)  # type: ignore[arg-type]
    assert fitted.status == "interrupted"
    assert np.exp(fitted.model.log_prob(states((2,) * 8))).sum() == pytest.approx(1.0)
    seen = [(states((2,) * 8) == row) | (row < 0) for row in data.states]
    log_prob = fitted.model.log_prob(states((2,) * 8))
    mean = sum(c * np.logaddexp.reduce(log_prob[s.all(axis=1)]) for s, c in zip(seen, data.counts, strict=True))
    assert -fitted.divergence - fitted.entropy == pytest.approx(mean / data.total)


def test_columns_of_more_than_256_levels() -> None:
    """Codes are as wide as they need to be."""
    X = np.column_stack([np.arange(600) % 300, np.arange(600) % 300 >= 250]).astype(int)
    model = FullSpan(engine="elimination", max_levels=400, max_width=1).fit(X)
    assert model.probability({"x0": 299}) == pytest.approx(model.probability({"x0": 3}), rel=0.2)


@pytest.mark.parametrize("choice", [{"engine": "elimination"}, {"shrinkage": "evidence"}], ids=["wide", "shrunken"])
@pytest.mark.parametrize("average", [1, 2])
def test_constant_columns_alone_are_certain(choice: dict[str, str], average: int) -> None:
    """One state has all the probability, and there are no terms."""
    rows = [["x", "y"]] * 6
    model = FullSpan(average=average, random_state=0, **choice).fit(rows)
    assert len(model.terms_) == 0
    assert model.score(rows) == pytest.approx(0.0, abs=1e-12)
    assert model.sample(2, random_state=0).tolist() == rows[:2]


@pytest.mark.parametrize(
    ("n_rows", "columns", "share"), [(200, 30, 0.25), (9_999, 80, 0.512), (10_000, 30, 1.0), (200, 200, 0.5)]
)
def test_few_rows_of_few_columns_get_fewer_cells(n_rows: int, columns: int, share: float) -> None:
    """A quarter of 2^20 at the least; all from 10,000 rows on; less beyond 100 columns."""
    assert cells_for([2] * columns, n_rows) == int(2**20 * share)
