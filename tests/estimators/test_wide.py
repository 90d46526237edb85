"""``FullSpan(engine="elimination")``: chosen by itself, the same questions, files, gaps, and the command line."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import fullspan as fs
from fullspan.data import Empirical, Space, Variable
from fullspan.engine import memory
from fullspan.errors import FullspanError, QueryError, TooLargeError
from fullspan.estimators.engines import choose_engine
from fullspan.learn.likelihood import MachineOptions, fit_machine
from fullspan.learn.search import Options


def rows(n: int, size: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    out = (rng.random((size, n)) < 0.4).astype(np.int64)
    for i in range(1, n):
        out[:, i] = np.where(rng.random(size) < 0.7, out[:, i - 1], out[:, i])
    return out


@pytest.fixture(scope="module")
def wide() -> fs.FullSpan:
    return fs.FullSpan(max_width=2).fit(rows(60, 1500, 0))


def test_elimination_is_chosen_where_the_table_would_not_fit(wide: fs.FullSpan) -> None:
    """2^60 states: the search runs by elimination, within its width, and has terms with errors."""
    assert wide.fitted_.settings["engine_chosen"] == "elimination"
    assert wide.fitted_.settings["engine"] == "auto"
    assert wide.fitted_.settings["width"] <= 2
    assert "predicted_seconds" not in wide.fitted_.settings
    assert np.isfinite([term.standard_error for term in wide.terms_]).all()
    assert wide.fitted_.settings["engine_reason"].startswith("by elimination: the table of 1.2·10¹⁸ states would take")
    small = fs.FullSpan().fit(rows(5, 200, 0))
    assert "engine_chosen" not in small.fitted_.settings
    assert small.fitted_.settings["engine_reason"] == "on the table of 32 states"


LYMPHOGRAPHY = (4, 4, 2, 2, 2, 2, 2, 2, 2, 3, 4, 3, 4, 4, 8, 3, 2, 2, 8)
"""Levels of the 19 columns of that table, which has 148 rows: 905,969,664 states."""


def coded(cards: tuple[int, ...], n_rows: int, *, gaps: bool = False) -> Empirical:
    """Rows of these levels; the choice of an engine asks for no more."""
    codes = np.random.default_rng(0).integers(0, cards, (n_rows, len(cards)))
    codes[:1, :1] = -1 if gaps else codes[:1, :1]
    return Empirical.from_codes(codes, space=Space.of_cards(cards), allow_missing=gaps)


@pytest.fixture
def roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with 20 GiB free and no GPU."""
    monkeypatch.setattr(memory, "available_bytes", lambda: 20 << 30)
    monkeypatch.setattr("fullspan.engine.cuda.device.why_not", lambda: "there is none")


@pytest.mark.usefixtures("roomy")
def test_few_rows_do_not_take_gigabytes_by_themselves() -> None:
    """148 rows of 9·10^8 states: elimination, although 7 GiB are free; the table where it is asked for."""
    few = coded(LYMPHOGRAPHY, 148)
    choice = choose_engine("auto", few, Options())
    assert choice.is_wide
    assert choice.reason == (
        "by elimination: the table of 9.1·10⁸ states would take about 6.84 GiB, and for 148 rows at most 1 GiB is "
        "taken unless engine='table' or max_memory= is given"
    )
    asked = choose_engine("table", few, Options())
    assert (asked.is_wide, asked.reason) == (False, "on the table of 9.1·10⁸ states, as asked")
    assert choose_engine("elimination", few, Options()).reason == "by elimination, as asked"


@pytest.mark.usefixtures("roomy")
@pytest.mark.parametrize("n", [16, 20, 24, 26])
@pytest.mark.parametrize("n_rows", [100, 20_000])
def test_ordinary_tables_stay_on_the_table(n: int, n_rows: int) -> None:
    choice = choose_engine("auto", coded((2,) * n, n_rows), Options())
    assert not choice.is_wide
    assert choice.reason.startswith("on the table of ")


@pytest.mark.usefixtures("roomy")
def test_a_search_of_minutes_is_not_chosen_even_where_memory_is_allowed() -> None:
    """2^30 states in 16 GiB: the limit of memory holds, that of time does not."""
    choice = choose_engine("auto", coded((2,) * 30, 200), Options(max_memory=16 << 30))
    assert (
        choice.reason
        == "by elimination: the table of 1.1·10⁹ states would take minutes; engine='table' takes it all the same"
    )
    assert not choose_engine("auto", coded((2,) * 27, 200), Options(max_memory=16 << 30)).is_wide
    assert choose_engine("auto", coded((2,) * 27, 200), Options()).is_wide


@pytest.mark.usefixtures("roomy")
def test_missing_cells_count_the_five_tables_of_completed_data() -> None:
    assert not choose_engine("auto", coded((2,) * 26, 200), Options()).is_wide
    reason = choose_engine("auto", coded((2,) * 26, 200, gaps=True), Options()).reason
    assert "would take about 2.5 GiB, and for 200 rows at most 1 GiB" in reason


