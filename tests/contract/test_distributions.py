"""The laws of the Distribution protocol: every implementation against enumeration of a small space."""

from __future__ import annotations

import math

import numpy as np
import pytest

from contract.independent import Independent, IndependentDistribution
from contract.kinds import KINDS, NO_MODE, Made
from fullspan.arrays import Array
from fullspan.data import Space
from fullspan.errors import DataError, QueryError
from fullspan.query import Distribution
from fullspan.query.distributions import SampledDistribution
from fullspan.query.prediction import level_probabilities
from query.enumeration import Enumerated, all_states

Event = dict[int, tuple[int, ...]]
SIZE = 20_000


def _independent() -> Made:
    shares = (np.array([0.3, 0.7]), np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.4]))
    p = np.einsum("i,j,k->ijk", *shares)
    return IndependentDistribution(Independent(Space.of_cards((2, 3, 2)), shares)), p


ALL = {**KINDS, "from outside": _independent}


@pytest.fixture(params=ALL, scope="module")
def made(request: pytest.FixtureRequest) -> tuple[str, Distribution, Enumerated]:
    distribution, p = ALL[request.param]()
    return request.param, distribution, Enumerated(p)


GIVENS: tuple[Event, ...] = ({}, {1: (1,)}, {0: (1,), 2: (0,)}, {1: (0, 1)})


def _event(distribution: Distribution, given: Event) -> dict[str, object]:
    levels = [v.levels for v in distribution.space.variables]
    return {distribution.space.names[i]: [levels[i][x] for x in codes] for i, codes in given.items()}


