"""Odds ratios, ratios of cells and nats saved are facts of the distribution: the same through every door, and right."""

from __future__ import annotations

import itertools
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullspan as fs
from fullspan.data import count
from fullspan.errors import BoundaryWarning, FullspanError
from fullspan.model.algebra import local_row

TWO_BY_TWO = [["n", "n"]] * 1000 + [["n", "y"]] * 100 + [["y", "n"]] * 100 + [["y", "y"]] * 1000


def table_of(counts: np.ndarray) -> pd.DataFrame:
    """A frame with one row per cell and its count."""
    rows = [(*map(str, cell), int(n)) for cell, n in np.ndenumerate(counts)]
    return pd.DataFrame(rows, columns=[*(f"v{i}" for i in range(counts.ndim)), "n"])


def random_counts(seed: int, shape: tuple[int, ...], total: int = 2000) -> np.ndarray:
    """A table of positive counts with interactions of all orders."""
    rng = np.random.default_rng(seed)
    p = np.exp(rng.normal(0, 0.7, shape))
    return rng.multinomial(total, (p / p.sum()).ravel()).reshape(shape) + 1


def zero_sum(log_p: np.ndarray, own: tuple[int, ...]) -> np.ndarray:
    """The sum-to-zero component of a set by brute force, other variables averaged under the distribution."""
    p = np.exp(log_p)
    u = log_p
    for i in own:
        u = u - u.mean(axis=i, keepdims=True)
    rest = tuple(i for i in range(log_p.ndim) if i not in own)
    return np.sum(u * p.sum(axis=own, keepdims=True), axis=rest)


def joint(model) -> np.ndarray:
    return np.log(model.distribution_.joint())


def assert_effects_are_those_of_the_distribution(model) -> None:
    """Pairs with two levels have 4 u, all else the u of the cell named, by brute force."""
    log_p = joint(model)
    for one in model.interactions_:
        u = zero_sum(log_p, tuple(model.space_.position(name) for name in one.variables))
        for effect in one.effects:
            cell = tuple(int(event.split("=")[1]) for event in effect.events)
            expected = u[cell] * (4 if one.kind == "odds ratio" else 1)
            assert effect.log_ratio == pytest.approx(expected, abs=1e-6)


# -- the 2 x 2 table ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        fs.FullSpan(),
        fs.FullSpan(basis="walsh"),
        fs.FullSpan(basis="monomial"),
        fs.FullSpan(basis="indicator"),
        fs.FullSpan(search="paper"),
        fs.FullSpan(engine="elimination"),
        fs.BoltzmannMachine(order=2),
        fs.BoltzmannMachine(order=2, basis="walsh"),
        fs.BoltzmannMachine(order=2, solver="ipf"),
        fs.TruncatedBoltzmannMachine(max_order=2, states="all"),
        fs.DecimatableBoltzmannMachine(graph=[("x0", "x1")]),
        fs.ChowLiuTree(),
    ],
    ids=lambda m: f"{type(m).__name__}-{m.get_params().get('basis')}-{m.get_params().get('average')}",
)
def test_one_table_has_one_odds_ratio_and_one_number_of_nats(model):
    """Odds ratio 100, 855 nats of mutual information, whoever says it; the columns themselves have shares."""
    model.fit(TWO_BY_TWO)
    (one,) = model.interactions_
    assert one.variables == ("x0", "x1")
    assert one.kind == "odds ratio"
    assert 97.5 < one.effects[0].ratio < 100.5
    assert one.nats_saved == pytest.approx(854.72, rel=0.02)
    assert one.direction == 1
    assert one.words.startswith("x0=y goes with x1=y (odds ×")
    if hasattr(model, "terms_"):
        assert "favoured" not in repr(model.terms_)
        assert all("50.0% of rows" in row.words for row in model.terms_ if row.order == 1)


def test_the_interval_is_that_of_the_weights():
    """Wald: log 100 ± 1.96 sqrt(1/1000 + 1/100 + 1/100 + 1/1000)."""
    model = fs.BoltzmannMachine(order=2).fit(TWO_BY_TWO)
    half = 1.959964 * math.sqrt(0.022)
    (row,) = model.conf_int()
    assert [row["low"], row["high"]] == pytest.approx([100 * math.exp(-half), 100 * math.exp(half)], rel=1e-6)
    narrow = model.conf_int(0.5)[0]
    assert row["low"] < narrow["low"] < 100 < narrow["high"] < row["high"]
    assert "low (95%)" in repr(model.conf_int())
    with pytest.raises(FullspanError, match="between 0 and 1"):
        model.conf_int(95)


