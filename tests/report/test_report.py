"""A report holds what it promises, escapes what it is given, and needs nothing but itself."""

from __future__ import annotations

import html
import itertools
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import fullspan as fs
from fullspan.data import count
from fullspan.errors import FullspanError
from fullspan.estimators.explain import InteractionTable
from fullspan.people.report import gather
from fullspan.people.report.caveats import caveats, interaction_notes
from fullspan.people.report.page import page, percent
from fullspan.query.margins import WorstCells, binomial_tails

VOID = {"meta", "line", "rect", "circle", "polyline", "path", "polygon", "br"}


class Balanced(HTMLParser):
    """Reads a page; every tag must be closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parsed(text: str) -> Balanced:
    reader = Balanced()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def rows_of(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, n), rng.integers(0, 2, n)
    c = a ^ b ^ (rng.random(n) < 0.05)  # only the three together are dependent
    d = np.where(rng.random(n) < 0.9, a, rng.integers(0, 2, n))
    return pd.DataFrame({"a": a, "b": b, "c": c.astype(int), "d<i>": d})


@pytest.fixture(scope="module")
def model() -> fs.FullSpan:
    return fs.FullSpan().fit(rows_of(400))


@pytest.fixture(scope="module")
def content(model: fs.FullSpan) -> Any:
    return gather(model, rows_of(400), title="<script>alert(1)</script>")


def test_it_is_one_file_that_loads_nothing(content: Any) -> None:
    """No script, no address, no link but into itself; what is inline needs no network."""
    text = page(content)
    reader = parsed(text)
    assert not [tag for tag, _ in reader.seen if tag in ("script", "link", "img", "iframe", "object")]
    assert "://" not in text
    assert "url(" not in text
    anchors = [attrs["href"] for tag, attrs in reader.seen if tag == "a"]
    ids = {attrs.get("id") for _, attrs in reader.seen}
    assert len(anchors) >= 5
    assert all(link is not None and link.startswith("#") and link[1:] in ids for link in anchors)


def test_names_and_titles_cannot_break_out(content: Any) -> None:
    text = page(content)
    assert "<script" not in text
    assert "<i>" not in text.replace("<i style", "")
    assert "d<i>" in "".join(parsed(text).text)


def test_every_promised_part_is_there(content: Any) -> None:
    """Data, interactions, fit, information by order, learning curve, calibration, warnings; every picture is named."""
    reader = parsed(page(content))
    text = " ".join(reader.text)
    for part in (
        "What was found",
        "All interactions",
        "What the data are",
        "fits worst",
        "each order explains",
        "predicts",
    ):
        assert part in text
    assert "Few data" in text or "To keep in mind" not in text
    assert "learned again from" in text
    assert "Chow–Liu tree" in text
    pictures = [attrs for tag, attrs in reader.seen if tag == "svg"]
    assert len(pictures) >= 4
    assert all(attrs.get("role") == "img" and attrs.get("aria-label") for attrs in pictures)


def test_information_by_order_finds_the_triple(content: Any) -> None:
    """Where c is the parity of a and b, nearly all of what c says is of order 3."""
    assert content.information[3] > 0.3
    assert sum(content.information.values()) == pytest.approx(np.log(16) - content.estimator.entropy(), abs=1e-9)


def test_rows_of_the_fit_are_recognised_and_others_are_held_out(model: fs.FullSpan) -> None:
    """The model's own rows are split and learned again; any other table is taken as it is."""
    own, other = gather(model, rows_of(400)), gather(model, rows_of(200, seed=5))
    assert own.is_training
    assert not other.is_training
    assert own.comparison is not None
    assert own.comparison.n_rows < 150
    assert other.comparison is not None
    assert other.comparison.n_rows == 200
    assert gather(model, rows_of(400), refit=False).comparison is None
    assert gather(model).data is None


