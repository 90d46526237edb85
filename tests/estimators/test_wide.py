"""``FullSpan(engine="elimination")``: chosen by itself, the same questions, files, gaps, and the command line."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import fullspan as fs
from fullspan.errors import FullspanError, QueryError


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
    assert wide.fitted_.settings["predicted_seconds"] > 0
    assert np.isfinite([term.standard_error for term in wide.terms_]).all()
    small = fs.FullSpan().fit(rows(5, 200, 0))
    assert "engine_chosen" not in small.fitted_.settings


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
    """The published search, L1 and hidden variables are of the table, and an unknown engine is named."""
    data = rows(5, 100, 3)
    for options in ({"search": "paper"}, {"l1": 0.1}, {"hidden": 1}):
        with pytest.raises(FullspanError, match="engine='table'"):
            fs.FullSpan(engine="elimination", **options).fit(data)  # type: ignore[arg-type]
    with pytest.raises(FullspanError, match="choose one of"):
        fs.FullSpan(engine="steam").fit(data)
    with pytest.raises(FullspanError, match="max_width"):
        fs.FullSpan(max_width=0).fit(data)