@pytest.mark.usefixtures("roomy")
def test_what_only_the_table_has_takes_no_gigabytes_unasked() -> None:
    """The published search and machines are refused with the size and what to do; hidden variables need no table."""
    few = coded(LYMPHOGRAPHY, 148)
    with pytest.raises(TooLargeError, match=r"6\.84 GiB.*engine='table'.*not support search='paper'.*columns="):
        choose_engine("auto", few, Options(search="paper"))
    hidden = (Variable("h", (0, 1)),)
    assert "1.8·10⁹ states" in choose_engine("auto", few, Options(), hidden).reason
    assert not choose_engine("table", few, Options(), hidden).is_wide
    with pytest.raises(TooLargeError, match=r"for 148 rows needs 13\.5 GiB; 1 GiB may be used.*max_memory="):
        fit_machine(few, MachineOptions())
    with pytest.raises(TooLargeError, match="use fewer hidden units"):
        fit_machine(few, MachineOptions(), hidden)
    with pytest.raises(FullspanError, match="at most 1,048,576 are possible"):
        fs.FullSpan(shrinkage="evidence").fit(few.states)
    with pytest.raises(TooLargeError, match=r"models of 67,108,864 states needs .* 1 GiB may be used.*max_memory="):
        fs.fit_many(coded((2,) * 26, 200).states, bootstrap=2, random_state=0, device="cpu")


def test_answers_are_those_of_enumeration() -> None:
    """Conditionals, modes and scores of a model of 7 variables learned by elimination."""
    model = fs.FullSpan(engine="elimination", max_width=3).fit(rows(7, 800, 1))
    states = np.array(list(itertools.product((0, 1), repeat=7)))
    p = np.exp(model.score_samples(states))
    assert p.sum() == pytest.approx(1.0)
    given = states[:, 3] == 1
    expected = p[given & (states[:, 0] == 1)].sum() / p[given].sum()
    assert model.probability("x0=1 | x3=1") == pytest.approx(expected)
    assert list(model.mode().values()) == states[p.argmax()].tolist()


def test_wide_models_answer_sample_and_are_saved(wide: fs.FullSpan, tmp_path: Path) -> None:
    """P(x1 | x0) of a chain is near 0.7 + 0.3 * 0.4; samples, imputations and files work on 60 columns."""
    assert wide.probability("x1=1 | x0=1") == pytest.approx(0.82, abs=0.04)
    assert np.asarray(wide.sample(5, random_state=0)).shape == (5, 60)
    wide.save(tmp_path / "wide.fsm")
    again = fs.load(tmp_path / "wide.fsm")
    held = rows(60, 50, 2)
    assert again.score(held) == pytest.approx(wide.score(held))
    assert again.get_params()["max_width"] == 2


def test_entropies_of_sixty_variables_need_no_table(wide: fs.FullSpan) -> None:
    """H(x | e) = -<log p(x | e)>, by a sample; H(x) = H(x_0) + H(x | x_0); averages refuse with the way out."""
    sample = wide.sample(4000, random_state=0, given="x0=1")
    surprise = np.log(wide.probability("x0=1")) - wide.score_samples(sample)
    error = surprise.std() / np.sqrt(4000)
    assert wide.entropy(given={"x0": 1}) == pytest.approx(surprise.mean(), abs=4 * error)
    assert wide.entropy() == pytest.approx(wide.entropy("x0") + wide.entropy(given=["x0"]))
    parts = [wide.probability(f"x0={x}") * wide.entropy(given={"x0": x}) for x in (0, 1)]
    assert sum(parts) == pytest.approx(wide.entropy(given=["x0"]))
    average = fs.FullSpan(max_width=1, average=2, random_state=0).fit(rows(60, 300, 0))
    with pytest.raises(QueryError, match="estimate it"):
        average.entropy()


def test_what_only_the_table_has_is_refused() -> None:
    """The published search and L1 are of the table, and an unknown engine is named."""
    data = rows(5, 100, 3)
    for options in ({"search": "paper"}, {"l1": 0.1}):
        with pytest.raises(FullspanError, match="engine='table'"):
            fs.FullSpan(engine="elimination", **options).fit(data)  # type: ignore[arg-type]
    with pytest.raises(FullspanError, match="choose one of"):
        fs.FullSpan(engine="steam").fit(data)
    with pytest.raises(FullspanError, match="max_width"):
        fs.FullSpan(max_width=0).fit(data)


def test_averages_of_wide_tables_have_no_hidden_variables() -> None:
    with pytest.raises(FullspanError, match="average=2 by elimination does not support hidden variables"):
        fs.FullSpan(engine="elimination", hidden=1, average=2).fit(rows(5, 100, 3))
