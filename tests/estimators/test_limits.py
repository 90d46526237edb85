"""What a model says about itself: how it ended, how far it is from its data, and how it does without the full table."""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullspan as fs
from fullspan.data import Empirical
from fullspan.errors import ConvergenceWarning, FullspanError
from fullspan.estimators.explain import ENDINGS, ended_early, ending, ending_words, limits
from fullspan.model import Fitted
from fullspan.query import pair_misfit as pairs


def rows_of(n: int = 600, columns: int = 6, seed: int = 0) -> np.ndarray:
    """A ring of columns, each a noisy copy of the one before: no tree holds all its pairs."""
    rng = np.random.default_rng(seed)
    found = np.zeros((n, columns), dtype=np.int64)
    found[:, 0] = rng.integers(0, 2, n)
    for j in range(1, columns):
        found[:, j] = found[:, j - 1] ^ (rng.random(n) < 0.15)
    found[:, -1] = np.where(rng.random(n) < 0.5, found[:, 0], found[:, -1])
    return found


def by_enumeration(model: Any, rows: np.ndarray) -> tuple[float, dict[tuple[str, str, str, str], float]]:
    """The largest difference over all cells of all pairs, one question and one count at a time; and all of them."""
    names = list(model.space_.names)[: rows.shape[1]]
    found = {}
    for i, j in itertools.combinations(range(len(names)), 2):
        for x, y in itertools.product((0, 1), repeat=2):
            p = model.probability({names[i]: x, names[j]: y})
            found[names[i], str(x), names[j], str(y)] = p - float(((rows[:, i] == x) & (rows[:, j] == y)).mean())
    return max(map(abs, found.values())), found


MODELS = {
    "elimination": lambda: fs.FullSpan(engine="elimination", max_width=1),
    "tree": lambda: fs.ChowLiuTree(),
    "hidden tree": lambda: fs.HiddenChowLiuTree(n_states=3, restarts=1, random_state=0),
    "mixture": lambda: fs.FullSpanMixture(runs=[(2, 1)], restarts=1, random_state=0),
    "truncated": lambda: fs.TruncatedBoltzmannMachine(max_order=1, unseen=0.01),
    "pcd": lambda: fs.BoltzmannMachine(order=1, solver="pcd", max_iter=300, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_largest_pairwise_misfit_is_the_largest_of_all_pairs(name: str, tmp_path: Path) -> None:
    rows = rows_of()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MODELS[name]().fit(rows)
    record = model.fitted_.settings["misfit"]
    largest, every = by_enumeration(model, rows)
    (a, x), (b, y) = record["cell"].items()
    assert record["draws"] == 0
    assert record["model"] - record["data"] == pytest.approx(every[a, x, b, y], abs=1e-9)
    assert abs(record["model"] - record["data"]) == pytest.approx(largest, abs=1e-8)
    assert f"P({a}={x}, {b}={y}) is {record['model']:.3f}" in model.limits_
    model.save(tmp_path / "m.fsm")
    assert fs.load(tmp_path / "m.fsm").limits_ == model.limits_


def test_a_fit_by_the_table_has_no_such_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert fs.FullSpan(engine="table", verbose=True).fit(rows_of()).limits_ is None
    assert "misfit" not in capsys.readouterr().err
    model = fs.FullSpan(engine="elimination", verbose=True).fit(rows_of())
    assert model.limits_.startswith(f"by elimination, width {model.fitted_.settings['width']}; largest pairwise misfit")
    assert capsys.readouterr().err.count(model.limits_) == 1


def test_a_misfit_by_draws_is_near_the_exact_one_and_says_that_it_is_an_estimate() -> None:
    """The cell is chosen on one half of the draws and measured on the other: the estimate is not biased upwards."""
    rows = rows_of(2000)
    model = fs.ChowLiuTree().fit(rows)
    data = Empirical.from_codes(rows)
    rng = np.random.default_rng(0)
    found = pairs.pair_misfit(
        model.distribution_,
        data,
        lambda: pairs.sampled_misfit(lambda n: model.distribution_.sample(n, rng), data),
        work=0,
    )
    assert found is not None
    assert found.draws == pairs.N_DRAWS // 2
    exact = model.distribution_.pairs()
    assert exact is not None
    assert found.model == pytest.approx(float(exact[pairs._entries(found.cell, data.space)]), abs=5 * found.error)
    words = limits.misfit_words({"cell": found.cell, "model": found.model, "data": found.data, "draws": found.draws})
    assert f"found in {found.draws:,} draws" in words
    assert "±" in words


def test_layered_machines_estimate_it_by_chains() -> None:
    model = fs.RestrictedBoltzmannMachine(n_hidden=2, max_iter=2, random_state=0).fit(rows_of())
    assert "learned by sampling; largest pairwise misfit found in 1,000 draws" in model.limits_


def test_what_is_too_expensive_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_CHAIN_WORK", 1.0)
    model = fs.RestrictedBoltzmannMachine(n_hidden=2, max_iter=2, random_state=0).fit(rows_of())
    assert "not measured (drawing rows from so large a machine takes too long" in model.limits_


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"cell": {"a": "1", "b": "1"}, "model": 0.103, "data": 0.081}, "P(a=1, b=1) is 0.103 in the model, 0.081"),
        ({"cell": {"a": "1", "b": "1"}, "model": 0.10003, "data": 0.1}, "is 0.100030 in the model, 0.100000 in"),
        ({"cell": {"a": "1", "b": "1"}, "model": 0.1, "data": 0.1}, "none, every P of two columns is that of the data"),
        (None, "not known, as in files of earlier versions"),
    ],
)
def test_misfits_in_words_show_the_digits_that_differ(record: Any, words: str) -> None:
    assert words in limits.misfit_words(record)