# -- outside references ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ucb", "hair_eye"])
@pytest.mark.parametrize("basis", ["monomial", "walsh", "indicator"])
def test_published_tables_as_r_has_them(shared_data, name, basis):
    """Odds ratios with Wald intervals, and nats lost when an interaction is dropped, of R's glm with all pairs."""
    facts = json.loads(shared_data(f"effects/{name}.json").read_text())
    levels, shape = facts["variables"], [len(own) for own in facts["variables"].values()]
    cells = np.array(facts["cells"]).reshape(shape, order="F")
    rows = [
        {n: own[k] for (n, own), k in zip(levels.items(), at, strict=True)} | {"count": c}
        for at, c in np.ndenumerate(cells)
    ]
    model = fs.BoltzmannMachine(order=2, basis=basis, count_column="count", levels=levels).fit(pd.DataFrame(rows))
    found = {frozenset(one.variables): one for one in model.interactions_}
    for pair, nats in facts["nats_lost_when_dropped_and_refitted"].items():
        assert found[frozenset(pair.split(":"))].nats_saved == pytest.approx(nats, rel=1e-6, abs=1e-6)
    for odds in facts["odds_ratios"]:
        one = found[frozenset((odds["a"], odds["b"]))]
        assert set(one.effects[0].events) == {f"{odds[k]}={odds[k + '_level']}" for k in "ab"}
        assert one.effects[0].ratio == pytest.approx(odds["odds_ratio"], rel=1e-5)
        assert one.effects[0].interval() == pytest.approx((odds["low"], odds["high"]), rel=1e-4)


# -- laws -----------------------------------------------------------------------------------------------------

shapes = st.sampled_from([(2, 2, 2), (2, 3, 2), (3, 4), (2, 2, 3), (4, 2, 2), (2, 2, 2, 2)])


@settings(max_examples=12, deadline=None)
@given(shapes, st.integers(0, 10**6))
def test_effects_are_those_of_the_distribution(shape, seed):
    """By brute force: pairs with two levels 4 u, all else the mean of u over the cells named; whatever the basis."""
    counts = random_counts(seed, shape)
    frame = table_of(counts)
    for basis in ("monomial", "walsh", "indicator"):
        model = fs.BoltzmannMachine(order=3, basis=basis, count_column="n").fit(frame)
        assert_effects_are_those_of_the_distribution(model)


@settings(max_examples=8, deadline=None)
@given(shapes, st.integers(0, 10**6))
def test_every_basis_and_estimator_says_the_same(shape, seed):
    """Same distribution, same words, intervals and nats: larger interactions included."""
    frame = table_of(random_counts(seed, shape))
    told = []
    for basis in ("monomial", "walsh", "indicator"):
        model = fs.BoltzmannMachine(order=3, basis=basis, count_column="n", tol=1e-11).fit(frame)
        told.append({one.variables: one for one in model.interactions_})
    for other in told[1:]:
        assert other.keys() == told[0].keys()
        for key, one in told[0].items():
            assert other[key].words == one.words
            assert other[key].nats_saved == pytest.approx(one.nats_saved, rel=1e-4, abs=1e-4)
            for a, b in zip(one.effects, other[key].effects, strict=True):
                assert b.standard_error == pytest.approx(a.standard_error, rel=1e-4)
            for end in ("smallest", "largest"):
                assert getattr(other[key], end) == pytest.approx(getattr(one, end), rel=1e-5, nan_ok=True)


def test_the_ends_of_an_odds_ratio_that_depends_on_others():
    """Smallest and largest are the conditional odds ratios met; the average is geometric, under the model."""
    counts = random_counts(3, (2, 2, 2))
    model = fs.BoltzmannMachine(order=3, count_column="n").fit(table_of(counts))
    p = np.exp(joint(model))
    log_or = np.log(p[1, 1] * p[0, 0] / (p[0, 1] * p[1, 0]))
    one = next(row for row in model.interactions_ if row.variables == ("v0", "v1"))
    assert [one.smallest, one.largest] == pytest.approx(np.exp([log_or.min(), log_or.max()]))
    assert one.effects[0].log_ratio == pytest.approx(float(p.sum(axis=(0, 1)) @ log_or))
    assert " on average; " in one.words


def log_likelihood_of(frame, sets, **options):
    """Of a machine with the terms of some sets of two-level variables, in the Walsh basis."""
    machine = fs.BoltzmannMachine(
        order=None, terms=[list(own) for own in sets], basis="walsh", count_column="n", **options
    )
    return machine.fit(frame).log_likelihood_


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("l2", [0.0, 0.003])
def test_nats_are_those_of_a_refit(seed, l2):
    """Every term and interaction of random tables, with and without a ridge."""
    frame = table_of(random_counts(seed, (2, 2, 2, 2), 300))
    names = [f"v{i}" for i in range(4)]
    sets = [own for r in (1, 2, 3) for own in itertools.combinations(names, r)]
    model = fs.BoltzmannMachine(order=3, basis="walsh", count_column="n", l2=l2).fit(frame)
    whole = log_likelihood_of(frame, sets, l2=l2)
    loss = {
        dropped: whole - log_likelihood_of(frame, [own for own in sets if own != dropped], l2=l2) for dropped in sets
    }
    assert not any(one.approximate for one in model.interactions_)
    for one in (*model.interactions_, *model.terms_):
        assert one.nats_saved == pytest.approx(loss[tuple(one.variables)], rel=1e-3, abs=1e-3)


