"""Progress: silent when quick, one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
import time
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fullspan as fs
import fullspan.learn.base.reporter as module
from fullspan.data import Empirical
from fullspan.errors import DataError
from fullspan.learn.base import PREPARING, Reporter
from fullspan.learn.decomposable import MixtureOptions, fit_mixture
from fullspan.learn.trees import TreeOptions, fit_hidden_tree
from fullspan.model import Step


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress(seconds: float, n_terms: int) -> Any:
    return SimpleNamespace(move="append", n_terms=n_terms, cost=1.5, seconds=seconds)


class Clock:
    """Seconds that go by when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def ticking(stream: io.StringIO) -> tuple[Reporter, Clock]:
    """A reporter whose thread is the test itself."""
    clock = Clock()
    return Reporter(stream, clock, beats=False), clock


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


def test_a_silent_learner_moves_the_line_from_the_first_second() -> None:
    """Reading, then a learner that reports one step and nothing more: the elapsed seconds go on."""
    stream = Terminal()
    reporter, clock = ticking(stream)
    reporter.say("reading votes.csv")
    for clock.now in (0.6, 1.2, 1.4, 3.0):
        reporter.beat()
    reporter(progress(2.0, 7))
    clock.now = 5.0
    reporter.beat()
    lines = [line.rstrip() for line in stream.getvalue().split("\r") if line]
    assert lines[:4] == [f"reading votes.csv ... {n} s" for n in (0, 0, 1, 3)]
    assert lines[-1] == "   4.0 s  append   7 terms  cost 1.50000 nats/row"
    reporter.close()
    reporter.beat()
    assert stream.getvalue().endswith(" \r")


def test_without_a_word_the_line_says_that_the_fit_is_prepared() -> None:
    stream = Terminal()
    reporter, clock = ticking(stream)
    clock.now = 0.9
    reporter.beat()
    assert stream.getvalue() == f"\r{PREPARING} ... 0 s"
    assert "compiled" in PREPARING


def test_a_log_gets_a_line_every_five_seconds_at_most_and_fewer_without_news() -> None:
    stream = io.StringIO()
    reporter, clock = ticking(stream)
    reporter.say("reading votes.csv")
    for tick in range(1, 400):
        clock.now = tick / 2
        reporter.beat()
    assert stream.getvalue().splitlines() == [f"reading votes.csv ... {n} s" for n in (5, 15, 35, 75, 135, 195)]
    clock.now = 200.0
    reporter(progress(1.0, 1))
    for clock.now in (201.0, 204.5, 205.0):
        reporter.beat()
    said = stream.getvalue().splitlines()[6:]
    assert said == [f"{s:6.1f} s  append   1 terms  cost 1.50000 nats/row" for s in (1.0, 6.0)]


def test_a_line_is_cut_to_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that wraps could not be written over."""
    monkeypatch.setenv("COLUMNS", "20")
    stream = Terminal()
    ticking(stream)[0].say("reading " + "long" * 20)
    assert stream.getvalue() == "\rreading longlonglon"


def test_the_thread_ends_with_the_reporter_and_survives_a_terminal_that_is_gone() -> None:
    """The line is rewritten while nobody reports; after close no thread is left, nor after the stream has gone."""
    stream = Terminal()
    with contextlib.closing(Reporter(stream)) as reporter:
        deadline = time.monotonic() + 10
        while stream.getvalue().count("\r") < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert stream.getvalue().count("\r") >= 2
        thread = reporter._thread
        assert thread is not None
        assert thread.daemon
    assert not thread.is_alive()
    gone = Terminal()
    other = Reporter(gone)
    gone.close()
    assert other._thread is not None
    other._thread.join(10)
    assert not other._thread.is_alive()


def test_a_terminal_that_is_gone_breaks_no_fit() -> None:
    """Neither a step, nor a phase, nor the end raises what the stream raises."""
    stream = Terminal()
    reporter, clock = ticking(stream)
    reporter.say("reading votes.csv")
    stream.close()
    clock.now = 10.0
    reporter.say("preparing")
    reporter(progress(1.0, 1))
    reporter.models(1, 2, 1.0)
    reporter.beat()
    reporter.close()


def test_a_thread_that_is_blocked_in_writing_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped terminal, or a full pipe that nobody reads."""
    monkeypatch.setattr(module, "_JOIN_SECONDS", 0.05)
    blocked, free = threading.Event(), threading.Event()

    class Stopped(Terminal):
        def write(self, text: str) -> int:
            blocked.set()
            free.wait(30)
            return len(text)

    reporter = Reporter(Stopped())
    try:
        assert blocked.wait(10)

        def fit() -> None:
            reporter.say("preparing")
            reporter(progress(1.0, 1))
            reporter.close()

        worker = threading.Thread(target=fit, daemon=True)
        worker.start()
        worker.join(5)
        assert not worker.is_alive()
    finally:
        free.set()