# -- baselines ------------------------------------------------------------------------------------------------


def test_baselines_are_the_entropies_of_the_columns_and_of_all_states() -> None:
    rows = rows_of()
    found = limits.baselines(Empirical.from_codes(rows))
    shares = rows.mean(axis=0)
    entropy = -(shares * np.log(shares) + (1 - shares) * np.log(1 - shares)).sum()
    assert found["independent"] == pytest.approx(-entropy)
    assert found["uniform"] == pytest.approx(-6 * math.log(2))


def test_baselines_leave_out_missing_cells() -> None:
    data = Empirical.from_codes([[0, 0], [1, -1], [0, 1], [1, -1]], allow_missing=True)
    assert limits.baselines(data) == pytest.approx({"independent": -1.5 * math.log(2), "uniform": -1.5 * math.log(2)})


def test_the_divergence_is_shown_of_dense_tables_only() -> None:
    """A sparse table has almost every row alone in its state; its divergence says nothing about the model."""
    dense = fs.FullSpan().fit(rows_of(600)).fitted_
    assert limits.likelihood_line(dense) == f"divergence from the data {dense.divergence:.4f} nats per row"
    sparse = fs.FullSpan().fit(rows_of(60)).fitted_
    line = limits.likelihood_line(sparse)
    gain = limits.mean_log_likelihood(sparse) - sparse.settings["baselines"]["independent"]
    assert gain > 0
    assert f"log-likelihood {limits.mean_log_likelihood(sparse):.4f} nats per row, {gain:.4f} above independent" in line
    assert "divergence" not in line
    bare = replace(sparse, settings={})
    assert limits.likelihood_line(bare) == f"log-likelihood {limits.mean_log_likelihood(sparse):.4f} nats per row"


# -- endings --------------------------------------------------------------------------------------------------


def _with(status: str, **settings: Any) -> Fitted:
    return replace(fs.FullSpan().fit(rows_of(100, 3)).fitted_, status=status, settings=settings)


