"""The first paragraph and the pictures of a report mean what they say: every number is worked out again by hand."""

from __future__ import annotations

import html
import itertools
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import fullspan as fs
from fullspan.errors import FullspanError
from fullspan.estimators.explain import shares_of
from fullspan.estimators.jobs import checking
from fullspan.model.effects import Effect, Interaction
from fullspan.people.report import content as content_module
from fullspan.people.report import gather, lead, networks
from fullspan.people.report.page import page
from fullspan.pictures.shares import wilson

BERKELEY = {
    "A": (512, 313, 89, 19), "B": (353, 207, 17, 8), "C": (120, 205, 202, 391),
    "D": (138, 279, 131, 244), "E": (53, 138, 94, 299), "F": (22, 351, 24, 317),
}  # fmt: skip


def rows_of(n: int, seed: int = 0) -> pd.DataFrame:
    """A pair that goes together, one that goes against, three levels that say nothing."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b, c = a ^ (rng.random(n) < 0.1), 1 - (a ^ (rng.random(n) < 0.2))
    names = {"a": np.where(a, "y", "n"), "b": np.where(b, "y", "n"), "c": np.where(c, "y", "n")}
    return pd.DataFrame({**names, "d": np.array(["p", "q", "r"])[rng.integers(0, 3, n)]})


def berkeley() -> pd.DataFrame:
    cells = list(itertools.product(("male", "female"), ("yes", "no")))
    rows = [(admit, sex, dept, n) for dept, ns in BERKELEY.items() for (sex, admit), n in zip(cells, ns, strict=True)]
    return pd.DataFrame(rows, columns=["admit", "sex", "dept", "n"])


@pytest.fixture(scope="module")
def model() -> Any:
    return fs.BoltzmannMachine(margins=[["a", "b"], ["a", "c"], ["d"]]).fit(rows_of(500))


@pytest.fixture(scope="module")
def content(model: Any) -> Any:
    return gather(model, rows_of(500), rows_of(400, seed=1))


# -- what was found ---------------------------------------------------------------------------------------------


def test_it_counts_the_interactions_and_names_who_is_in_none(content: Any) -> None:
    said = list(lead.found(content))
    assert said[0] == "Learned from 500 rows of 4 variables, the model has 2 interactions of two variables."
    assert said[1] == "In none of them: d."


def test_the_odds_of_the_strongest_are_those_of_the_distribution(content: Any, model: Any) -> None:
    """With everything else held fixed, by four probabilities of the model."""
    said = list(lead.found(content))[2]
    words = re.fullmatch(
        r"The strongest: with all else held fixed, the odds of a=(\w) are ([\d.]+) times as high with b=(\w) as "
        r"without it \(95 % interval ×([\d.]+) to ×([\d.]+)\)\.",
        said,
    )
    assert words is not None, said

    def p(a: str, b: str) -> float:
        return model.probability({"a": a, "b": b, "c": "y", "d": "q"})

    a, other_a = words[1], {"y": "n", "n": "y"}[words[1]]
    b, other_b = words[3], {"y": "n", "n": "y"}[words[3]]
    odds = p(a, b) / p(other_a, b) / (p(a, other_b) / p(other_a, other_b))
    assert float(words[2]) == pytest.approx(odds, rel=5e-3)
    counts = pd.crosstab(rows_of(500)["a"], rows_of(500)["b"]).to_numpy()
    half = 1.959964 * math.sqrt((1 / counts).sum())
    assert math.log(float(words[4])) == pytest.approx(math.log(odds) - half, abs=0.02)
    assert math.log(float(words[5])) == pytest.approx(math.log(odds) + half, abs=0.02)


def test_what_goes_against_is_as_high_without_it_as_with_it() -> None:
    row = Interaction(("a", "c"), 9.0, False, "odds ratio", (Effect(("a=y", "c=y"), -math.log(4.0)),))
    assert (
        lead.effect_words(row) == "with all else held fixed, the odds of a=y are 4 times as high without c=y as with it"
    )
    depends = replace(row, smallest=0.1, largest=0.5)
    assert "are on average 4 times" in lead.effect_words(depends)


def test_the_interval_has_the_direction_of_the_sentence() -> None:
    """4 times as high without c: the interval is that of the factor 4, not of its inverse."""
    row = Interaction(("a", "c"), 9.0, False, "odds ratio", (Effect(("a=y", "c=y"), -math.log(4.0), 0.2),))
    low, high = (math.exp(math.log(4.0) + side * 1.959964 * 0.2) for side in (-1, 1))
    assert lead.effect_words(row).endswith(f"as with it (95 % interval ×{low:.3g} to ×{high:.3g})")


def test_a_cell_is_as_frequent_or_rarer_than_the_smaller_sets_make_it() -> None:
    """Of two variables of three levels: the cell next to the product that single effects make of it."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 3, 900)
    table = pd.DataFrame({"x": x, "y": np.where(rng.random(900) < 0.5, x, rng.integers(0, 3, 900))})
    machine = fs.BoltzmannMachine().fit(table)
    log = np.log(machine.distribution_.joint())
    u = log - log.mean(axis=0) - log.mean(axis=1)[:, None] + log.mean()
    (row,) = machine.interactions_
    for effect in row.effects:
        said = lead.effect_words(replace(row, effects=(effect,)))
        words = re.match(
            r"the combination x=(\d) with y=(\d) is ([\d.]+) times (as frequent as|rarer than) the var", said
        )
        assert words is not None, said
        expected = math.exp(abs(u[int(words[1]), int(words[2])]))
        assert float(words[3]) == pytest.approx(expected, rel=6e-3)
        assert (words[4] == "rarer than") == (u[int(words[1]), int(words[2])] < 0)