def penalised_refit(model, dropped: set[int]) -> float:
    """Loss of the rows when terms of a search are dropped: SciPy's optimiser on the table of all states."""
    from scipy.optimize import minimize

    fitted, data = model.fitted_, model._empirical
    space, basis = model.space_, model.model_.basis
    phi = basis.evaluate(model.model_.terms, space.states(np.arange(space.n_states))).astype(float)
    seen = phi[space.index(data.states)]
    mean, precision = fitted.prior
    kept = [k for k in range(len(mean)) if k not in dropped]
    d = (data.counts @ seen + phi.mean(axis=0)) / (data.total + 1)

    def objective(z):
        theta = np.zeros(len(mean))
        theta[kept] = z
        f = phi @ theta
        log_z = np.logaddexp.reduce(f)
        pull = precision * (theta - mean)
        value = log_z - theta @ d + 0.5 * float(pull @ (theta - mean)) / data.total
        return value, (np.exp(f - log_z) @ phi - d + pull / data.total)[kept]

    z = minimize(objective, model.model_.theta[kept], jac=True, method="BFGS", options={"gtol": 1e-9}).x
    theta = np.zeros(len(mean))
    theta[kept] = z
    log_prob = seen @ theta - np.logaddexp.reduce(phi @ theta)
    return float(data.counts @ (model.model_.log_prob(data.states) - log_prob))


@pytest.mark.parametrize("basis", ["walsh", "monomial"])
def test_nats_of_a_search_keep_its_prior(basis):
    """Pseudo-row and fitted prior stay as they are when a term goes."""
    counts = random_counts(1, (2, 2, 2, 2, 2), 4000)
    model = fs.FullSpan(basis=basis, count_column="n").fit(table_of(counts))
    names = model.space_.names
    place = {tuple(names[i] for i, _ in term): k for k, term in enumerate(model.model_.terms)}
    assert len(model.terms_) > 4
    for row in model.terms_:
        assert row.nats_saved == pytest.approx(penalised_refit(model, {place[row.variables]}), rel=0.01, abs=0.05)


def test_nats_with_missing_cells_and_hidden_units_are_those_of_refits():
    rng = np.random.default_rng(0)
    cells = np.column_stack([base := rng.integers(0, 2, 400), base ^ (rng.random(400) < 0.2), rng.integers(0, 2, 400)])
    frame = pd.DataFrame(cells, columns=list("abc")).astype("Int64").mask(rng.random((400, 3)) < 0.1)
    whole = fs.BoltzmannMachine(order=2, missing="em").fit(frame)
    for one in whole.interactions_:
        rest = [["a"], ["b"], ["c"], *(p for p in (["a", "b"], ["a", "c"], ["b", "c"]) if tuple(p) != one.variables)]
        without = fs.BoltzmannMachine(order=None, terms=rest, missing="em").fit(frame)
        lost = whole.log_likelihood_ - without.log_likelihood_
        assert one.nats_saved == pytest.approx(lost, rel=0.01, abs=0.01)


def test_conditional_models_are_refitted_given_their_inputs():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, (500, 2))
    y = (rng.random(500) < 1 / (1 + np.exp(-(2.0 * x[:, 0] - 1)))).astype(int)
    model = fs.BoltzmannClassifier(basis="walsh", l2=0.0).fit(x, y)
    strongest = model.interactions_[0]
    assert set(strongest.variables) == {"x0", "y"}
    without = fs.BoltzmannClassifier(basis="walsh", l2=0.0, order=None, terms=[["y"], ["x1", "y"]]).fit(x, y)
    lost = model.log_likelihood_ - without.log_likelihood_
    assert strongest.nats_saved == pytest.approx(lost, rel=1e-3)


def test_averages_speak_of_their_mean_distribution():
    counts = random_counts(5, (2, 3, 2), 3000)
    model = fs.FullSpan(average=4, random_state=0, count_column="n").fit(table_of(counts))
    assert_effects_are_those_of_the_distribution(model)
    members = [{frozenset(i for i, _ in term) for term in member.terms} for member in model.model_.members]
    for one in model.interactions_:
        own = frozenset(model.space_.position(name) for name in one.variables)
        assert one.chosen <= np.mean([any(own <= other for other in member) for member in members]) + 1e-12


