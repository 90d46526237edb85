"""Progress: silent when quick, one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fullspan.data import Empirical
from fullspan.estimators.progress import Reporter
from fullspan.learn.trees.hidden_tree import TreeOptions, fit_hidden_tree
from fullspan.learn.wide.ensemble import MixtureOptions, fit_mixture
from fullspan.model.fitted import Step


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress(seconds: float, n_terms: int) -> Any:
    return SimpleNamespace(move="append", n_terms=n_terms, cost=1.5, seconds=seconds)


def test_a_quick_fit_is_silent() -> None:
    stream = io.StringIO()
    reporter = Reporter(stream)
    reporter(progress(0.1, 1))
    reporter.close()
    assert stream.getvalue() == ""


def test_a_log_file_gets_whole_lines() -> None:
    stream = io.StringIO()
    reporter = Reporter(stream)
    reporter.interval = 0.0
    reporter(progress(0.1, 1))
    reporter(progress(0.2, 2))
    reporter.close()
    assert stream.getvalue().splitlines() == [
        "   0.1 s  append   1 terms  cost 1.50000 nats/row",
        "   0.2 s  append   2 terms  cost 1.50000 nats/row",
    ]


def test_runs_of_mixtures_and_hidden_trees_are_told() -> None:
    """Which run of how many, its size, and what the rows held out say: there are no terms to count."""
    rows = np.random.default_rng(0).integers(0, 2, (60, 4))
    rows[:, 1] = rows[:, 0]
    data, said = Empirical.from_codes(rows), list[str]()
    options = MixtureOptions(runs=((2, 1), (1, 2)), restarts=2, max_iter=1, seed=0)
    fit_mixture(data, options, data, lambda step: said.append(step.words))
    assert said[0].startswith("run 1 of 4  2 components, width up to 1  rows held out -")
    assert said[-1].startswith("run 4 of 4  6 bootstrap samples, width up to 2  rows held out -")
    told = list[str]()
    fit_hidden_tree(data, TreeOptions([2, 3], 0.3, 1, max_iter=1, seed=0), None, lambda step: told.append(step.words))
    assert told[0].startswith("run 1 of 2  2 hidden states  rows learned from -")
    assert told[-1].startswith("run 2 of 2  3 hidden states")
    stream = io.StringIO()
    reporter = Reporter(stream)
    reporter.interval = 0.0
    reporter(Step("em", 2, 1.0, 0.1, "run 1 of 4"))
    assert stream.getvalue() == "   0.1 s  em       run 1 of 4\n"


def test_a_terminal_gets_one_line_that_is_wiped() -> None:
    stream = Terminal()
    reporter = Reporter(stream)
    reporter.interval = 0.0
    reporter(progress(0.1, 1000))
    reporter(progress(0.2, 2))
    reporter.close()
    assert "\n" not in stream.getvalue()
    assert stream.getvalue().endswith(" \r")


def test_a_notebook_gets_one_output_that_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a kernel, progress is one display that is updated and emptied at the end; standard error stays silent."""
    shown: list[str] = []
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    display.HTML = lambda text: text  # type: ignore[attr-defined]

    def first(text: str, display_id: bool) -> Any:
        assert display_id
        shown.append(f"new {text}")
        return SimpleNamespace(update=lambda later: shown.append(f"again {later}"))

    display.display = first  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    reporter = Reporter()
    reporter.interval = 0.0
    reporter(progress(0.1, 1))
    reporter(progress(0.2, 2))
    reporter.close()
    assert [line.split()[0] for line in shown] == ["new", "again", "again"]
    assert "1 terms" in shown[0]
    assert shown[-1] == "again "
