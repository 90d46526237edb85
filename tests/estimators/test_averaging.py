"""Averages of searches by elimination: questions are answered without a table of states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import fullspan as fs
from fullspan.errors import QueryError


def chain(n_rows: int, n: int, seed: int) -> NDArray[np.int64]:
    """Rows in which every column follows its neighbour four times in five."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(2, size=(n_rows, n))
    for i in range(1, n):
        follows = rng.random(n_rows) < 0.8
        rows[follows, i] = rows[follows, i - 1]
    return rows


@pytest.fixture(scope="module")
def wide() -> fs.FullSpan:
    """Seventy columns: terms have places beyond 64 bits."""
    return fs.FullSpan(average=3, max_width=2, random_state=1).fit(chain(300, 70, 0))


def test_a_wide_average_is_the_mean_of_its_members(wide: fs.FullSpan) -> None:
    """log p(x) of the estimator equals the log-mean-exp over the members."""
    rows = chain(20, 70, 1)
    expected = np.logaddexp.reduce([m.log_prob(rows) for m in wide.model_.members]) - np.log(3)
    np.testing.assert_allclose(wide.score_samples(rows), expected, rtol=1e-10)


def test_conditionals_of_a_wide_average_are_ratios_of_mean_sums(wide: fs.FullSpan) -> None:
    """P(a | b) = P(a, b) / P(b), each a mean over the members."""
    single = [m for m in wide.model_.members]
    from fullspan.query.distributions import LogLinearDistribution

    both = np.mean([LogLinearDistribution(m).probability("x3=1, x40=0") for m in single])
    given = np.mean([LogLinearDistribution(m).probability("x40=0") for m in single])
    assert wide.probability("x3=1 | x40=0") == pytest.approx(both / given, rel=1e-9)


def test_a_wide_average_survives_its_file(wide: fs.FullSpan, tmp_path: Path) -> None:
    """Members' weights go with their terms, whatever the places of these."""
    wide.save(tmp_path / "wide.fsm")
    rows = chain(20, 70, 2)
    again = fs.load(tmp_path / "wide.fsm")
    np.testing.assert_allclose(again.score_samples(rows), wide.score_samples(rows), rtol=1e-12)


def test_a_narrow_average_by_elimination_is_asked_through_its_table() -> None:
    """Where the table fits, the mode and the entropy of all variables are known too."""
    model = fs.FullSpan(engine="elimination", average=2, random_state=0).fit(chain(200, 6, 3))
    p = np.exp(model.score_samples(np.array(list(np.ndindex(*(2,) * 6)))))
    assert p.sum() == pytest.approx(1, abs=1e-9)
    assert model.entropy() == pytest.approx(-(p * np.log(p)).sum(), rel=1e-9)


def test_the_mode_of_a_wide_average_is_refused(wide: fs.FullSpan) -> None:
    """The likeliest state of a sum is not found by sums."""
    with pytest.raises(QueryError, match="mixture"):
        wide.mode()