@pytest.mark.parametrize(("basis", "most"), [("walsh", 1.5), ("monomial", 8.0)])
def test_approximations_are_marked_and_bounded(basis, most, monkeypatch):
    """Where a table is too large for refits, numbers carry a tilde: near on spins, of the right size on 0/1 units."""
    from fullspan.learn.effects import objectives

    counts = random_counts(8, (2,) * 6, 3000)
    frame = table_of(counts)
    exact = {row.variables: row for row in fs.FullSpan(basis=basis, count_column="n").fit(frame).terms_}
    monkeypatch.setattr(objectives, "MOST_STATES", 8)
    model = fs.FullSpan(basis=basis, count_column="n").fit(frame)
    assert all(row.approximate for row in model.terms_)
    assert all(one.approximate for one in model.interactions_)
    assert "~" in repr(model.terms_)
    ratios = [row.nats_saved / exact[row.variables].nats_saved for row in model.terms_ if row.nats_saved > 1]
    assert len(ratios) > 10
    assert all(1 / most < ratio < most for ratio in ratios)


# -- summaries ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("basis", ["monomial", "walsh", "indicator"])
@pytest.mark.parametrize("coding", ["sum", "treatment"])
def test_coefficients_of_a_coding_do_not_depend_on_the_basis(basis, coding):
    """And a positive one means more of the named levels: in the sum-to-zero coding it is u of the cell."""
    frame = table_of(random_counts(11, (2, 3, 2)))
    model = fs.BoltzmannMachine(order=2, basis=basis, count_column="n").fit(frame)
    reference = fs.BoltzmannMachine(order=2, count_column="n").fit(frame).summary(coding)
    found = model.summary(coding)
    assert [c.term for c in found.coefficients] == [c.term for c in reference.coefficients]
    for a, b in zip(found.coefficients, reference.coefficients, strict=True):
        assert a.estimate == pytest.approx(b.estimate, abs=1e-6)
        assert a.standard_error == pytest.approx(b.standard_error, rel=1e-4)
    log_p = joint(model)
    for c in found.coefficients:
        cell = {int(part[1]): int(part.split("=")[1]) for part in c.term.split(":")}
        if coding == "sum":
            u, axes = log_p, tuple(i for i in range(3) if i not in cell)
            for i in cell:
                u = u - u.mean(axis=i, keepdims=True)
            expected = u.mean(axis=axes)[tuple(cell.values())]
        else:
            parts = itertools.chain.from_iterable(itertools.combinations(cell, r) for r in range(len(cell) + 1))
            expected = sum(
                (-1) ** (len(cell) - len(own)) * log_p[tuple(cell[i] if i in own else 0 for i in range(3))]
                for own in parts
            )
        assert c.estimate == pytest.approx(expected, abs=1e-6)
    assert ("sum-to-zero" if coding == "sum" else "treatment") in found.text()


@pytest.mark.parametrize("basis", ["monomial", "walsh", "indicator"])
@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 3, 4)])
def test_a_positive_weight_means_more_of_what_its_label_names(basis, shape):
    """The function of a term is 1 in every cell that its label names, so that its weight counts for these cells."""
    frame = table_of(random_counts(3, shape))
    model = fs.BoltzmannMachine(order=3, basis=basis, count_column="n").fit(frame)
    found = model.summary("basis").coefficients
    fitted = model.model_
    for coefficient, term in zip(found, fitted.terms, strict=True):
        named = {}
        for part in coefficient.term.split(":"):
            name, levels = re.fullmatch(r"v(\d)(?:=| in )\{?([\d, ]+)\}?", part).groups()
            named[int(name)] = [int(level) for level in levels.split(", ")]
        assert set(named) == {i for i, _ in term}
        for i, j in term:
            row = local_row(fitted.basis, i, j)
            assert sorted(named[i]) == [x for x in range(shape[i]) if row[x] == 1]


def test_an_average_of_spins_has_a_negative_weight_for_a_rare_level():
    """Its coefficients are those of the basis, and level n of x0 has a tenth of the rows."""
    rows = pd.DataFrame({"x0": ["y"] * 900 + ["n"] * 100, "x1": ["y", "n"] * 500})
    found = {c.term: c.estimate for c in fs.FullSpan(average=2, random_state=0).fit(rows).summary().coefficients}
    assert found["x0=n"] < -0.5


