"""The words of a term against enumerated odds: direction, factor, and what they turn on."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest

from fullspan.algebra.basis import BASES, Basis
from fullspan.model import LogLinear
from fullspan.model.words import describe, label
from fullspan.space import Space, Variable

CARDS = (2, 3, 4, 2, 5)
VALUE = re.compile(r"x(\d)(?:=(\d)| in \{([\d, ]+)\})")


def weights_of(basis, terms):
    """exp(theta . Phi) of every state, one axis per variable."""
    states = np.array(list(itertools.product(*map(range, basis.cards))))
    return np.exp(basis.evaluate(list(terms), states) @ np.array(list(terms.values()))).reshape(basis.cards)


def read(words):
    """The values that the words name, as codes by variable in their order."""
    return {int(i): {int(x) for x in (one or many).split(",")} for i, one, many in VALUE.findall(words)}


def odds(p, variable, named, others, against=None):
    """Odds of ``named`` against its complement (or one level), where all others are as in ``others``."""
    p = np.moveaxis(p, variable, 0)
    rest = [i for i in range(p.ndim) if i != variable]
    cells = [sorted(others.get(i, range(CARDS[i])))[:1] for i in rest]
    fibre = p[(slice(None), *(c[0] for c in cells))]
    inside = sorted(named)[0]
    outside = against if against is not None else min(set(range(len(fibre))) - named)
    return fibre[inside] / fibre[outside]


def all_terms(max_order):
    for order in range(1, max_order + 1):
        for scope in itertools.combinations(range(len(CARDS)), order):
            yield from (
                tuple(zip(scope, c, strict=True)) for c in itertools.product(*(range(1, CARDS[i]) for i in scope))
            )


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("weight", [0.6, -0.35])
def test_the_factor_is_the_change_of_odds_of_each_named_value(name, weight):
    """With the other values as named, the term multiplies the odds of each one by what the words say."""
    basis = Basis(name, CARDS)
    space = Space.of_cards(CARDS)
    other = {((0, 1),): 0.2, ((1, 1), (2, 1)): -0.4}
    before = weights_of(basis, other)
    terms = list(all_terms(4))
    rng = np.random.default_rng(0)
    for k in rng.choice(len(terms), size=150, replace=False):
        term = terms[k]
        model = LogLinear(space, basis, (term,), np.array([weight]), 0.0)
        words = model.describe(term)
        change = weights_of(basis, {term: weight})
        sign, factor = re.search(r"\(odds ([×÷])([\d.]+)\)$", words).groups()
        said = float(factor) if sign == "×" else 1 / float(factor)
        values = read(words)
        assert list(values) == [i for i, _ in term]
        for i, named in values.items():
            against = 0 if name == "monomial" and 0 not in named else None
            measured = odds(before * change, i, named, values, against) / odds(before, i, named, values, against)
            assert measured == pytest.approx(said, rel=5e-3), words
        positive = re.search(r"is favoured|goes with .* more|goes with [^ ]+( in \{[^}]*\})? \(|more likely", words)
        assert bool(positive) == (said > 1), words


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
        ("walsh", ((1, 1), (2, 1)), 0.5, "crime=y goes with salvador=y (odds ×2.72)"),
        ("walsh", ((1, 1), (2, 1)), -0.5, "crime=y goes against salvador=y (odds ÷2.72)"),
        ("indicator", ((1, 1), (2, 1)), 0.5, "crime=y goes with salvador=y (odds ×2.72)"),
        ("walsh", ((0, 1),), 0.25, "party=democrat is favoured (odds ×1.65)"),
        ("walsh", ((0, 1),), -0.25, "party=republican is favoured (odds ×1.65)"),
        ("indicator", ((0, 1),), 0.25, "party=republican is favoured (odds ×1.65)"),
        ("monomial", ((0, 1),), 0.5, "party=republican is favoured (odds ×1.65)"),
        ("monomial", ((0, 1),), -0.5, "party=democrat is favoured (odds ×1.65)"),
        ("monomial", ((1, 1), (2, 1)), 0.8, "crime=y and salvador=y together: more likely (odds ×2.23)"),
        (
            "monomial",
            ((1, 1), (2, 1), (3, 1)),
            -0.8,
            "crime=y, salvador=y and budget=y together: less likely (odds ÷2.23)",
        ),
        (
            "walsh",
            ((0, 1), (1, 1), (2, 1)),
            -0.5,
            "party=republican goes with crime=y more when salvador=y (odds ×2.72)",
        ),
        (
            "walsh",
            ((0, 1), (1, 1), (2, 1)),
            0.5,
            "party=republican goes with crime=y less when salvador=y (odds ÷2.72)",
        ),
        (
            "walsh",
            ((0, 1), (1, 1), (2, 1), (3, 1)),
            0.5,
            "party=republican goes with crime=y more when salvador=y and budget=y are both true or both false "
            "(odds ×2.72)",
        ),
        (
            "walsh",
            tuple((i, 1) for i in range(5)),
            0.5,
            "party=republican goes with crime=y less when an even number of salvador=y, budget=y, aid=y is false "
            "(odds ÷2.72)",
        ),
        ("walsh", ((0, 1), (1, 1)), 10.0, "party=republican goes with crime=y (odds ×10^9)"),
        ("walsh", ((0, 1), (1, 1)), 0.0, "party=republican and crime=y: no effect"),
        ("walsh", ((0, 1),), 0.0, "party=republican: no effect"),
    ],
)
def test_sentences(basis, term, weight, words):
    space = votes()
    assert LogLinear(space, Basis(basis, space.cards), (term,), np.array([weight]), 0.0).describe(term) == words


def test_sentences_about_several_levels():
    space = Space((Variable("age", ("young", "middle", "old")), Variable("region", ("N", "E", "S", "W"))))
    walsh = LogLinear(space, Basis("walsh", space.cards), (((1, 2),), ((0, 2),)), np.array([-0.5, -0.5]), 0.0)
    assert walsh.describe(((1, 2),)) == "region in {S, W} is favoured (odds ×2.72)"
    assert walsh.describe(((0, 2),)) == "age=old is disfavoured (odds ÷2.72)"


def test_labels_name_the_sides_as_statisticians_do():
    space = Space((Variable("a", ("n", "y")), Variable("b", (0, 1, 2, 3))))
    assert label(space, Basis("monomial", (2, 4)), ((0, 1), (1, 2))) == "a=y:b=2"
    assert label(space, Basis("walsh", (2, 4)), ((1, 1),)) == "b in {1, 3}"


@pytest.mark.parametrize(("weight", "sign"), [(math.inf, "×"), (-math.inf, "÷")])
def test_a_weight_without_finite_maximum_says_so(weight, sign):
    space = Space((Variable("a", ("n", "y")), Variable("b", ("n", "y"))))
    words = describe(space, Basis("monomial", (2, 2)), ((0, 1), (1, 1)), weight)
    assert words.endswith(f"(odds {sign}∞: no finite maximum)")