def test_at_the_boundary_no_number_is_made_up() -> None:
    row = Interaction(("a", "c"), 9.0, False, "odds ratio", (Effect(("a=y", "c=y"), -math.inf),))
    assert lead.effect_words(row) == "a=y with c=y: odds ÷∞, at the boundary: no finite maximum"


def test_orders_and_weak_ones_are_counted() -> None:
    effect = (Effect(("a=y", "b=y"), 0.1, 1.0),)
    pair = Interaction(("a", "b"), 9.0, False, "odds ratio", effect)
    triple, weak = replace(pair, variables=("a", "b", "c")), replace(pair, nats_saved=0.1)
    assert lead.count_words([pair], "edge") == "1 edge"
    words = lead.count_words([pair, pair, triple, weak], "interaction")
    assert words == "4 interactions (3 of two variables and 1 of three), 1 of them too weak to tell from none"


def test_a_model_without_interactions_says_so() -> None:
    rows = rows_of(300)
    alone = gather(fs.BoltzmannMachine(order=1).fit(rows), rows, refit=False)
    assert list(lead.found(alone)) == [
        "The model of 4 variables joins none of them: they are independent of each other."
    ]
    searched = gather(fs.FullSpan().fit(rows[["d", "a"]]), refit=False)
    assert "no interaction was found" in " ".join(lead.found(searched))


def test_trees_and_mixtures_are_called_what_they_are() -> None:
    rows = rows_of(300)
    tree = list(lead.found(gather(fs.ChowLiuTree().fit(rows), refit=False)))
    assert tree[0] == "Learned from 300 rows of 4 variables, the model joins them by the 3 edges of a tree."
    mixed = fs.FullSpanMixture(runs=[(2, 1)], restarts=1, validation_fraction=0, random_state=0).fit(rows)
    said = list(lead.found(gather(mixed, refit=False)))
    assert said[0] == "Learned from 300 rows of 4 variables, the model is a mixture of 2 graphs."
    first = mixed.interactions_[0].variables
    assert said[1] == f"The pair that shares most: {first[0]} and {first[1]}."


# -- how well it predicts -----------------------------------------------------------------------------------------


def independent(train: pd.DataFrame, rows: pd.DataFrame) -> np.ndarray:
    """Log-probabilities under the columns alone: ``(n(x) + 1/|X|) / (N + 1)``."""
    return sum(
        np.log((rows[name].map(train[name].value_counts()) + 1 / train[name].nunique()) / (len(train) + 1))
        for name in train
    ).to_numpy()


def test_held_out_rows_are_as_much_more_probable_as_it_says(content: Any, model: Any) -> None:
    train, test = rows_of(500), rows_of(400, seed=1)
    gain = model.score_samples(test) - independent(train, test)
    error = gain.std(ddof=1) / math.sqrt(400)
    said = " ".join(lead.predicts(content))
    words = re.match(r"Over 400 rows, .*, a row is on average (\d+)% more probable than under independent", said)
    assert words is not None, said
    assert int(words[1]) == pytest.approx(100 * math.expm1(gain.mean()), abs=0.6)
    assert f"({gain.mean():+.3f} ± {error:.3f} nats per row)" in said


