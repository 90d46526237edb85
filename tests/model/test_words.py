"""The words of a term against enumerated odds: direction, factor, and what they turn on."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest

from fullspan.data import Space, Variable
from fullspan.model import LogLinear
from fullspan.model.algebra import BASES, Basis
from fullspan.model.effects import describe, event_words, label

CARDS = (2, 3, 4, 2, 5)
VALUE = re.compile(r"x(\d)(?:=(\d)| in \{([\d, ]+)\})")


def weights_of(basis, terms):
    """exp(theta . Phi) of every state, one axis per variable."""
    states = np.array(list(itertools.product(*map(range, basis.cards))))
    return np.exp(basis.evaluate(list(terms), states) @ np.array(list(terms.values()))).reshape(basis.cards)


def read(words):
    """The values that the words name, as codes by variable in their order."""
    return {int(i): {int(x) for x in (one or many).split(",")} for i, one, many in VALUE.findall(words)}


def log_odds_ratio(log_p, values, rest):
    """Log odds ratio of the first two named sides, a level inside against one outside, the others at ``rest``."""
    (a, inside_a), (b, inside_b) = list(values.items())[:2]
    ends = []
    for i, inside in ((a, inside_a), (b, inside_b)):
        ends.append((min(inside), min(set(range(CARDS[i])) - inside)))
    total = 0.0
    for (x, sx), (y, sy) in itertools.product(zip(ends[0], (1, -1), strict=True), zip(ends[1], (1, -1), strict=True)):
        total += sx * sy * log_p[tuple({**rest, a: x, b: y}[i] for i in range(len(CARDS)))]
    return total


def all_terms(max_order):
    for order in range(1, max_order + 1):
        for scope in itertools.combinations(range(len(CARDS)), order):
            yield from (
                tuple(zip(scope, c, strict=True)) for c in itertools.product(*(range(1, CARDS[i]) for i in scope))
            )


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("weight", [0.6, -0.35])
def test_the_factor_is_the_odds_ratio_of_the_named_values(name, weight):
    """Order 2: the odds ratio that the term contributes. Beyond: how it differs where a condition fails."""
    basis, space = Basis(name, CARDS), Space.of_cards(CARDS)
    other = np.log(weights_of(basis, {((0, 1),): 0.2, ((1, 1), (2, 1)): -0.4}))
    terms = [term for term in all_terms(4) if len(term) > 1]
    for k in np.random.default_rng(0).choice(len(terms), size=150, replace=False):
        term = terms[k]
        words = LogLinear(space, basis, (term,), np.array([weight]), 0.0).describe(term)
        log_p = other + np.log(weights_of(basis, {term: weight}))
        sign, factor = re.search(r"\(odds(?: ratio)? ([×÷])([\d.]+)(?: by this term)?\)$", words).groups()
        said = math.log(float(factor)) * (1 if sign == "×" else -1)
        values = read(words)
        assert list(values) == [i for i, _ in term]
        rest = {i: min(values.get(i, {0})) for i in range(len(CARDS))}
        here = log_odds_ratio(log_p - other, values, rest)
        for i, named in list(values.items())[2:]:
            fails = {**rest, i: min(set(range(CARDS[i])) - named)}
            assert here - log_odds_ratio(log_p - other, values, fails) == pytest.approx(said, abs=6e-3), words
        if len(term) == 2:
            assert here == pytest.approx(said, abs=6e-3), words
        assert bool(re.search(r" goes with (?!.* less when)", words)) == (said > 0), words


def odds_ratio(p, a, b, given):
    """Conditional odds ratio of x_a = 1 and x_b = 1 in a table of two-level variables."""
    where = tuple(given.get(i, slice(None)) for i in range(p.ndim))
    cube = p[where]
    return cube[1, 1] * cube[0, 0] / (cube[0, 1] * cube[1, 0])


@pytest.mark.parametrize("name", ["walsh", "indicator"])
@pytest.mark.parametrize("weight", [0.5, -0.8])
@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_conditional_odds_ratios_turn_as_the_words_say(name, weight, order):
    """OR(A, B | rest) is above 1 where the words say "with" or "more", and turns with each condition that fails."""
    basis = Basis(name, (2,) * order)
    term = tuple((i, 1) for i in range(order))
    single = {((i, 1),): 0.3 * (i - 1) + 0.1 for i in range(order)}
    p = weights_of(basis, {**single, term: weight})
    words = LogLinear(Space.of_cards((2,) * order), basis, (term,), np.array([weight]), 0.0).describe(term)
    assert words.startswith("x0=1 goes ")
    with_more = "against" not in words and " less when" not in words
    for rest in itertools.product((0, 1), repeat=order - 2):
        fails = rest.count(0)
        positive = with_more == (fails % 2 == 0)
        assert (odds_ratio(p, 0, 1, dict(enumerate(rest, start=2))) > 1) == positive, words


def votes():
    yes_no = ("n", "y")
    names = ("party", "crime", "salvador", "budget", "aid")
    return Space(tuple(Variable(n, ("democrat", "republican") if n == "party" else yes_no) for n in names))


@pytest.mark.parametrize(
    ("basis", "term", "weight", "words"),
    [
        ("walsh", ((1, 1), (2, 1)), 0.25, "crime=y goes with salvador=y (odds ×2.72)"),
        ("walsh", ((1, 1), (2, 1)), -0.25, "crime=y goes against salvador=y (odds ÷2.72)"),
        ("indicator", ((1, 1), (2, 1)), 0.25, "crime=y goes with salvador=y (odds ×2.72)"),
        ("monomial", ((1, 1), (2, 1)), 0.8, "crime=y goes with salvador=y (odds ×2.23)"),
        ("walsh", ((0, 1),), 0.25, "party=republican: its own share"),
        ("monomial", ((0, 1),), -0.5, "party=republican: its own share"),
        (
            "monomial",
            ((1, 1), (2, 1), (3, 1), (4, 1)),
            -0.8,
            "crime=y goes with salvador=y less when budget=y and aid=y (odds ratio ÷2.23 by this term)",
        ),
        (
            "walsh",
            ((0, 1), (1, 1), (2, 1)),
            -0.125,
            "party=republican goes with crime=y more when salvador=y (odds ratio ×2.72 by this term)",
        ),
        (
            "walsh",
            ((0, 1), (1, 1), (2, 1), (3, 1)),
            0.125,
            "party=republican goes with crime=y more when salvador=y and budget=y are both true or both false "
            "(odds ratio ×2.72 by this term)",
        ),
        (
            "walsh",
            tuple((i, 1) for i in range(5)),
            0.125,
            "party=republican goes with crime=y less when an even number of salvador=y, budget=y, aid=y is false "
            "(odds ratio ÷2.72 by this term)",
        ),
        ("walsh", ((0, 1), (1, 1)), 10.0, "party=republican goes with crime=y (odds beyond ×10^6, near the boundary)"),
        ("walsh", ((0, 1), (1, 1)), 0.0, "party=republican and crime=y: no effect"),
    ],
)
def test_sentences(basis, term, weight, words):
    space = votes()
    assert LogLinear(space, Basis(basis, space.cards), (term,), np.array([weight]), 0.0).describe(term) == words


def test_a_single_column_has_a_share_and_no_effect():
    space = Space((Variable("age", ("young", "middle", "old")), Variable("region", ("N", "E", "S", "W"))))
    basis = Basis("walsh", space.cards)
    assert describe(space, basis, ((1, 2),), -0.5, share=0.4) == "region in {S, W}: 40.0% of rows"
    assert describe(space, basis, ((0, 2),), -0.5, share=0.123) == "age=old: 12.3% of rows"


def test_many_levels_say_that_the_ratio_is_of_one_term():
    space = Space((Variable("age", ("young", "middle", "old")), Variable("region", ("N", "E", "S", "W"))))
    words = describe(space, Basis("walsh", space.cards), ((0, 2), (1, 2)), -0.25)
    assert words == "age=old goes with region in {S, W} (odds ×2.72 by this term)"


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        ((0,), "age=[0, 18)"),
        ((2, 3), "age ≥ 44"),
        ((0, 1, 2), "age < 60"),
        ((1, 2), "18 ≤ age < 60"),
        ((1, 3), "age=[18, 44) or age=[60, 90]"),
        ((2, 3, 4), "age ≥ 44 or age=(missing)"),
    ],
)
def test_bins_are_ranges(codes, words):
    levels = ("[0, 18)", "[18, 44)", "[44, 60)", "[60, 90]", "(missing)")
    assert event_words(Variable("age", levels, (0.0, 18.0, 44.0, 60.0, 90.0)), codes) == words


def test_listed_levels_are_ranges_too():
    income = Variable("income", ("none", "low", "medium", "high", "top"), ordered=True)
    assert event_words(income, (3, 4)) == "income in {high, top}"
    assert event_words(income, (0, 1, 2, 3)) == "income from none to high"
    children = Variable("children", (0, 1, 2, 3), ordered=True)
    assert [event_words(children, c) for c in ((2, 3), (0, 1), (1, 2))] == [
        "children ≥ 2",
        "children ≤ 1",
        "1 ≤ children ≤ 2",
    ]
    assert event_words(Variable("colour", ("red", "blue", "green")), (0, 2)) == "colour in {red, green}"


def test_labels_name_the_sides_as_statisticians_do():
    space = Space((Variable("a", ("n", "y")), Variable("b", (0, 1, 2, 3))))
    assert label(space, Basis("monomial", (2, 4)), ((0, 1), (1, 2))) == "a=y:b=2"
    assert label(space, Basis("walsh", (2, 4)), ((1, 1),)) == "b in {0, 2}"  # where the function is +1


@pytest.mark.parametrize(("weight", "sign"), [(math.inf, "×"), (-math.inf, "÷")])
def test_a_weight_without_finite_maximum_says_so(weight, sign):
    space = Space((Variable("a", ("n", "y")), Variable("b", ("n", "y"))))
    words = describe(space, Basis("monomial", (2, 2)), ((0, 1), (1, 1)), weight)
    assert words.endswith(f"(odds {sign}∞, at the boundary: no finite maximum)")