def test_p_values_stand_next_to_given_terms_only():
    frame = table_of(random_counts(2, (2, 2, 2)))
    given_terms = fs.BoltzmannMachine(order=2, count_column="n").fit(frame).summary()
    searched = fs.FullSpan(count_column="n").fit(frame).summary()
    assert "p-value" in given_terms.text()
    assert all(0 <= c.p_value <= 1 for c in given_terms.coefficients)
    assert "chosen by a search" in searched.text()
    assert "p-value" not in searched.text().split("chosen by a search")[0]
    assert all(math.isnan(c.p_value) for c in searched.coefficients)


def test_sparse_tables_carry_a_caution():
    """More than a fifth of the cells with an expected count below 5."""
    few = fs.BoltzmannMachine(order=1, count_column="n").fit(table_of(np.array([[1, 2], [3, 2]])))
    many = fs.BoltzmannMachine(order=1, count_column="n").fit(table_of(np.array([[100, 200], [300, 200]])))
    assert "unreliable" in few.summary().text()
    assert "unreliable" not in many.summary().text()
    with pytest.raises(FullspanError, match="coding is 'dummy'"):
        many.summary("dummy")


def test_a_weight_at_the_boundary_is_said_to_be_there():
    """Two levels that never meet: no number stands for the infinite odds ratio."""
    counts = np.array([[500, 0], [300, 200]])
    with pytest.warns(BoundaryWarning):
        model = fs.BoltzmannMachine(order=2, count_column="n").fit(table_of(counts))
    (one,) = model.interactions_
    assert one.effects[0].log_ratio == math.inf
    assert "∞, at the boundary: no finite maximum" in one.words
    assert math.isnan(one.effects[0].interval()[0])
    assert "10^" not in repr(model.terms_) + repr(model.interactions_)


def test_ordered_levels_are_grouped_as_ranges():
    """A numeric column in four bins, of which the upper half goes with the other variable."""
    rng = np.random.default_rng(0)
    age = rng.uniform(0, 80, 4000)
    smoker = np.where(rng.random(4000) < np.where(age > 40, 0.7, 0.2), "yes", "no")
    edges = [0, 20, 40, 60, 80]
    model = fs.FullSpan(bins={"age": edges}).fit(pd.DataFrame({"age": age, "smoker": smoker}))
    (one,) = model.interactions_
    assert "age ≥ 40 with smoker=yes ×" in one.words
    assert "in {" not in one.words


def test_dropping_an_interaction_leaves_the_main_effects_that_it_stood_for():
    """A model of products of three and two levels without main effects: what is lost is against independence."""
    counts = np.array([[400, 30], [300, 60], [100, 110]])
    model = fs.BoltzmannMachine(order=None, terms=[["v0", "v1"]], count_column="n").fit(table_of(counts))
    alone = fs.BoltzmannMachine(order=1, count_column="n").fit(table_of(counts))
    (one,) = model.interactions_
    assert one.nats_saved == pytest.approx(model.log_likelihood_ - alone.log_likelihood_, rel=1e-4)


def test_a_search_without_main_effects_says_what_the_others_say():
    """Counts 300, 300, 300, 900 are one product of 0/1 units: odds ratio 3, N I = 55 nats, Wald's interval."""
    rows = [["n", "n"]] * 300 + [["n", "y"]] * 300 + [["y", "n"]] * 300 + [["y", "y"]] * 900
    half = 1.959964 * math.sqrt(3 / 300 + 1 / 900)
    for basis in ("auto", "walsh", "monomial", "indicator"):
        (one,) = fs.FullSpan(basis=basis).fit(rows).interactions_
        assert one.nats_saved == pytest.approx(55.0, rel=0.02)
        assert one.effects[0].interval() == pytest.approx((3 * math.exp(-half), 3 * math.exp(half)), rel=0.02)


def test_pairs_inside_a_product_of_three_are_listed():
    """One product of three 0/1 units alone: its pairs have odds ratios too, and every basis lists them."""
    counts = np.full((2, 2, 2), 100)
    counts[1, 1, 1] = 900
    for basis in ("monomial", "walsh"):
        found = fs.FullSpan(basis=basis, count_column="n").fit(table_of(counts)).interactions_
        pairs = {one.variables: one for one in found if one.order == 2}
        assert len(pairs) == 3
        assert all(one.effects[0].log_ratio > 0.5 for one in pairs.values())


@pytest.mark.parametrize("basis", ["monomial", "walsh", "indicator"])
def test_what_is_not_determined_at_the_boundary_is_said_to_be_so(basis):
    """a=y never meets b=y: their odds ratio is 0, and nothing is known of c where they would meet."""
    cells = {"nnn": 10, "nny": 12, "nyn": 8, "nyy": 5, "ynn": 9, "yny": 14}
    frame = pd.DataFrame([(*cell, n) for cell, n in cells.items()], columns=["a", "b", "c", "n"])
    with pytest.warns(BoundaryWarning):
        model = fs.BoltzmannMachine(order=3, basis=basis, count_column="n").fit(frame)
    found = {"".join(one.variables): one for one in model.interactions_}
    assert found["ab"].effects[0].log_ratio == -math.inf
    for name in ("ac", "bc", "abc"):
        assert math.isnan(found[name].effects[0].log_ratio)
        assert "not determined, at the boundary" in found[name].words
        assert found[name].direction == 0