def test_the_error_that_it_removes_is_that_of_brier(content: Any, model: Any) -> None:
    """Every cell of every held-out row from the rest of its row, against the shares of the columns."""
    test, own, base = rows_of(400, seed=1), 0.0, 0.0
    for variable in model.space_.variables:
        scores = np.stack(
            [np.exp(model.score_samples(test.assign(**{variable.name: k}))) for k in variable.levels], axis=1
        )
        came = np.stack([(test[variable.name] == k).to_numpy(float) for k in variable.levels], axis=1)
        own += ((scores / scores.sum(axis=1, keepdims=True) - came) ** 2).sum()
        base += ((came.mean(axis=0) - came) ** 2).sum()
    assert f"it removes {1 - own / base:.0%} of the squared error" in " ".join(lead.predicts(content))


def test_what_is_within_its_error_is_not_called_better() -> None:
    rows, others = rows_of(300)[["a", "d"]], rows_of(200, seed=3)[["a", "d"]]
    said = " ".join(lead.predicts(gather(fs.BoltzmannMachine().fit(rows), rows, others)))
    assert "a row is on average about as probable as under independent columns (" in said
    assert "it does no better than the base rates" in said


def test_a_model_worse_than_a_baseline_is_called_less_probable() -> None:
    rows, others = rows_of(500), rows_of(500, seed=3)
    said = " ".join(lead.predicts(gather(fs.BoltzmannMachine(order=1).fit(rows), rows, others)))
    gain = re.search(r"([\d.]+)(%| times) (less|more) probable than under the best tree \((-[\d.]+) ±", said)
    assert gain is not None, said
    assert gain[3] == "less"
    expected = math.exp(float(gain[4]))
    assert float(gain[1]) == pytest.approx(100 * (1 - expected) if gain[2] == "%" else 1 / expected, rel=0.05)


def test_impossible_rows_are_counted() -> None:
    """100 rows and as many patterns: held-out rows are outside the states of a truncated machine."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.integers(0, 2, (100, 14)))
    machine = fs.TruncatedBoltzmannMachine().fit(rows)
    new = pd.DataFrame(rng.integers(0, 2, (60, 14)))
    impossible = int(np.isneginf(machine.score_samples(new)).sum())
    assert impossible > 30
    text = page(gather(machine, new))
    assert f"the model holds {impossible} impossible: their probability under it is 0." in text


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "no table was given"),
        ({"data": rows_of(500), "refit": False}, "a second fit was not wanted; --test FILE takes rows"),
    ],
)
def test_without_held_out_rows_it_says_why_and_what_is_known(model: Any, options: dict[str, Any], why: str) -> None:
    content = gather(model, **options)
    said = " ".join(lead.predicts(content))
    assert said.startswith("No rows were held out: ")
    assert why in said
    likelihood = float(np.mean(model.score_samples(rows_of(500))))
    shown = re.search(r"In the rows learned from: divergence from the data ([\d.]+) nats per row\.", said)
    assert shown is not None
    assert float(shown[1]) == pytest.approx(-likelihood - model.fitted_.entropy, abs=1e-4)
    for sentence in lead.known_fit(model):
        assert html.escape(sentence) in page(content)


def test_a_check_says_how_far_the_best_predictor_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both learn from the same four fifths; the way to the better one is named, also if the first fit was slow."""
    monkeypatch.setattr(checking, "AVERAGE", 2)
    rng = np.random.default_rng(0)
    a, b = rng.integers(2, size=(2, 400))
    rows = pd.DataFrame({"a": a, "b": b, "c": np.where(rng.random(400) < 0.9, a ^ b, 1 - (a ^ b))})
    tree = fs.ChowLiuTree().fit(rows)
    tree.fitted_ = replace(tree.fitted_, settings={**tree.fitted_.settings, "seconds": content_module.MAX_SECONDS + 1})
    content = gather(tree, rows, check=True)
    by_hand = checking.check(fs.ChowLiuTree(), rows)
    assert content.comparison is not None
    gain, error = content.comparison.difference(content_module.BEST, content_module.THIS)
    assert (gain, error) == (pytest.approx(by_hand.behind), pytest.approx(by_hand.error, rel=0.01))
    said = " ".join(lead.predicts(content))
    assert re.search(r"probable than under the best predictor \(−?-?[\d.]+ ± [\d.]+ nats per row\)", said)
    assert "To predict rather than to read, fullspan fit --average 2 learns the best predictor." in said
    assert "the best predictor" in page(content)
    best = fs.FullSpan(verbose=False).fit(rows)
    assert "no more than chance apart" in " ".join(lead.predicts(gather(best, rows, check=True)))
    with pytest.raises(FullspanError, match="cannot be learned: give --data with the table that the model"):
        gather(tree, check=True)
    with pytest.raises(FullspanError, match="cannot be learned: --no-refit holds no rows out"):
        gather(tree, rows, refit=False, check=True)