def test_complete_rows_sum_to_one(made: tuple[str, Distribution, Enumerated]) -> None:
    """sum_x exp log_prob(x) = 1, and every p(x) is that of enumeration."""
    _, distribution, truth = made
    found = np.exp(distribution.log_prob(all_states(truth.p.shape))).reshape(truth.p.shape)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(found, truth.p, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(distribution.joint(), truth.p, rtol=1e-9, atol=1e-13)


def test_cells_that_are_not_observed_are_summed_over(made: tuple[str, Distribution, Enumerated]) -> None:
    """exp log_prob(row) = sum of p over the states that agree with the row, for every partial row."""
    _, distribution, truth = made
    rows = all_states(tuple(card + 1 for card in truth.p.shape)) - 1
    expected = [truth.p[truth.mask({i: (int(x),) for i, x in enumerate(row) if x >= 0})].sum() for row in rows]
    np.testing.assert_allclose(np.exp(distribution.log_prob(rows)), expected, rtol=1e-9, atol=1e-14)
    with pytest.raises(DataError):
        distribution.log_prob([[0]])


def test_many_boxes_at_once(made: tuple[str, Distribution, Enumerated]) -> None:
    """exp log_prob_of_boxes = the sum of p over each box: ranges, other sets of levels, all of them, and none."""
    _, distribution, truth = made
    last, cards = truth.p.ndim - 1, truth.p.shape
    written: list[Event] = [{}, {0: (1,)}, {1: (0, 2)}, {1: (1, 2), last: (0,)}, {0: (0, 1)}, {0: (0,), last: (1,)}]
    boxes = [{i: tuple(x for x in codes if x < cards[i]) for i, codes in box.items()} for box in written]
    expected = [truth.p[truth.mask(box)].sum() for box in boxes]
    np.testing.assert_allclose(np.exp(distribution.log_prob_of_boxes(boxes)), expected, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(
        distribution.probabilities_of([_event(distribution, box) for box in boxes]), expected, 1e-9
    )
    assert distribution.probability(_event(distribution, boxes[3])) == pytest.approx(expected[3], rel=1e-9)
    assert distribution.log_prob_of_boxes([{0: ()}, {}]).tolist() == [-math.inf, pytest.approx(0.0, abs=1e-12)]
    assert distribution.log_prob_of_boxes([]).shape == (0,)


@pytest.mark.parametrize("given", GIVENS)
@pytest.mark.parametrize("event", [{}, {0: (1,)}, {1: (0, 2), 2: (1,)}])
@pytest.mark.parametrize("where", [(), (1,), (2, 0)])
def test_cells(made: tuple[str, Distribution, Enumerated], where: tuple[int, ...], event: Event, given: Event) -> None:
    """P(where, event | given), axes in the order asked; what contradicts the condition has probability 0."""
    _, distribution, truth = made
    event = {i: tuple(x for x in codes if x < truth.p.shape[i]) for i, codes in event.items()}
    p = np.where(truth.mask(given), truth.p, 0.0)
    p = np.where(truth.mask(event), p, 0.0) / p.sum()
    expected = p.sum(axis=tuple(a for a in range(p.ndim) if a not in where))
    expected = np.transpose(expected, [sorted(where).index(i) for i in where])
    np.testing.assert_allclose(distribution.cells(where, event, given), expected, rtol=1e-8, atol=1e-13)


@pytest.mark.parametrize("given", GIVENS)
def test_marginals(made: tuple[str, Distribution, Enumerated], given: Event) -> None:
    """P(x_i | given) of every variable at once; log Z(given) = log Z + log P(given)."""
    _, distribution, truth = made
    found = distribution.marginals(_event(distribution, given) or None)
    assert found.log_z - distribution.log_z.value == pytest.approx(math.log(truth.probability(given)), abs=1e-9)
    given_alone = distribution.log_z_given(_event(distribution, given) or None)
    assert given_alone == pytest.approx(found.log_z, abs=1e-9)
    for i, name in enumerate(distribution.visible.names):
        np.testing.assert_allclose(found.shares[name], truth.conditional((i,), given), rtol=1e-8, atol=1e-12)


def test_questions_in_words(made: tuple[str, Distribution, Enumerated]) -> None:
    """Numbers, tables in the order asked, tables joint with an event, and a condition besides the text."""
    _, distribution, truth = made
    one = truth.probability({0: (1,)}, {1: (1,)})
    for found in (
        distribution.ask("P(x0=1 | x1=1)"),
        distribution.probability("x0=1", {"x1": 1}),
        distribution.probability({"x0": 1}, "x1=1"),
    ):
        assert found == pytest.approx(one, rel=1e-9)
    within = truth.conditional((2, 0), {1: (0, 1)})
    table = distribution.ask("P(x2, x0 | x1 in {0, 1})")
    assert table.names == ("x2", "x0")
    assert table.levels == tuple(distribution.space.variables[i].levels for i in (2, 0))
    np.testing.assert_allclose(table.values, within, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(distribution.conditional(["x2", "x0"], {"x1": [0, 1]}).values, within, 1e-9, 1e-13)
    joint = distribution.ask("x2, x0=1 | x1=1")
    np.testing.assert_allclose(joint.values, truth.conditional((2, 0), {1: (1,)})[:, 1], rtol=1e-9, atol=1e-13)
    assert not distribution.ask("x2, x0=1 | x0=0").values.any()
    np.testing.assert_allclose(distribution.marginal("x2").values, truth.conditional((2,)), rtol=1e-9, atol=1e-13)
    with pytest.raises(QueryError, match="asks for a table"):
        distribution.probability("x0 | x1=1")


def test_impossible_events_and_the_certain_one(made: tuple[str, Distribution, Enumerated]) -> None:
    _, distribution, truth = made
    assert distribution.probability({"x0": 0}, {"x0": 1}) == 0.0
    assert distribution.probability({"x1": []}) == 0.0
    assert distribution.probability({}) == pytest.approx(1.0, abs=1e-14)
    every = list(range(truth.p.shape[1]))
    assert distribution.probability({"x1": every}, {"x0": 1}) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("given", GIVENS)
def test_entropy(made: tuple[str, Distribution, Enumerated], given: Event) -> None:
    """H of some variables and of all, given an event."""
    _, distribution, truth = made
    event = _event(distribution, given) or None
    assert distribution.entropy(["x2", "x0"], event) == pytest.approx(truth.entropy((2, 0), given), abs=1e-9)
    everything = tuple(range(truth.p.ndim))
    names = list(distribution.visible.names)
    assert distribution.entropy(names, event) == pytest.approx(truth.entropy(everything, given), abs=1e-9)


def test_information(made: tuple[str, Distribution, Enumerated]) -> None:
    """I(A; B | C) = H(A | C) + H(B | C) - H(A, B | C); given variables, H and I are expected ones; I(A; A) = H(A)."""
    _, distribution, truth = made
    shares = truth.conditional((1,))

    def information(given: Event) -> float:
        return truth.entropy((0,), given) + truth.entropy((2,), given) - truth.entropy((0, 2), given)

    assert distribution.mutual_information("x0", "x2") == pytest.approx(information({}), abs=1e-9)
    assert distribution.mutual_information("x0", "x2", {"x1": 1}) == pytest.approx(information({1: (1,)}), abs=1e-9)
    expected = sum(p * information({1: (b,)}) for b, p in enumerate(shares) if p > 0)
    assert distribution.mutual_information("x0", ["x2"], given=["x1"]) == pytest.approx(expected, abs=1e-9)
    expected = sum(p * truth.entropy((0, 2), {1: (b,)}) for b, p in enumerate(shares) if p > 0)
    assert distribution.entropy(["x0", "x2"], given="x1") == pytest.approx(expected, abs=1e-9)
    assert distribution.mutual_information("x1", "x1") == pytest.approx(truth.entropy((1,)), abs=1e-9)


@pytest.mark.parametrize("given", GIVENS)
def test_the_mode_is_the_likeliest_state(made: tuple[str, Distribution, Enumerated], given: Event) -> None:
    name, distribution, truth = made
    if name in NO_MODE:
        with pytest.raises(QueryError, match="likeliest state"):
            distribution.mode(_event(distribution, given))
        return
    p = np.where(truth.mask(given), truth.p, 0.0)
    found = distribution.mode(_event(distribution, given))
    assert p[tuple(found.state)] == pytest.approx(p.max(), rel=1e-9)
    assert found.log_prob == pytest.approx(math.log(p.max() / p.sum()), abs=1e-9)


@pytest.mark.parametrize("given", [{}, {1: (1,)}])
def test_samples_have_the_frequencies(made: tuple[str, Distribution, Enumerated], given: Event) -> None:
    """Each within five standard deviations of its probability; fixed by the generator's state; none is a sample too."""
    _, distribution, truth = made
    size = SIZE if distribution.exact else SIZE // 10
    event = _event(distribution, given)
    states = distribution.sample(size, np.random.default_rng(11), event)
    p = np.where(truth.mask(given), truth.p, 0.0)
    p = p / p.sum()
    counts = np.zeros(p.shape)
    np.add.at(counts, tuple(states.T), 1)
    assert (np.abs(counts - size * p) <= 5 * np.sqrt(size * p * (1 - p)) + 1).all()
    np.testing.assert_array_equal(states, distribution.sample(size, np.random.default_rng(11), event))
    assert distribution.sample(0, np.random.default_rng(0)).shape == (0, p.ndim)
    for wrong in (-1, 2.0, True, None):
        with pytest.raises(QueryError, match="whole number"):
            distribution.sample(wrong, np.random.default_rng(0))  # type: ignore[arg-type]


def test_imputed_rows(made: tuple[str, Distribution, Enumerated]) -> None:
    """Means are conditionals, draws keep what is observed, and complete rows stay as they are."""
    _, distribution, truth = made
    row = np.full((1, truth.p.ndim), -1)
    row[0, 1] = 1
    full = np.zeros_like(row)
    means = distribution.impute(np.concatenate([row, full]), "mean")
    tolerance = 1e-8 if distribution.exact else 0.1
    for i, name in enumerate(distribution.visible.names):
        np.testing.assert_allclose(means[name][0], truth.conditional((i,), {1: (1,)}), atol=tolerance)
        assert means[name][1, 0] == 1.0
    for how in ("mode", "draw"):
        filled = distribution.impute(np.concatenate([row, full]), how, np.random.default_rng(0))
        assert filled[0, 1] == 1
        assert filled.min() >= 0
        assert filled[1].tolist() == full[0].tolist()
    with pytest.raises(QueryError, match="how='median'"):
        distribution.impute(row, "median")
    with pytest.raises(QueryError, match="random generator"):
        distribution.impute(row, "draw")


def test_conditionals_of_many_rows(made: tuple[str, Distribution, Enumerated]) -> None:
    """P(event | given) of questions as rows of codes, all at once; 0 where they contradict each other."""
    _, distribution, truth = made
    n = truth.p.ndim
    events, givens = np.full((2, n), -1), np.full((2, n), -1)
    events[:, 0], givens[0, 1], givens[1, 0] = 1, 0, 0
    expected = [truth.probability({0: (1,)}, {1: (0,)}), 0.0]
    np.testing.assert_allclose(distribution.conditionals(events, givens), expected, rtol=1e-9)


def test_a_cell_given_the_rest(made: tuple[str, Distribution, Enumerated]) -> None:
    """p(x_i | the other observed cells) of every row, whatever stands in cell i; other open cells are summed over."""
    _, distribution, truth = made
    rows = all_states(tuple(card + 1 for card in truth.p.shape)) - 1
    for i in (0, 1):
        others = [{j: (int(x),) for j, x in enumerate(row) if x >= 0 and j != i} for row in rows]
        possible = np.array([truth.probability(given) > 0 for given in others])
        found = level_probabilities(distribution, rows[possible], i)
        expected = [truth.conditional((i,), given) for given, ok in zip(others, possible, strict=True) if ok]
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)
        if not possible.all():
            with pytest.raises(QueryError, match="nothing can be predicted from it"):
                level_probabilities(distribution, rows, i)


def test_all_pairs(made: tuple[str, Distribution, Enumerated]) -> None:
    """P(x_i, x_j) of all levels, or None where a kind does not sum them."""
    _, distribution, truth = made
    found = distribution.pairs()
    if found is None:
        assert not distribution.exact
        return
    starts = np.cumsum([0, *truth.p.shape])
    for i, j in ((0, 1), (2, 0)):
        own: Array = found[starts[i] : starts[i + 1], starts[j] : starts[j + 1]]
        np.testing.assert_allclose(own, truth.conditional((i, j)), rtol=1e-8, atol=1e-13)


def test_impossible_evidence_is_refused(made: tuple[str, Distribution, Enumerated]) -> None:
    """A condition without a level, or of probability 0, is an error and not an answer."""
    _, distribution, truth = made
    name = distribution.space.names[1]
    for ask in (
        distribution.marginals,
        distribution.mode,
        lambda e: distribution.sample(1, np.random.default_rng(0), e),
    ):
        with pytest.raises(QueryError, match=r"leaves no level|likeliest state"):
            ask({name: []})
        with pytest.raises(QueryError, match=r"no variable 'nobody'|likeliest state"):
            ask({"nobody": 1})
    never = np.argwhere(truth.p == 0)
    if len(never):
        event = _event(distribution, {i: (int(x),) for i, x in enumerate(never[0])})
        for ask in (distribution.marginals, distribution.log_z_given):
            with pytest.raises(QueryError, match="probability 0"):
                ask(event)
        with pytest.raises(QueryError, match="probability 0"):
            distribution.cells((0,), {}, {i: (int(x),) for i, x in enumerate(never[0])})


@pytest.mark.parametrize("name", ["table, walsh", "elimination, monomial"])
def test_chains_answer_with_their_errors(name: str) -> None:
    """What is estimated lies within its errors, and rows are still those of the model."""
    exact, p = KINDS[name]()
    chains = exact.by_chains(np.random.default_rng(3))
    assert isinstance(chains, SampledDistribution)
    assert not chains.exact
    _, shares, errors = chains.marginals({"x1": 1})
    assert errors is not None
    for i, variable in enumerate(exact.visible.names):
        expected = Enumerated(p).conditional((i,), {1: (1,)})
        assert (np.abs(shares[variable] - expected) <= 5 * errors[variable] + 1e-12).all()
    rows = all_states(p.shape)
    np.testing.assert_allclose(chains.log_prob(rows), exact.log_prob(rows))