# -- what the numbers of a row speak of ----------------------------------------------------------------------------


def three_columns(third=0.9, size=60.0):
    """Counts of three columns whose first two go together where the third is y, and against each other else."""
    codes = np.array(list(itertools.product((0, 1), repeat=3)))
    spins = 1.0 - 2.0 * codes
    counts = np.rint(size * np.exp(third * spins.prod(axis=1) - 0.4 * spins[:, 0] * spins[:, 1])).astype(int)
    return np.repeat(np.array(["n", "y"])[codes], counts, axis=0)


def test_an_interaction_within_a_larger_one_says_so():
    """Odds and interval are of both together, the nats of its own part: the line, the table and the JSON say it."""
    found = fs.BoltzmannMachine(order=3).fit(three_columns()).interactions_
    pair = next(one for one in found if one.variables == ("x0", "x1"))
    assert pair.within == (("x0", "x1", "x2"),)
    assert "[within 1 larger]" in str(found)
    assert "within: larger interactions contain it" in str(found)
    assert [one["within"] for one in found.to_dicts() if one["order"] == 3] == [[]]
    assert next(one for one in found[:3] if one.order == 2).within, "a slice keeps what the whole table knows"


def test_an_interaction_that_saves_nothing_is_marked_weak():
    rows = np.repeat([["n", "n"], ["n", "y"], ["y", "n"], ["y", "y"]], [100, 101, 102, 101], axis=0)
    found = fs.BoltzmannMachine(order=2).fit(rows).interactions_
    assert found[0].is_weak
    assert "[weak]" in str(found)
    assert "do not tell it from no interaction" in " ".join(str(found).split())
    strong = fs.BoltzmannMachine(order=2).fit(three_columns(0.0)).interactions_
    assert not strong[0].is_weak
    assert next(one for one in strong if one.nats_saved < 0.1).is_weak


def test_an_odds_ratio_that_is_printed_as_one_has_no_direction():
    rows = np.repeat([["n", "n"], ["n", "y"], ["y", "n"], ["y", "y"]], [20000, 20000, 20000, 19999], axis=0)
    one = fs.BoltzmannMachine(order=2).fit(rows).interactions_[0]
    assert one.effects[0].log_ratio < 0
    assert one.direction == 0
    assert one.words == "x0=y and x1=y (odds ×1)"


def test_a_column_of_intervals_needs_an_interval():
    rows = three_columns(0.0)
    assert "95 % interval" in fs.BoltzmannMachine(order=2).fit(rows).interactions_.headings
    averaged = fs.BoltzmannMachine(order=2, average=2, random_state=1).fit(rows)
    assert "95 % interval" not in str(averaged.interactions_)


def test_singular_models_have_no_p_values_but_a_sentence():
    rows = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (300, 4)), columns=list("abcd"))
    found = fs.BoltzmannMachine(order=2, hidden=1, l2=0.01, random_state=0).fit(rows).summary()
    assert all(math.isnan(c.p_value) for c in found.coefficients)
    assert found.goodness is None or math.isnan(found.goodness.p_value)
    text = found.text()
    assert "Models with hidden variables are singular" in text
    assert [row[:3] for row in found.coefficient_rows(1)] == found.coefficient_rows(1)
    assert "singular" not in fs.BoltzmannMachine(order=2).fit(rows).summary().text()


def test_mined_patterns_have_no_p_values_and_sparse_cells_a_caution():
    rows = (np.random.default_rng(3).random((60, 5)) < 0.4).astype(int)
    mined = fs.TruncatedBoltzmannMachine(min_support=5, l2=0.01).fit(rows).summary()
    assert "chosen from the same rows" in str(mined)
    assert "caution: the expected count is below 5" in str(mined)
    assert math.isnan(mined.goodness.p_value)
    assert math.isnan(mined.to_dict()["goodness"]["pearson_p_value"])
    given = fs.TruncatedBoltzmannMachine(patterns=[["x0"], ["x1"]], l2=0.01).fit(rows).summary()
    assert given.goodness.p_value >= 0
    assert "chosen from the same rows" not in str(given)