def test_a_fit_that_took_long_is_not_repeated() -> None:
    wide = fs.ChowLiuTree().fit(np.random.default_rng(0).integers(0, 2, (200, 40)))
    wide.fitted_ = replace(wide.fitted_, settings={**wide.fitted_.settings, "seconds": content_module.MAX_SECONDS + 1})
    content = gather(wide, np.random.default_rng(0).integers(0, 2, (200, 40)))
    assert content.comparison is None
    said = " ".join(lead.predicts(content))
    assert "its fit took 121 s, and it is learned again from a part of them only if that took at most 120 s" in said
    likelihood = float(wide.score(np.random.default_rng(0).integers(0, 2, (200, 40))))
    assert f"In the rows learned from: log-likelihood {likelihood:.4f} nats per row" in said


def test_rows_that_an_average_or_a_mixture_did_not_see_are_reported() -> None:
    rows = rows_of(400)
    average = fs.FullSpan(average=4, random_state=0).fit(rows)
    assert f"had not seen have {average.oob_score_:.4f} ±" in " ".join(lead.known_fit(average))
    mixture = fs.FullSpanMixture(runs=[(2, 1)], restarts=1, random_state=0).fit(rows)
    assert f"held out, to choose its size, have {mixture.fitted_.validation:.4f} nats" in " ".join(
        lead.known_fit(mixture)
    )


# -- what it leaves out ---------------------------------------------------------------------------------------------


def test_a_model_that_misses_a_pair_names_its_cell() -> None:
    rows = rows_of(500)
    single = fs.BoltzmannMachine(order=1).fit(rows)
    said = list(lead.leaves_out(gather(single, rows, refit=False)))
    assert said[0].startswith("A likelihood ratio test against all interactions rejects it (G² = ")
    cell = re.match(r"Farthest from the rows: (\d+) rows have (.*), where it expects ([\d.]+)\.", said[1])
    assert cell is not None
    levels = dict(part.split("=") for part in cell[2].split(", "))
    assert int(cell[1]) == (rows[list(levels)] == pd.Series(levels)).all(axis=1).sum()
    assert float(cell[3]) == pytest.approx(500 * single.probability(levels), abs=0.05)
    searched = fs.FullSpan().fit(rows)
    assert "is farther from the rows than chance explains" in " ".join(
        lead.leaves_out(gather(searched, rows, refit=False))
    )


def test_a_rejected_model_is_called_rejected() -> None:
    """R: loglin(UCBAdmissions, list(c(1,2), c(1,3), c(2,3))) has G2 = 20.204 on 5 degrees of freedom, p = 0.0011."""
    pairs = [["admit", "dept"], ["sex", "dept"], ["admit", "sex"]]
    machine = fs.BoltzmannMachine(margins=pairs, count_column="n").fit(berkeley())
    said = " ".join(lead.leaves_out(gather(machine, berkeley(), refit=False)))
    assert "rejects it (G² = 20.2, 5 degrees of freedom, p = 0.0011)." in said
    assert "19 rows have admit=no, sex=female, dept=A, where it expects 36.3." in said


# -- pictures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), [(10, 0), (10, 4), (2000, 1999), (37, 37)])
def test_intervals_of_shares_are_those_of_wilson(n: int, k: int) -> None:
    expected = binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert wilson(k / n, n) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_shares_are_those_of_the_model_and_of_the_rows(model: Any, content: Any) -> None:
    (row, picture), *_ = content.strongest
    assert row.variables == ("a", "b")
    assert (picture.title, picture.heading, picture.rows) == ("Share of b=y, by a", "a", ("n", "y"))
    rows = rows_of(500)
    for i, level in enumerate(picture.rows):
        near = rows[rows["a"] == level]
        assert picture.model[i, 0] == pytest.approx(model.probability(f"b=y | a={level}"))
        assert picture.data(i, 0) == pytest.approx((near["b"] == "y").mean())
        assert picture.interval(i, 0) == wilson(picture.data(i, 0), len(near))
        shown = f"data {picture.data(i, 0):.1%}, model {picture.model[i, 0]:.1%}"
        assert shown in page(content)
    assert picture.interval(0, 0)[0] < picture.data(0, 0) < picture.interval(0, 0)[1]


