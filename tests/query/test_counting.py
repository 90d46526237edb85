"""Expected rows of an event, with an interval: N(...) in words and ``expected_rows``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import fullspan as fs
from fullspan.errors import QueryError
from fullspan.query.language import Count


@pytest.fixture(scope="module")
def model() -> fs.BoltzmannMachine:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 4, 500), rng.integers(0, 2, 500)
    return fs.BoltzmannMachine(l2=0.01).fit({"a": a, "b": np.where(rng.random(500) < 0.7, b, a % 2)})


@pytest.mark.parametrize("event", ["a >= 2", "a=1 or not b=0", "a in 0..1, b=1"])
def test_a_count_is_rows_times_probability(model: fs.BoltzmannMachine, event: str) -> None:
    """In the whole language; the interval holds at least 95 % of binomial draws, and each tail at most 2.5 %."""
    found = model.distribution_.ask(f"N({event})")
    assert isinstance(found, Count)
    p = model.probability(event)
    assert found.expected == pytest.approx(500 * p, rel=1e-12)
    assert binom.cdf(found.high, 500, p) - binom.cdf(found.low - 1, 500, p) >= 0.95
    assert binom.cdf(found.low - 1, 500, p) <= 0.025
    assert binom.sf(found.high, 500, p) <= 0.025
    assert found == model.expected_rows(event)
    assert model.expected_rows(event, 7000).expected == pytest.approx(7000 * p)


def test_what_is_certain_has_no_interval(model: fs.BoltzmannMachine) -> None:
    assert model.expected_rows("a >= 0") == Count(500.0, 500, 500, 500)
    assert str(Count.of(0.0, 10)) == "0.0 of 10 rows (95 %: 0 to 0)"
    assert model.expected_rows("b=1", 0).high == 0


def test_what_is_no_count_is_refused(model: fs.BoltzmannMachine, tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="without a condition"):
        model.distribution_.ask("N(a=1 | b=1)")
    with pytest.raises(QueryError, match="is expected after 'a'"):
        model.distribution_.ask("N(a)")
    with pytest.raises(QueryError, match=r"n_rows is 2\.5"):
        model.expected_rows("a=1", 2.5)  # type: ignore[arg-type]
    network = fs.BoltzmannMachine(l2=0.01).fit({"a": [0, 1, 1, 0], "b": [0, 1, 0, 0]}).distribution_
    network.total = None
    with pytest.raises(QueryError, match="rows behind this model is not known"):
        network.ask("N(a=1)")
    assert network.expected_rows("a=1", 9).n_rows == 9


def test_a_model_of_other_margins_is_of_no_rows(model: fs.BoltzmannMachine) -> None:
    other = model.with_margins({"b": {0: 0.25, 1: 0.75}})
    with pytest.raises(
        QueryError, match=r"rows behind .* ask for P\(...\) and multiply it .*; in Python, expected_rows"
    ):
        other.distribution_.ask("N(b=0)")
    assert other.expected_rows("b=0", 1000).expected == pytest.approx(250)


def test_in_a_terminal_and_the_explorer(
    model: fs.BoltzmannMachine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from fullspan.people.cli import main

    model.save(tmp_path / "m.fsm")
    assert main(["query", str(tmp_path / "m.fsm"), "N(a=1)"]) == 0
    assert capsys.readouterr().out == f"N(a=1) = {model.expected_rows('a=1')}\n"
    assert main(["query", str(tmp_path / "m.fsm"), "N(a=1)", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)[0]
    assert found["query"] == "N(a=1)"
    assert (found["low"], found["high"], found["n_rows"]) == (*_ends(model), 500)
    from fullspan.people.web import Explorer

    reply = Explorer(tmp_path / "m.fsm").ask("N(a=1)", {})
    assert reply["variables"] == ["rows"]
    assert reply["rows"][0]["levels"] == [str(model.expected_rows("a=1"))]


def _ends(model: fs.BoltzmannMachine) -> tuple[int, int]:
    found = model.expected_rows("a=1")
    return found.low, found.high