def test_an_average_saves_no_more_than_the_rows_allow():
    """At most N times the information that the two columns share."""
    frame = pd.DataFrame({"smoke": ["n", "n", "y", "y"], "ill": ["n", "y", "n", "y"], "n": [60, 10, 25, 35]})
    p = frame["n"].to_numpy().reshape(2, 2) / frame["n"].sum()
    most = frame["n"].sum() * float(np.sum(p * np.log(p / np.outer(p.sum(axis=1), p.sum(axis=0)))))
    found = fs.FullSpan(average=2, random_state=0, count_column="n").fit(frame).interactions_
    assert 0 < found[0].nats_saved <= most + 1e-6


def test_more_parameters_than_states_are_remarked():
    frame = pd.DataFrame({"smoke": ["n", "n", "y", "y"], "ill": ["n", "y", "n", "y"], "n": [60, 10, 25, 35]})
    tree = fs.HiddenChowLiuTree(count_column="n", random_state=1).fit(frame)
    assert "parameters (more than the 4 states)" in tree._shown(3).blocks[0]


def without_pair(model, rows, pair):
    """``log p`` of the rows under an average of machines whose fits have been made again without a pair."""
    from fullspan.learn.base import bootstrap

    data = count(rows, missing="em")
    pairs = [list(two) for two in itertools.combinations(rows.columns, 2) if set(two) != set(pair)]
    own = {"basis": model.basis, "l2": model.l2, "missing": model.missing, "tol": 1e-9}
    found = []
    for _, seed in model.fitted_.members:
        sample = data if seed is None else bootstrap(data, np.random.default_rng(seed)).data
        codes = pd.DataFrame(np.asarray(sample.states, dtype=float), columns=rows.columns)
        written = codes.mask(codes < 0).assign(n=sample.counts)
        again = fs.BoltzmannMachine(order=None, margins=[*pairs, *([v] for v in rows)], count_column="n", **own)
        found.append(
            again.set_params(levels={v: [0.0, 1.0] for v in rows}).fit(written).score_samples(rows.astype(float))
        )
    return np.logaddexp.reduce(found, axis=0) - math.log(len(found))


@pytest.mark.parametrize("options", [{}, {"l2": 0.02, "basis": "walsh"}, {"l2": 0.02, "missing": "em"}], ids=str)
def test_an_average_loses_what_its_fits_lose_when_made_again(options):
    """Each fit of an average, made again to its own bootstrap sample without the pair; their mean, then."""
    rows = pd.DataFrame(np.random.default_rng(5).integers(0, 2, (60, 3)), columns=list("abc"))
    rows["b"] = np.where(np.arange(60) % 4 > 0, rows["a"], rows["b"])
    if "missing" in options:
        rows = rows.astype(float).mask(np.random.default_rng(1).random(rows.shape) < 0.08)
    model = fs.BoltzmannMachine(order=2, average=3, random_state=0, **options).fit(rows)
    for one in model.interactions_:
        lost = float(np.sum(model.score_samples(rows) - without_pair(model, rows, one.variables)))
        assert not one.approximate
        assert one.nats_saved == pytest.approx(lost, rel=0.02, abs=0.02)