@pytest.mark.parametrize("stop", [KeyboardInterrupt, DataError])
def test_no_thread_is_left_after_a_fit_that_ends_early(stop: type[BaseException]) -> None:
    """Ctrl-C, or a table that cannot be read, leaves the terminal clean."""

    class Stopped(fs.ChowLiuTree):  # type: ignore[misc]
        def _learn(self, empirical: Any, watch: Any, valid: Any = None) -> Any:
            assert [t.name for t in threading.enumerate()].count("fullspan-progress") == 1
            raise stop("now")

    with pytest.raises(stop):
        Stopped(verbose=True).fit(ROWS)
    assert "fullspan-progress" not in [t.name for t in threading.enumerate()]


ROWS = [[0, 0]] * 20 + [[1, 1]] * 20 + [[0, 1], [1, 0]] * 3
LEARNERS: dict[str, Callable[[], Any]] = {
    "full search": lambda: fs.FullSpan(verbose=True).fit(ROWS),
    "paper search": lambda: fs.FullSpan(search="paper", verbose=True).fit(ROWS),
    "elimination": lambda: fs.FullSpan(engine="elimination", verbose=True).fit(ROWS),
    "em": lambda: fs.FullSpan(missing="em", verbose=True).fit([*ROWS, [None, 1]]),
    "machine": lambda: fs.BoltzmannMachine(verbose=True).fit(ROWS),
    "ipf": lambda: fs.BoltzmannMachine(solver="ipf", verbose=True).fit(ROWS),
    "pcd": lambda: fs.BoltzmannMachine(solver="pcd", max_iter=3, random_state=0, verbose=True).fit(ROWS),
    "shrinkage": lambda: fs.BoltzmannMachine(shrinkage="evidence", verbose=True).fit(ROWS),
    "average": lambda: fs.FullSpan(average=2, random_state=0, verbose=True).fit(ROWS),
    "mixture": lambda: fs.FullSpanMixture(runs=[(1, 1)], random_state=0, verbose=True).fit(ROWS),
    "tree": lambda: fs.ChowLiuTree(verbose=True).fit(ROWS),
    "truncated": lambda: fs.TruncatedBoltzmannMachine(verbose=True).fit(ROWS),
    "layers": lambda: fs.RestrictedBoltzmannMachine(2, max_iter=1, random_state=0, verbose=True).fit(np.array(ROWS)),
    "decimatable": lambda: fs.DecimatableBoltzmannMachine([("x0", "x1")], verbose=True).fit(ROWS),
    "classifier": lambda: fs.BoltzmannClassifier(verbose=True).fit([row[:1] for row in ROWS], [row[1] for row in ROWS]),
    "many": lambda: fs.fit_many(ROWS, bootstrap=2, random_state=0, verbose=True),
}


@pytest.mark.filterwarnings("ignore::fullspan.errors.ConvergenceWarning")
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_has_a_reporter_from_reading_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reporter is open before the table is read, and closed after the fit; its thread moves the line meanwhile."""
    events: list[str] = []

    class Recorder(Reporter):
        def __init__(self) -> None:
            super().__init__(io.StringIO(), beats=False)
            events.append("open")

        def say(self, text: str) -> None:
            events.append(text)

        def __call__(self, step: Any) -> None:
            events.append("step")

        def models(self, done: int, n: int, seconds: float) -> None:
            events.append("step")

        def close(self) -> None:
            events.append("close")

    monkeypatch.setattr(module, "Reporter", Recorder)
    LEARNERS[name]()
    assert events[:3] == ["open", "reading the table", PREPARING]
    assert events.count("open") == events.count("close") == 1
    assert events[-1] == "close"
    assert "step" in events or name == "tree"


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