def test_every_status_of_the_learners_has_a_sentence_and_early_ones_a_remedy() -> None:
    """All words that a learner ends with, read from its source."""
    import re

    import fullspan.learn

    words = set()
    for path in Path(fullspan.learn.__path__[0]).rglob("*.py"):
        words |= set(
            re.findall(r'"((?:[a-z]+ limit)|max_iter|converged|diverged|interrupted)"', path.read_text("utf-8"))
        )
    assert {"term limit", "iteration limit", "rounding limit", "step limit", "interrupted"} <= words
    assert words <= set(ENDINGS)
    assert all(bool(found.remedy) == ended_early(status) for status, found in ENDINGS.items())


def test_endings_name_numbers_and_remedies() -> None:
    assert "stopped at the limit of 2,048 terms" in ending(_with("term limit")).sentence
    assert "penalty=2.0" in ending(_with("term limit")).remedy
    assert "differs from the data's by 0.02" in ending_words(_with("iteration limit", violation=0.02))
    assert "Remedy: use a higher max_iter" in ending_words(_with("iteration limit"))
    assert "more chains" in ending_words(_with("iteration limit", solver="pcd"))
    assert "Remedy: use learning_rate=0.05" in ending_words(_with("diverged", learning_rate=0.5))
    assert "'odd'" in ending_words(_with("odd"))


@pytest.mark.parametrize("status", ["{x}", "{", "{0}", "{terms.__class__}"])
def test_a_status_from_a_file_is_no_template(status: str) -> None:
    assert ending_words(_with(status)) == f"{status}: the fit ended with the status {status!r}"


@pytest.mark.parametrize(
    "odd", ["{x}", [], {}, {"cell": 1}, {"cell": {"a": 1}}, {"cell": {}, "model": "x"}, True, math.nan]
)
def test_odd_settings_of_a_file_are_not_shown_as_numbers(odd: Any) -> None:
    names = ("violation", "learning_rate", "solver", "misfit", "baselines")
    fitted = _with("iteration limit", **dict.fromkeys(names, odd))
    assert "the solver stopped at its limit of iterations" in ending_words(fitted)
    assert "the weights diverged" in ending_words(replace(fitted, status="diverged"))
    assert "not known" in limits.misfit_words(odd)
    assert "above" not in limits.likelihood_line(fitted)


# -- times ----------------------------------------------------------------------------------------------------


def test_compare_shows_the_time_of_the_fit_or_that_it_is_not_known() -> None:
    rows = rows_of()
    model = fs.FullSpan().fit(rows)
    model.fitted_ = replace(model.fitted_, settings={**model.fitted_.settings, "seconds": 12.5})
    old = fs.FullSpan().fit(rows)
    old.fitted_ = replace(old.fitted_, settings={})
    found = fs.compare({"new": model, "old": old}, rows_of(seed=1), baselines=False)
    times = {row.name: (row.fit_seconds, row.cells()[-2].strip()) for row in found}
    assert times["new"] == (12.5, "12.5 s")
    assert math.isnan(times["old"][0])
    assert times["old"][1] == "not known"


def test_one_column_has_no_pairs() -> None:
    assert "there is one column only" in fs.ChowLiuTree().fit([[0], [1], [1]]).limits_


def test_errors_of_measuring_are_said_and_not_raised() -> None:
    def fails() -> None:
        raise FullspanError("no way")

    fitted = limits.recorded(fs.ChowLiuTree().fit(rows_of()).fitted_, Empirical.from_codes(rows_of()), 1.0, fails)
    assert limits.limit_line(fitted) == "a tree, width 1; largest pairwise misfit: not measured (no way)"


def test_a_thousand_columns_are_listed_on_one_short_line() -> None:
    """`fullspan show` names thirty columns of the same levels, and says how many there are besides."""
    from fullspan.data import Space
    from fullspan.estimators.explain import variable_lines

    (line,) = variable_lines(Space.of_cards((2,) * 1000).variables)
    assert line.startswith("  x0, x1, ")
    assert line.endswith("x29 and 970 more: 0, 1")