def test_half_of_the_training_rows_of_a_small_table_is_not_called_held_out(model: fs.FullSpan) -> None:
    """Sixteen states: rows learned from and fresh rows look alike, and the report says so."""
    for rows in (rows_of(400)[:200], rows_of(200, seed=5)):
        text = " ".join(parsed(page(gather(model, rows))).text)
        assert "Whether the model was learned from some of these rows cannot be judged, because the same" in text
        assert "200 rows, some of which may be training rows." in text
        assert "held-out" not in text.lower().replace("look at the standard errors, and at the held-out rows", "")
    again = " ".join(parsed(page(gather(model, rows_of(400)))).text)
    assert "cannot be judged" not in again  # the rows it was tested on were held out by the report itself


def test_errors_and_the_curve_are_explained_as_they_are(model: fs.FullSpan, content: Any) -> None:
    """Given terms were not chosen; a tree has no standard errors; the curve of a machine is its likelihood."""
    rows, chosen = rows_of(400), "Standard errors do not account for the choice of the terms"
    assert chosen in page(content)
    assert "KL(data ‖ model) plus the price of the terms, in nats per row, after" in page(content)
    assert chosen not in page(gather(fs.ChowLiuTree().fit(rows), rows, refit=False))
    machine = fs.BoltzmannMachine(l2=0.01).fit(rows)
    text = page(gather(machine, rows, refit=False))
    assert chosen not in text
    assert "Minus the mean log-likelihood of the rows learned from plus the penalty, in nats, after" in text
    theta = np.asarray(machine.model_.theta)
    likelihood = float(np.mean(machine.score_samples(rows)))
    assert machine.fitted_.history[-1].cost == pytest.approx(-likelihood + 0.005 * float(theta @ theta), abs=1e-6)
    fitted = model.fitted_
    price = fitted.description_length / fitted.total - fitted.entropy
    assert min(step.cost for step in fitted.history) == pytest.approx(price, abs=0.01)


def test_labels_of_levels_are_whole() -> None:
    """Also of narrow shares: they stand below the bar, and not inside."""
    answers = ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"]
    rows = pd.DataFrame({"answer": np.repeat(answers, [1, 2, 14, 30, 53]), "other": [0, 1] * 50})
    text = page(gather(fs.ChowLiuTree(levels={"answer": answers}).fit(rows), rows, refit=False))
    assert all(f"{level} {share}%" in text for level, share in zip(answers, (1, 2, 14, 30, 53), strict=True))


def test_worst_cells_are_those_of_enumeration() -> None:
    """A model without a pair that the data have shows that pair first."""
    rows = rows_of(400)
    single = fs.BoltzmannMachine(order=1).fit(rows)
    found = gather(single, rows, refit=False).worst
    assert found is not None
    first = found.cells[0]
    assert set(first.levels) == {"a", "d<i>"}
    match = (rows[list(first.levels)] == pd.Series(first.levels)).all(axis=1)
    assert first.observed == match.sum()
    m = 400 * single.probability({name: int(level) for name, level in first.levels.items()})
    assert first.expected == pytest.approx(m)
    assert first.residual == pytest.approx((match.sum() - m) / np.sqrt(m * (1 - m / 400)))
    assert found.by_chance() < 0.001


