"""Every kind of oracle against plain enumeration: comparisons, and/or/not, entropies and modes, in words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from contract.kinds import KINDS, NO_MODE, truncated
from fullspan.errors import QueryError
from fullspan.query import Distribution, MostProbable
from fullspan.query.distributions import DecimatedDistribution, LogLinearDistribution, SampledDistribution
from query.enumeration import CARDS, Enumerated, all_states, random_model

FOUR = {name: make for name, make in KINDS.items() if name not in ("hidden variables", "restricted", "decimated")}
"""Kinds over the four variables of CARDS."""


@pytest.fixture(params=FOUR, scope="module")
def kind(request: pytest.FixtureRequest) -> tuple[str, Distribution, np.ndarray]:
    return (request.param, *KINDS[request.param]())


class Truth:
    """The same questions by looking at every state, the event as a Python expression of its codes."""

    def __init__(self, p: np.ndarray) -> None:
        self.p, self.states = p / p.sum(), all_states(p.shape)

    def holds(self, event: str) -> np.ndarray:
        names = [{f"x{i}": int(x) for i, x in enumerate(state)} for state in self.states]
        return np.array([bool(eval(event, {}, own)) for own in names]).reshape(self.p.shape)

    def given(self, event: str) -> np.ndarray:
        p = np.where(self.holds(event), self.p, 0.0)
        return p / p.sum()

    def marginal(self, where: tuple[int, ...], given: str) -> np.ndarray:
        p = self.given(given).sum(axis=tuple(a for a in range(self.p.ndim) if a not in where))
        return p.transpose([sorted(where).index(i) for i in where])

    def entropy(self, where: tuple[int, ...], given: str = "True") -> float:
        p = self.marginal(where, given).ravel()
        return float(-np.sum(p[p > 0] * np.log(p[p > 0])))


EVENTS = (
    ("x2 > 1", "x2 > 1"),
    ("x2 in 1..2", "1 <= x2 <= 2"),
    ("not x2 in 1..2 and x0=1", "x2 not in (1, 2) and x0 == 1"),
    ("x0=1 or x1=2", "x0 == 1 or x1 == 2"),
    ("x0=1 or x1=2 or x2<=1", "x0 == 1 or x1 == 2 or x2 <= 1"),
    ("not (x0=1 and x1 != 0 and x2 >= 2)", "not (x0 == 1 and x1 != 0 and x2 >= 2)"),
    ("(x0=1 or x1=1) and not (x2=3 or x3=0)", "(x0 == 1 or x1 == 1) and not (x2 == 3 or x3 == 0)"),
    ("x0=0 and x0=1 or x3=1", "x3 == 1"),
)


@pytest.mark.parametrize(("text", "plain"), EVENTS)
@pytest.mark.parametrize(
    ("given", "known"), [("", "True"), ("x1 != 1", "x1 != 1"), ("x3=1 or x2>=2", "x3 == 1 or x2 >= 2")]
)
def test_probability_of_a_union(kind, text, plain, given, known):
    """P(A or B | C or D), whichever boxes they split into, is the sum over the states that satisfy them."""
    _, oracle, p = kind
    truth = Truth(p)
    expected = truth.given(known)[truth.holds(plain)].sum()
    asked = f"P({text} | {given})" if given else f"P({text})"
    assert oracle.ask(asked) == pytest.approx(expected, rel=1e-10)
    assert oracle.probability(asked) == pytest.approx(expected, rel=1e-10)
    assert oracle.probability(text, given or None) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("text", "plain"), EVENTS)
def test_table_given_a_union(kind, text, plain):
    _, oracle, p = kind
    expected = Truth(p).marginal((3, 1), plain)
    np.testing.assert_allclose(oracle.conditional(["x3", "x1"], text).values, expected, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(oracle.ask(f"P(x3, x1 | {text})").values, expected, rtol=1e-10, atol=1e-15)


def test_table_joint_with_a_union(kind):
    """P(x1, A) has the mass of A, spread over the levels of x1."""
    _, oracle, p = kind
    truth = Truth(p)
    inside = np.where(truth.holds("x0 == 1 or x2 == 3"), truth.p, 0.0)
    expected = inside.sum(axis=tuple(a for a in range(p.ndim) if a != 1))
    np.testing.assert_allclose(oracle.ask("P(x1, x0=1 or x2=3)").values, expected, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("given", ["", "x3=1", "x3=1 or x2>=2"])
def test_information(kind, given):
    """H(A | B, e) = H(A, B | e) - H(B | e), and I(A; B | C, e) from entropies."""
    _, oracle, p = kind
    truth, known = Truth(p), given.replace("3=1", "3==1") or "True"
    h = lambda *where: truth.entropy(where, known)  # noqa: E731
    bar, comma = (f" | {given}", f", {given}") if given else ("", "")
    assert oracle.ask(f"H(x0, x2{bar})") == pytest.approx(h(0, 2), abs=1e-10)
    assert oracle.ask(f"H(x0 | x1{comma})") == pytest.approx(h(0, 1) - h(1), abs=1e-10)
    assert oracle.ask(f"H({bar})") == pytest.approx(h(*range(p.ndim)), abs=1e-10)
    assert oracle.ask(f"I(x0; x1{bar})") == pytest.approx(h(0) + h(1) - h(0, 1), abs=1e-10)
    expected = h(0, 1) + h(2, 1) - h(0, 1, 2) - h(1)
    assert oracle.ask(f"I(x0; x2 | x1{comma})") == pytest.approx(expected, abs=1e-10)
    assert oracle.entropy("x0", given or None) == pytest.approx(h(0), abs=1e-10)
    assert oracle.mutual_information("x0", "x1", given or None) == pytest.approx(h(0) + h(1) - h(0, 1), abs=1e-10)


@pytest.mark.parametrize("given", ["", "x1=2", "x3=1 or x2>=2", "not (x0=0 and x3=0)"])
def test_modes(kind, given):
    """mode(A | e) is the largest cell of P(A | e), and mode(| e) the most probable state."""
    name, oracle, p = kind
    plain = given.replace("=", "==").replace(">==", ">=") or "True"
    table = Truth(p).marginal((2, 0), plain)
    found = oracle.ask(f"mode(x2, x0 | {given})" if given else "mode(x2, x0)")
    assert isinstance(found, MostProbable)
    assert tuple(found.levels) == ("x2", "x0")
    assert table[found.levels["x2"], found.levels["x0"]] == pytest.approx(table.max(), rel=1e-10)
    assert found.probability == pytest.approx(table.max(), rel=1e-10)
    whole = f"mode(| {given})" if given else "mode()"
    if name in NO_MODE:
        with pytest.raises(QueryError, match="cannot be found exactly"):
            oracle.ask(whole)
        return
    best = oracle.ask(whole)
    states = Truth(p).given(plain)
    assert states[tuple(best.levels.values())] == pytest.approx(states.max(), rel=1e-10)
    assert best.log_prob == pytest.approx(math.log(states.max()), abs=1e-9)
    assert oracle.most_probable(given=given or None) == best


def test_random_formulas(kind):
    """Forty random formulas of and, or and not over four variables."""
    _, oracle, p = kind
    truth, rng = Truth(p), np.random.default_rng(17)

    def formula(depth: int) -> tuple[str, str]:
        if depth == 0 or rng.random() < 0.2:
            i = int(rng.integers(4))
            x, sign = int(rng.integers(p.shape[i])), ["=", "!=", "<=", ">="][rng.integers(4)]
            return f"x{i}{sign}{x}", f"x{i}{'==' if sign == '=' else sign}{x}"
        if rng.random() < 0.25:
            text, plain = formula(depth - 1)
            return f"not ({text})", f"not ({plain})"
        word, (a, b) = ["and", "or"][rng.integers(2)], (formula(depth - 1), formula(depth - 1))
        return f"({a[0]} {word} {b[0]})", f"({a[1]} {word} {b[1]})"

    for _ in range(40):
        text, plain = formula(3)
        assert oracle.probability(text) == pytest.approx(truth.p[truth.holds(plain)].sum(), rel=1e-9, abs=1e-15)


def test_look_ups_are_not_needed():
    """Unions are summed by elimination to the same numbers as by look-ups in the dual table."""
    question, model = "P(x1, x0=1 or x2=3 | x3=1 or x1>=1)", random_model(CARDS, "walsh", 3)
    by_look_up, by_elimination = LogLinearDistribution(model), LogLinearDistribution(model)
    by_elimination.most_states = 0
    np.testing.assert_allclose(by_elimination.ask(question).values, by_look_up.ask(question).values, rtol=1e-12)


def test_conditions_of_probability_0_are_refused(kind):
    """Whatever the oracle, a condition that no state satisfies is an error that says so."""
    _, oracle, _ = kind
    for question in (
        "P(x0 | x1=0 and x1=1)",
        "P(x0=1 | x1=0 and x1=1)",
        "H(x0 | x1=0 and x1=1)",
        "mode(x0 | x1=0 and x1=1)",
    ):
        with pytest.raises(QueryError, match="leaves no level of 'x1'"):
            oracle.ask(question)
    with pytest.raises(QueryError, match=r"no state satisfies the condition.*probability 0"):
        oracle.ask("P(x0 | (x1=0 or x2=0) and (x1=1 and x2=1))")
    assert oracle.probability("x1=0 and x1=1") == 0.0
    assert oracle.probability("(x1=0 or x2=0) and (x1=1 and x2=1)") == 0.0


def test_a_union_that_the_model_excludes():
    """Both alternatives have probability 0 under the model, though levels are left."""
    _, (oracle, p) = "truncated", truncated(0.0)
    zero = [tuple(map(int, s)) for s in np.argwhere(p == 0)]
    zero = [zero[0], next(s for s in zero if all(a != b for a, b in zip(s, zero[0], strict=True)))]
    text = " or ".join("(" + " and ".join(f"x{i}={x}" for i, x in enumerate(s)) + ")" for s in zero)
    with pytest.raises(QueryError, match="the condition has probability 0"):
        oracle.ask(f"P(x0=1 | {text})")


def test_inputs_stay_fixed_in_unions():
    """A conditional model answers unions of other variables; a union over its input leaves the input open."""
    model = random_model(CARDS, "walsh", 8)
    oracle, p = DecimatedDistribution(model, [3]), Enumerated.of(model).p
    inside = p[1, :, :, 1].sum() + p[0, 2, :, 1].sum()
    assert oracle.ask("P(x0=1 or x1=2 | x3=1)") == pytest.approx(inside / p[..., 1].sum(), rel=1e-10)
    two = (p[1, 2, 0, 1] + p[1, 2, 1:, 1].sum() + p[1, :2, 0, 1].sum()) / (p[:, 2, :, 1].sum() + p[:, :2, 0, 1].sum())
    assert oracle.ask("P(x0=1 | x3=1, x1=2 or x2=0)") == pytest.approx(two, rel=1e-10)
    with pytest.raises(QueryError, match="leaves the inputs x3 open"):
        oracle.ask("P(x0=1 | x3=1 or x1=2)")


def test_chains_estimate_unions():
    """P(A or B | C or D) by Gibbs chains lies within five standard errors of the sum."""
    model = random_model(CARDS, "walsh", 9)
    exact = LogLinearDistribution(model).ask("P(x0=1 or x1=2 | x3=1 or x2>=2)")
    sampled = SampledDistribution(model, np.random.default_rng(0))
    found = sampled.ask("P(x0=1 or x1=2 | x3=1 or x2>=2)")
    assert abs(found.value - exact) < 5 * found.error < 0.1
    with pytest.raises(QueryError, match="chains estimate probabilities only"):
        sampled.ask("H(x0)")
    with pytest.raises(QueryError, match="no state satisfies the condition"):
        sampled.ask("P(x0 | (x1=0 or x2=0) and (x1=1 and x2=1))")


def test_pairs_of_pieces_have_a_limit():
    oracle = LogLinearDistribution(random_model((3, 3, 3, 3, 3, 3, 3, 3), "walsh", 1))
    event = " and ".join(f"(x{2 * i}=0 or x{2 * i + 1}=0)" for i in range(4))
    with pytest.raises(QueryError, match="at most 256 pairs"):
        oracle.ask(f"P({event} | {event.replace('=0', '=1')}, not (x0=2 and x1=2 and x2=2 and x3=2 and x4=2))")


def test_words_that_ask_for_something_else():
    oracle = LogLinearDistribution(random_model(CARDS, "walsh", 3))
    with pytest.raises(QueryError, match="does not ask for a probability"):
        oracle.probability("H(x0)")
    with pytest.raises(QueryError, match="is a question, not evidence"):
        oracle.conditional("x0", "x1 | x2=1")
    with pytest.raises(QueryError, match="is a question, not evidence"):
        oracle.conditional("x0", "H(x1)")
