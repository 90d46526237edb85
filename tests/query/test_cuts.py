"""Bounds inside bins: answers against a model of fine cells, and against hand-computed shares."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import fullspan as fs
from cli.running import spawn
from fullspan.data import Space, Variable
from fullspan.data.contents import Contents
from fullspan.errors import QueryError
from fullspan.model.files import checksum
from fullspan.query.distributions import LogLinearDistribution, SampledDistribution
from query.enumeration import Enumerated, random_model

AGES = (
    Contents((20.0, 25.0, 29.0), (20.0, 25.0, 29.0), (1.0, 2.0, 1.0)),
    Contents((30.0, 40.0, 50.0, 59.0), (30.0, 40.0, 50.0, 59.0), (4.0, 3.0, 2.0, 1.0)),
    Contents((60.0, 75.0), (60.0, 75.0), (1.0, 3.0)),
)
INCOME = (Contents((0.5, 1.5), (0.5, 1.5), (1.0, 1.0)), Contents((2.0, 4.0), (3.0, 5.0), (1.0, 3.0)))
SPACE = Space(
    (
        Variable("age", ("[20, 30)", "[30, 60)", "[60, 80]", "(missing)"), (20.0, 30.0, 60.0, 80.0), contents=AGES),
        Variable("votes", ("no", "yes")),
        Variable("income", ("[0, 2)", "[2, 5]"), (0.0, 2.0, 5.0), contents=INCOME),
    )
)


def fine_cells():
    """All fine cells: an age value (None where missing), votes, income run and position; with their probability."""
    p = Enumerated.of(random_model((4, 2, 2), "indicator", 3)).p
    cells = []
    for a, v, i in itertools.product(range(4), range(2), range(2)):
        ages = [(None, 1.0)] if a == 3 else list(zip(AGES[a].low, AGES[a].weights, strict=True))
        incomes = [
            (low + (high - low) * (k + 0.5) / 1000, w / 1000)
            for low, high, w in zip(INCOME[i].low, INCOME[i].high, INCOME[i].weights, strict=True)
            for k in range(1000 if high > low else 1)
        ]
        both = sum(w for _, w in ages) * sum(w for _, w in incomes)
        cells += [
            (age, "ny"[v], income, p[a, v, i] * w * u / both)
            for (age, w), (income, u) in itertools.product(ages, incomes)
        ]
    return cells


CELLS = fine_cells()


def model(space: Space = SPACE) -> LogLinearDistribution:
    return LogLinearDistribution(replace(random_model((4, 2, 2), "indicator", 3), space=space))


def truth(event, given=lambda age, votes, income: True):
    def mass(holds):
        return math.fsum(p for age, votes, income, p in CELLS if holds(age, votes, income))

    return mass(lambda *x: event(*x) and given(*x)) / mass(given)


def old(bound):
    return lambda a, v, i: a is not None and a >= bound


QUESTIONS = (
    ("age >= 40", old(40), None),
    ("age > 40", old(40.1), None),
    ("age < 40", lambda a, v, i: a is not None and a < 40, None),
    ("age <= 40", lambda a, v, i: a is not None and a <= 40, None),
    ("not age >= 40", lambda a, v, i: a is None or a < 40, None),
    ("age in 25..50", lambda a, v, i: a is not None and 25 <= a < 50, None),
    ("age not in 25..50", lambda a, v, i: a is None or not 25 <= a < 50, None),
    ("age >= 40 and age < 55", lambda a, v, i: a is not None and 40 <= a < 55, None),
    ("age >= 40 and not age < 55 and age <= 60", lambda a, v, i: a is not None and 55 <= a <= 60, None),
    ("age < 25 or age > 70", lambda a, v, i: a is not None and (a < 25 or a > 70), None),
    ("age=40 and age >= 45", lambda a, v, i: a in (50, 59), None),
    ("age != 40 or age >= 45", lambda a, v, i: a is None or not 30 <= a < 60 or a >= 45, None),
    ("votes=yes | age >= 40", lambda a, v, i: v == "y", old(40)),
    ("votes=yes | age > 40, age < 59", lambda a, v, i: v == "y", lambda a, v, i: a == 50),
    ("age >= 50 | age < 59", old(50), lambda a, v, i: a is not None and a < 59),
    ("age >= 50 | age >= 40", old(50), old(40)),
    ("votes=yes | age >= 40 or income < 1", lambda a, v, i: v == "y", lambda a, v, i: i < 1 or old(40)(a, v, i)),
    ("age >= 50, income >= 1 | votes=no", lambda a, v, i: old(50)(a, v, i) and i >= 1, lambda a, v, i: v == "n"),
    ("income >= 2.25", lambda a, v, i: i >= 2.25, None),
    (
        "income in 2.25..4.5 | age > 29, votes=yes",
        lambda a, v, i: 2.25 <= i < 4.5,
        lambda a, v, i: v == "y" and old(29.5)(a, v, i),
    ),
)


@pytest.mark.parametrize(("text", "event", "given"), QUESTIONS, ids=[q[0] for q in QUESTIONS])
def test_probabilities_are_those_of_fine_cells(text, event, given):
    expected = truth(event, given or (lambda *_: True))
    assert model().probability(text) == pytest.approx(expected, rel=1e-9)
    asked = model().ask(text)
    assert asked == pytest.approx(expected, rel=1e-9)
    if "|" in text:  # the condition apart from the question, which is read with the same pieces
        left, right = text.split(" | ")
        assert model().probability(left, right) == pytest.approx(expected, rel=1e-9)


def test_chains_weigh_cut_bins_too():
    exact = model()
    chains = SampledDistribution(exact.model, np.random.default_rng(0), summed=exact)
    for text in ("age >= 40", "votes=yes | age > 40", "age >= 50, income >= 1 | votes=no"):
        found = chains.ask(text)
        assert abs(found.value - exact.probability(text)) < 4 * found.error


def test_tables_entropies_modes_and_counts_of_cut_bins():
    found = model()
    given = old(40)
    votes = found.conditional("votes", "age >= 40").values
    p = [truth(lambda a, v, i, own=own: v == own, given) for own in "ny"]
    np.testing.assert_allclose(votes, p, rtol=1e-9)
    assert found.entropy("votes", "age >= 40") == pytest.approx(-sum(x * math.log(x) for x in p))
    assert found.ask("H(votes | age >= 40)") == pytest.approx(-sum(x * math.log(x) for x in p))
    ages = found.conditional("age", "age >= 40")  # whole bins: of the cut one, what is left of it
    cut = truth(lambda a, v, i: a is not None and 40 <= a < 60, given)
    np.testing.assert_allclose(ages.values, [0, cut, 1 - cut, 0], rtol=1e-9)
    mode = found.most_probable((), "age < 60 and age >= 40 or age < 25")

    def low(a):
        return a is not None and a < 25

    def middle(a):
        return a is not None and 40 <= a < 60

    states = [
        truth(
            lambda a, w, u, b=b, v=v, i=i: b(a) and w == v and (u >= 2) == i,
            lambda a, w, u: low(a) or middle(a),
        )
        for b, v, i in itertools.product((low, middle), "ny", (False, True))
    ]
    assert mode.probability == pytest.approx(max(states), rel=1e-9)
    assert found.expected_rows("age >= 40", 1000).expected == pytest.approx(1000 * truth(old(40)), rel=1e-9)


def test_what_is_cut_is_said():
    assert model().cut_bins("votes=yes | age >= 60") == ()
    assert model().cut_bins("votes=yes | age >= 45, age <= 50", "income > 2.5") == (
        "age: 30 % of the rows in the bin [30, 60) have age >= 45",
        "age: 10 % of the rows in the bin [30, 60) have age > 50",
        "income: about 87.5 % (to 12.5 points) of the rows in the bin [2, 5] have income > 2.5",
    )


def test_a_bin_that_holds_no_rows_is_not_split_and_evidence_takes_whole_bins():
    empty = replace(SPACE.variables[0], contents=(AGES[0], Contents(), AGES[2]))
    found = model(Space((empty, *SPACE.variables[1:])))
    assert found.probability("age >= 65") > 0
    with pytest.raises(QueryError, match=r"45 lies inside the bin \[30, 60\) of 'age', whose mass is not split: use"):
        found.probability("age >= 45")
    with pytest.raises(QueryError, match="no question can be answered given it"):
        found.probability("votes=yes | age > 76")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 600)
    table = {"age": age, "votes": np.where(rng.random(600) < age / 100, "yes", "no")}
    model = fs.FullSpan(bins={"age": [18, 30, 44, 61, 80]}).fit(table)
    path = tmp_path_factory.mktemp("cuts") / "m.fsm"
    model.save(path)
    return model, path, age


def test_the_command_line_says_what_is_cut(fitted):
    model, path, age = fitted
    bin_ = age[(age >= 44) & (age < 61)]
    share = f"{100 * (bin_ >= 50).mean():.4g} %"
    out = spawn("query", str(path), "P(votes=yes | age >= 50)", "P(votes=yes | age >= 44)").out.splitlines()
    assert out[1] == f"  age: {share} of the rows in the bin [44, 61) have age >= 50"
    assert "independent of all other columns" in out[2]
    assert len(out) == 4
    cut, whole = json.loads(spawn("query", str(path), "age >= 50", "age >= 44", "--json").out)
    assert cut["bin_notes"] == [out[1].strip(), out[2].strip()]
    assert cut["probability"] == pytest.approx(model.probability("age >= 50"))
    assert "bin_notes" not in whole
    assert model.cut_bins("age >= 50") == tuple(cut["bin_notes"][:1])


def test_a_number_that_stands_for_a_bin_is_said_to(fitted):
    """``P(age=50)`` is the probability of a bin, and nobody shall quote it as that of one year."""
    model, _, _ = fitted
    notes = model.distribution_.bin_notes
    sentence = "age: 50 stands for its whole bin [44, 61)"
    assert notes("P(age=50)") == notes("votes=yes | age in {50, 20}")[:1] == notes("H(votes)", "age=50") == (sentence,)
    assert notes("votes=yes | age in {50, 20}")[1:] == ("age: 20 stands for its whole bin [18, 30)",)
    assert notes("P(age='[44, 61)')") == notes("P(age)") == notes("P(votes=yes | age >= 44)") == ()
    assert model.probability("P(age=50)") == model.probability("P(age >= 44, age < 61)")


def test_models_of_files_of_before_and_draws_keep_whole_bins(fitted, tmp_path):
    model, path, _ = fitted
    with pytest.raises(QueryError, match="50 lies inside the bin"):
        model.sample(3, random_state=0, given="age >= 50")
    record = json.loads(path.read_text())
    own = record["space"]["variables"][0]
    own["bin_values"] = [inside[0] for inside in own.pop("contents")]
    record["checksum"] = checksum(record)
    before = tmp_path / "before.fsm"
    before.write_text(json.dumps(record))
    old_model = fs.load(before)
    assert old_model.probability("age >= 44") == pytest.approx(model.probability("age >= 44"))
    with pytest.raises(
        QueryError, match=r"50 lies inside the bin \[44, 61\) of 'age', whose mass is not split: use >= 44"
    ):
        old_model.probability("age >= 50")
    old_model.save(before)
    assert json.loads(before.read_text())["space"]["variables"][0]["bin_values"] == own["bin_values"]