def test_other_models_in_an_average_lose_the_interaction_too():
    """Networks next to the fits are projected: with both columns independent in every part, the average is, too."""
    from fullspan.learn.effects import average_losses

    frame = pd.DataFrame({"smoke": ["n", "n", "y", "y"], "ill": ["n", "y", "n", "y"], "n": [60, 10, 25, 35]})
    model = fs.FullSpan(average=5, random_state=0, count_column="n").fit(frame)
    assert model.model_.background
    p = frame["n"].to_numpy().reshape(2, 2) / frame["n"].sum()
    mutual = frame["n"].sum() * float(np.sum(p * np.log(p / np.outer(p.sum(axis=1), p.sum(axis=0)))))
    (one,) = model.interactions_
    assert one.nats_saved == pytest.approx(mutual, rel=0.1)
    (lost,) = average_losses.losses(model.fitted_, model.model_, count(frame, count_column="n"), [(0, 1)])
    assert lost == pytest.approx(one.nats_saved, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_nats_of_an_average_that_are_too_dear_are_marked_and_bounded(seed, monkeypatch):
    """What the fit of all rows loses stands in."""
    from fullspan.learn.effects import explain

    frame = table_of(random_counts(seed, (2, 3, 2), 400))
    make = lambda: fs.FullSpan(average=4, random_state=0, count_column="n").fit(frame)  # noqa: E731
    exact = {one.variables: one.nats_saved for one in make().interactions_}
    monkeypatch.setattr(explain, "affordable", lambda *_: 0)
    approximate = make().interactions_
    assert all(one.approximate for one in approximate)
    assert "~" in str(approximate)
    for one in approximate:
        if exact[one.variables] > 2:
            assert 0.6 < one.nats_saved / exact[one.variables] < 1.6


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: fs.FullSpan(count_column="n"), "posterior, under the prior that the search fitted"),
        (lambda: fs.FullSpan(count_column="n", search="paper"), "interval: the choice of the interactions"),
        (lambda: fs.FullSpan(count_column="n", engine="elimination"), "posterior, under the prior"),
        (lambda: fs.BoltzmannMachine(order=2, count_column="n"), None),
        (lambda: fs.FullSpan(count_column="n", average=2, random_state=0), None),
    ],
    ids=["search", "paper", "elimination", "given terms", "average without intervals"],
)
def test_the_table_says_what_its_intervals_are_after_a_search(make, says, tmp_path):
    """Under the table wherever it is printed: print, show, notebook, report, explorer, and after a file is read."""
    from fullspan.people.report import gather
    from fullspan.people.report.page import page

    frame = table_of(random_counts(3, (2, 2, 2), 1000))
    model = make().fit(frame)
    model.save(tmp_path / "m.fsm")
    again = fs.load(tmp_path / "m.fsm")
    blocks = [block for block in again._shown(5).blocks if isinstance(block, str)]
    texts = [str(model.interactions_), "\n".join(blocks), model._repr_html_(), model._links().note]
    texts.append(page(gather(model, frame)).replace("<em>95 % interval</em>", "interval"))
    for text in map(str.lower, texts):
        assert (says in text) if says else ("posterior" not in text and "choice of the interactions" not in text)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (fs.FullSpan(), "posterior, under the prior that the search fitted"),
        (fs.FullSpan(engine="elimination"), "posterior, under the prior that the search fitted"),
        (fs.FullSpan(search="paper"), "the choice of the interactions in the same rows is not accounted for"),
        (fs.FullSpan(search="paper", l1=0.01), "Weights are shrunk by l1=0.01"),
        (fs.BoltzmannMachine(order=2), ""),
        (fs.BoltzmannMachine(order=2, l2=0.01), "around weights that are shrunk by l2=0.01"),
        (fs.BoltzmannMachine(order=2, shrinkage="evidence"), "posterior, under the prior that was fitted"),
        (fs.FullSpan(average=2, random_state=0), "no intervals: the standard errors of this model are not known"),
        (fs.ChowLiuTree(), "no intervals: the standard errors of this model are not known"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_wherever_there_is_an_interval_it_says_what_it_is(model, sentence):
    """In the table of interactions, of intervals, in the summary and in the legend of the picture."""
    from fullspan.estimators.explain.pictures import effects

    model.fit(TWO_BY_TWO)
    intervals, whisker = " ".join(repr(model.conf_int()).split()), effects(model).whisker
    assert sentence in intervals
    assert ("interval" in intervals) == bool(sentence)
    assert ("posterior" in whisker) == ("posterior" in sentence)
    if not sentence.startswith("no"):
        assert sentence in " ".join(repr(model.interactions_).split())
        assert sentence in " ".join(repr(model.summary()).split())


def test_the_summary_of_an_average_gives_spreads_and_no_standard_errors():
    """Two fits that agree have no spread, and a standard error all the same."""
    model = fs.FullSpan(average=2, random_state=0).fit(TWO_BY_TWO)
    text = repr(model.summary())
    assert "spread" in text
    assert "std. error" not in text
    assert "not a standard error" in " ".join(text.split())
    assert all(math.isnan(one.z) for one in model.summary().coefficients)


def test_pairs_that_a_larger_interaction_stands_for_are_listed_below_it(tmp_path):
    """Spins with a term of three and none of two: where v0=1 is rare, v1 and v2 go together all the same."""
    counts = np.array([[[4000, 150], [150, 60]], [[150, 4], [4, 1]]])
    terms = [["v0"], ["v1"], ["v2"], ["v0", "v1", "v2"]]
    model = fs.BoltzmannMachine(order=None, terms=terms, basis="walsh", count_column="n").fit(table_of(counts))
    assert_effects_are_those_of_the_distribution(model)
    first, *pairs = model.interactions_
    assert first.variables == ("v0", "v1", "v2")
    assert sorted(first.lacking) == sorted(one.variables for one in pairs)
    assert "[without 3 of its pairs]" in repr(model.interactions_)
    assert "the model has nothing of these pairs alone" in repr(model.interactions_)
    for one in pairs:
        assert (one.nats_saved, one.approximate, one.has_part, one.lacking) == (0.0, False, False, ())
        assert one.effects[0].log_ratio > 1
        assert abs(one.effects[0].log_ratio) > abs(first.effects[0].log_ratio)
    from fullspan.estimators.explain.pictures import interactions

    assert [one.variables for one in interactions(model)] == [first.variables]
    model.save(tmp_path / "m.fsm")
    assert list(fs.load(tmp_path / "m.fsm").interactions_) == list(model.interactions_)