def test_ordered_levels_stand_in_order_and_whole() -> None:
    answers = ["strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree"]
    rng = np.random.default_rng(0)
    place = rng.integers(0, 5, 400)
    rows = pd.DataFrame(
        {"answer": np.array(answers)[place], "dose": np.where(rng.random(400) < place / 5, "much", "little")}
    )
    tree = fs.ChowLiuTree(levels={"answer": answers, "dose": ["little", "much"]}).fit(rows)
    content = gather(tree, rows, refit=False)
    ((_, picture),) = content.strongest
    assert picture.rows == tuple(answers)
    text = page(content)
    heads = re.findall(r'<th scope="row" class=t>([^<]*)</th>', text)
    assert heads == answers
    assert "…" not in text
    shades = [float(x) for x in re.findall(r"opacity:([\d.]+)\" title=\"(?:strongly|dis|nei|agr)", text)]
    assert shades == sorted(shades)
    assert len(shades) == 5


def test_a_table_too_large_to_look_at_is_cut_and_says_so() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 40, 4000)
    rows = pd.DataFrame({"x": x, "y": (x + rng.integers(0, 3, 4000)) % 40, "z": rng.integers(0, 2, 4000)})
    tree = fs.ChowLiuTree().fit(rows)
    row = next(one for one in tree.interactions_ if set(one.variables) == {"x", "y"})
    picture = shares_of(tree.distribution_, row)
    assert (len(picture.rows), len(picture.columns)) == (12, 6)
    assert picture.left_out == "the 12 most frequent of 40 combinations and the 6 most frequent of 40 levels"
    assert content_module.MAX_CELLS >= 40 * 40


def test_weak_interactions_are_not_shown_as_the_strongest(model: Any) -> None:
    content = gather(model, rows_of(500), refit=False)
    assert {row.variables for row, _ in content.strongest} == {
        row.variables for row in model.interactions_ if not row.is_weak
    }
    assert [row.nats_saved for row, _ in content.strongest] == sorted(
        (r.nats_saved for r, _ in content.strongest), reverse=True
    )


def test_bars_have_the_colour_of_their_direction(content: Any) -> None:
    """Blue goes with, orange against."""
    text = page(content)
    cards = re.findall(r"<h3>([^<]*)</h3>.*?--bar:var\(--(\w+)\)", text)
    assert cards == [("a and b", "with"), ("a and c", "against")]


# -- networks ---------------------------------------------------------------------------------------------------------

BIF = """network toy {}
variable rain { type discrete [ 2 ] { yes, no }; }
variable wet { type discrete [ 2 ] { yes, no }; }
probability ( rain ) { table 0.2, 0.8; }
probability ( wet | rain ) { (yes) 0.9, 0.1; (no) 0.1, 0.9; }
"""


def test_a_network_has_a_report(tmp_path: Path) -> None:
    from fullspan.people.cli import main

    path, out = tmp_path / "toy.bif", tmp_path / "toy.html"
    path.write_text(BIF)
    assert main(["report", str(path), "-o", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "given and not learned from rows. It joins 2 variables by 1 factor." in text
    assert "model 90.0%" in text
    assert f"{math.log(9):.1f}" in text  # the range of the logarithm of P(wet | rain)
    assert "range of log factor" in text
    assert "nats saved" not in text.lower().split("nats per row")[0].replace("so there are no nats saved", "")
    assert ">rows</dt>" not in text


def test_a_network_is_compared_with_rows(tmp_path: Path) -> None:
    path = tmp_path / "toy.bif"
    path.write_text(BIF)
    network = networks.Network.read(path)
    rows = network.sample(300, random_state=0)
    content = gather(network, rows)
    assert content.held_out == "300 held-out rows"
    said = " ".join(lead.predicts(content))
    assert said.startswith("Over 300 held-out rows")
    with pytest.raises(FullspanError):
        gather(network, pd.DataFrame({"rain": ["maybe"], "wet": ["no"]}))