def test_worst_cells_are_all_that_the_sentence_says() -> None:
    """By hand: every cell of every margin, largest first, one of a margin and none that contains one before it."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"a": rng.integers(0, 3, 90), "b": rng.integers(0, 3, 90), "c": rng.integers(0, 4, 90)})
    rows.loc[rows["a"] == 2, "c"] = 3
    rows.loc[5:, "b"] %= 2  # the third level is rare
    single = fs.BoltzmannMachine(order=1).fit(rows)
    content = gather(single, rows, refit=False)
    cells, n_rare = [], 0
    for names in (["a"], ["b"], ["c"], ["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"]):
        for levels in itertools.product(*(sorted(rows[name].unique()) for name in names)):
            cell = dict(zip(names, map(int, levels), strict=True))
            m, n = 90 * single.probability(cell), int((rows[names] == pd.Series(cell)).all(axis=1).sum())
            n_rare += m < 1
            if m >= 1:
                cells.append((abs(n - m) / np.sqrt(m * (1 - m / 90)), cell))
    kept: list[dict[str, int]] = []
    for size, cell in sorted(cells, key=lambda found: (-round(found[0], 9), len(found[1]))):
        if size > 1e-9 and not any(set(k) == set(cell) or k.items() <= cell.items() for k in kept):
            kept.append(cell)
    assert content.worst is not None
    assert [{k: int(v) for k, v in cell.levels.items()} for cell in content.worst.cells] == kept
    assert (content.worst.n_cells, content.worst.n_rare) == (len(cells), n_rare)
    assert n_rare > 0
    text = page(content)
    assert f"of {len(cells)}. {n_rare} more have an expected count below 1 and are not judged." in text
    assert "this one is farther than chance makes it" in text


def test_the_least_probable_of_many_cells_is_that_of_draws() -> None:
    """Independent binomial counts, most of them small: 5 % of tables at most are called more than chance."""
    rng = np.random.default_rng(0)
    expected = rng.choice([1.5, 4.0, 20.0, 45.0, 300.0], 400)
    counts = rng.binomial(2000, expected / 2000, (4000, 400)).astype(float)
    tails = binomial_tails(counts, 2000.0, expected / 2000)
    exact = 2 * np.minimum(binom.cdf(counts[0], 2000, expected / 2000), binom.sf(counts[0] - 1, 2000, expected / 2000))
    np.testing.assert_allclose(tails[0], np.minimum(exact, 1.0), rtol=1e-9)
    chances = np.array([WorstCells((), 400, 1, 0, None, least).by_chance() for least in tails.min(axis=1)])
    assert 0.02 < (chances <= 0.05).mean() < 0.06
    residuals = np.abs(counts - expected) / np.sqrt(expected * (1 - expected / 2000))
    normal = NormalDist().inv_cdf((1 + 0.95 ** (1 / 400)) / 2)
    assert (residuals.max(axis=1) > normal).mean() > 0.1  # one of twenty, if residuals were normal


def test_far_too_few_rows_are_not_called_chance() -> None:
    """A residual of -4.2 is what normal values reach among 10,106; so few rows are not."""
    tail = float(binomial_tails(np.array([17.0]), 16000.0, np.array([45.1 / 16000]))[0])
    assert 5e-7 < tail < 5e-6
    assert WorstCells((), 10_106, 3, 0, None, tail).by_chance() < 0.05


def test_warnings_in_plain_words() -> None:
    """Boundaries, missing cells, few rows, rare levels and early ends are said."""
    rows = rows_of(30)
    rows.loc[rows["a"] == 1, "b"] = 0  # a and b are never 1 together
    with pytest.warns(fs.errors.BoundaryWarning):
        limit = fs.BoltzmannMachine().fit(rows)
    said = " ".join(caveats(limit, limit._empirical))
    assert "never occur" in said
    assert "Few data" in said
    incomplete = rows_of(300).astype(float)
    incomplete.loc[:40, "b"] = np.nan
    holes = fs.FullSpan(missing="em").fit(incomplete)
    assert "most often in b (13.7% of its cells)" in " ".join(caveats(holes, holes._empirical))


def test_columns_that_tell_each_other_are_named() -> None:
    """Codes and their labels: the odds between them are those of no one, and each hides what the other does."""
    rng = np.random.default_rng(3)
    code = rng.integers(0, 3, 200)
    rows = pd.DataFrame({"code": code, "x": rng.integers(0, 2, 200), "label": np.array(["u", "v", "w"])[code]})
    said = " ".join(caveats(fs.BoltzmannMachine(order=1).fit(rows), count(rows)))
    assert "Copies: each of code, label determines the others in every row; odds and nats are split among them" in said
    rows.loc[0, "label"] = rows["label"][rows["label"] != rows["label"][0]].iloc[0]
    assert "Copies" not in " ".join(caveats(fs.BoltzmannMachine(order=1).fit(rows), count(rows)))


def test_warnings_agree_in_number() -> None:
    """One or several: weights on the boundary, constant columns, rows left out."""
    rows = {"a": [0, 1] * 30, "b": [0] * 60, "c": [0] * 60}
    for columns, sentence in (
        (["a", "b"], "Constant: b has only one level in these rows and carries no information."),
        (["a", "b", "c"], "Constant: b, c have only one level in these rows and carry no information."),
    ):
        model = fs.FullSpan(columns=columns, levels={name: [0, 1] for name in columns}).fit(rows)
        fitted = model.fitted_
        assert sentence in caveats(model, model._empirical)
        for n, words in ((1, "1 weight has no finite"), (2, "2 weights have no finite")):
            model.fitted_ = replace(fitted, diverging=(0,) * n, n_dropped=n, total=60.0 - n)
            said = caveats(model, model._empirical)
            assert any(text.startswith(f"On the boundary: {words}") for text in said)
            assert f"{n} of 60 rows {'was' if n == 1 else 'were'} left out because of missing cells." in said


def test_a_tree_of_many_variables_has_a_report(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (300, 1))
    rows = np.hstack([x ^ (rng.random((300, 1)) < 0.2) for _ in range(60)]).astype(int)
    text = page(gather(fs.ChowLiuTree().fit(rows), rows))
    assert "mutual information" in text
    assert "weaker variables" in text
    parsed(text)


def section(text: str, key: str) -> str:
    """A section of a page as it is read."""
    found = re.search(rf'<section id="{key}">.*?</section>', text)
    assert found is not None
    return " ".join("".join(parsed(re.sub("</(td|text|figure)>", r" \g<0>", found[0])).text).split())


def interactions_text(model: Any) -> str:
    """The section on interactions as it is read."""
    return section(page(gather(model)), "interactions")


def test_only_what_is_shown_is_explained() -> None:
    """Odds, cells, averages and approximations each have a sentence exactly where one is in the table."""
    pairs = fs.BoltzmannMachine(order=2).fit(rows_of(400))
    assert {(one.kind, one.approximate) for one in pairs.interactions_} == {("odds ratio", False)}
    text = interactions_text(pairs)
    assert "twice as high" in text
    assert "refitted." in text
    assert "of a cell" not in text
    assert "on average" not in text
    assert "tilde" not in text
    assert "averaged" not in text
    triples = fs.BoltzmannMachine(order=3, l2=1e-3).fit(rows_of(400))
    text = interactions_text(triples)
    assert "of a cell" in text
    assert "geometric mean" in text
    rough = replace(pairs.interactions_[0], approximate=True)
    assert "averaged fits" in " ".join(interaction_notes(pairs, InteractionTable([replace(rough, chosen=0.5)])))
    assert "a tilde marks an approximation" in " ".join(interaction_notes(pairs, InteractionTable([rough])))
    assert list(interaction_notes(pairs, InteractionTable([]))) == [
        "The model joins no variables: they are independent of each other."
    ]


def test_rows_of_the_table_have_the_colour_of_their_words(model: fs.FullSpan) -> None:
    text = page(gather(model))
    rows = re.findall(r"<td class=t>([^<]* goes (with|against) [^<]*)</td>.*?background:var\(--(\w+)\)", text)
    assert len(rows) == sum(one.direction != 0 for one in model.interactions_)
    assert all(word == role for _, word, role in rows)


def test_columns_have_shares_and_no_effects(model: fs.FullSpan) -> None:
    """No level of a single column is said to be favoured, or to have odds."""
    text = page(gather(model, rows_of(400), refit=False))
    assert "favoured" not in text
    data = section(text, "data")
    assert f"a 0 {1 - rows_of(400)['a'].mean():.0%}" in data
    assert "odds" not in data


def test_no_level_that_occurs_is_said_never_to() -> None:
    """Two rows of 500 are 0.4 %, and the other 498 are not all."""
    rows = pd.DataFrame({"rare": [1] * 2 + [0] * 498, "even": [0, 1] * 250})
    data = section(page(gather(fs.BoltzmannMachine(order=1).fit(rows), rows, refit=False)), "data")
    assert "rare 0 99.6%, 1 0.4%" in data
    assert "even 0 50%, 1 50%" in data
    shown = {0: "0%", 1: "100%", 0.01: "1%", 0.0042: "0.4%", 0.99984: "99.98%", 1e-9: "<0.01%", 1 - 1e-9: ">99.99%"}
    assert {share: percent(share) for share in shown} == shown


def test_ordered_levels_keep_their_order() -> None:
    dose = pd.Categorical(["low", "high", "medium", "low"] * 20, ["low", "medium", "high"], ordered=True)
    rows = pd.DataFrame({"dose": dose, "y": [0, 1, 1, 0] * 20})
    text = page(gather(fs.BoltzmannMachine(order=1).fit(rows)))
    shown = re.findall(r'title="(low|medium|high): ', text)
    assert shown == ["low", "medium", "high"]


def test_nats_of_a_chow_liu_tree_are_the_log_likelihood_of_its_edges() -> None:
    """As the report says: without a pseudo-count, cutting an edge loses just that much."""
    rows = rows_of(400)[["a", "d<i>"]]
    tree = fs.ChowLiuTree(pseudo_count=0).fit(rows)
    apart = fs.BoltzmannMachine(order=1).fit(rows)
    (edge,) = tree.interactions_
    assert edge.nats_saved == pytest.approx(tree.log_likelihood_ - apart.log_likelihood_)
    text = interactions_text(tree)
    assert "if the edge is dropped and the other edges stay." in text
    assert f" {edge.nats_saved:.1f} " in text  # this number is no approximation
    assert "~" not in text
    assert edge.words in text
    assert "other edges stay, up to the pseudo-count." in interactions_text(fs.ChowLiuTree().fit(rows))


def test_pairs_of_models_with_hidden_variables_have_no_odds() -> None:
    rows = rows_of(200)
    mixture = fs.FullSpanMixture(runs=[(2, 1)], restarts=1, validation_fraction=0, random_state=0).fit(rows)
    hidden = fs.HiddenChowLiuTree(n_states=2, restarts=1, max_iter=20, random_state=0).fit(rows)
    for text, why in ((interactions_text(mixture), "mixes several graphs"), (interactions_text(hidden), "by hidden")):
        assert "nats shared" in text
        assert "no one odds ratio" in text
        assert why in text
        assert "×" not in text
        assert "Nats saved" not in text


def test_a_model_of_some_columns_given_others_is_refused() -> None:
    classifier = fs.BoltzmannClassifier().fit(rows_of(100)[["a", "b"]], rows_of(100)["c"])
    with pytest.raises(FullspanError, match="predicts some columns"):
        gather(classifier)


def test_the_command_writes_it(tmp_path: Path, model: fs.FullSpan) -> None:
    from fullspan.people.cli import main

    model.save(tmp_path / "m.fsm")
    rows_of(100, seed=2).to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "r.html"
    assert main(["report", str(tmp_path / "m.fsm"), "--data", str(tmp_path / "rows.csv"), "-o", str(out)]) == 0
    assert re.search(r"<title>m – Fullspan report</title>", out.read_text(encoding="utf-8"))
    assert main(["report", str(tmp_path / "m.fsm"), "-o", str(tmp_path / "r.pdf")]) == 2


def test_a_machine_in_layers_is_refused(tmp_path: Path) -> None:
    """Its marginals are not summed: the report and the explorer say so, and name what takes it."""
    from fullspan.people.web import Explorer

    machine = fs.RestrictedBoltzmannMachine(n_hidden=2, max_iter=1, random_state=0).fit(rows_of(50))
    with pytest.raises(fs.FullspanError, match=r"RestrictedBoltzmannMachine.*fullspan compare"):
        gather(machine)
    machine.save(tmp_path / "layers.fsm")
    with pytest.raises(fs.FullspanError, match="RestrictedBoltzmannMachine"):
        Explorer(tmp_path / "layers.fsm")


def test_the_first_paragraph_says_how_far_the_model_is_from_the_data() -> None:
    """Exact under the model is one thing, the distance from the data another; both are said at once."""
    data = rows_of(300)
    tree = fs.ChowLiuTree().fit(data)
    lead = re.search(r'<p class="exact">(.*?)</p>', page(gather(tree, refit=False)))
    assert lead is not None
    assert "Answers are exact under the model" in lead[1]
    limits = tree.limits_
    assert limits is not None
    assert html.escape(limits[1:]) in lead[1]
    table = fs.FullSpan().fit(data)
    lead = re.search(r'<p class="exact">(.*?)</p>', page(gather(table, data, refit=False)))
    assert lead is not None
    assert "Largest pairwise misfit: " in lead[1]
    assert "nats per row" in lead[1]


def test_a_part_of_the_training_rows_is_not_called_held_out() -> None:
    rng = np.random.default_rng(1)
    rows = (rng.integers(0, 2, (800, 1)) ^ (rng.random((800, 14)) < 0.25)).astype(np.int64)
    tree = fs.ChowLiuTree().fit(rows[:500])
    content = gather(tree, rows, refit=False)
    assert not content.is_training
    assert content.training_share == pytest.approx(5 / 8, abs=0.08)
    assert f"about {content.training_share:.0%} of which are training rows" in content.held_out
    assert f"About {content.training_share:.0%} of the rows shown are those" in page(content)
    part = gather(tree, rows[:200], refit=False)
    assert part.is_training
    assert "The rows are among the 500 the model was learned from." in page(part)
    assert "The rows are those the model was learned from." in page(gather(tree, rows[:500], refit=False))
    fresh = gather(tree, rows[500:], refit=False)
    assert fresh.training_share == 0.0
    assert fresh.held_out == "300 held-out rows"
    assert "The model was not learned from these rows." in page(fresh)


def test_repeats_of_training_rows_are_not_called_those_learned_from() -> None:
    rng = np.random.default_rng(1)
    rows = (rng.integers(0, 2, (2000, 1)) ^ (rng.random((2000, 10)) < 0.2)).astype(np.int64)
    distinct = np.unique(rows, axis=0)
    found = gather(fs.ChowLiuTree().fit(distinct), rows, refit=False)
    times = f"occur about {2000 / len(distinct):.2g} times as often"
    assert not found.is_training
    assert found.held_out == f"2,000 rows, which equal training rows but {times}"
    text = " ".join(parsed(page(found)).text)
    assert f"The distinct rows shown equal rows the model was learned from, but {times}." in text
    assert "those the model was learned from" not in text


def test_rows_that_were_dropped_are_not_shown_as_learned_from() -> None:
    """Shares, residuals and the second fit are of the complete rows, as the fit was; of another table, of all rows."""
    rows = rows_of(400).astype(object)
    rows.loc[:79, "d<i>"] = None
    rows.loc[:79, "a"] = 1
    model, complete = fs.BoltzmannMachine(missing="drop").fit(rows), rows.dropna()
    found = gather(model, rows)
    assert found.is_training
    assert found.data.total == 320  # type: ignore[union-attr]
    np.testing.assert_allclose(found.shares[0].observed, [(complete["a"] == k).mean() for k in (0, 1)])
    assert np.abs(found.shares[0].observed - found.shares[0].expected).max() < 1e-6
    numbers = re.search(r"learned again from (\d+) of these rows and tested on the other (\d+)", found.held_out)
    assert sum(map(int, numbers.groups())) == 320  # type: ignore[union-attr]
    assert "Learned from 320 rows (80 dropped: missing cells):" in page(found)
    other = rows_of(400, seed=1).astype(object)
    other.loc[:79, "b"] = None
    assert gather(model, other, refit=False).data.total == 400


def test_a_model_of_two_columns_that_fits_every_cell_says_so() -> None:
    """And does not blame the number of columns."""
    rows = rows_of(400)[["a", "d<i>"]]
    text = page(gather(fs.BoltzmannMachine().fit(rows), rows, refit=False))
    assert "too many variables" not in text
    assert "Nowhere: in all 8 cells of margins of up to 2 variables the model expects the counts of these rows." in text
