"""Progress: silent when quick, one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

from fullspan.estimators.progress import Reporter


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


def test_a_terminal_gets_one_line_that_is_wiped() -> None:
    stream = Terminal()
    reporter = Reporter(stream)
    reporter.interval = 0.0
    reporter(progress(0.1, 1000))
    reporter(progress(0.2, 2))
    reporter.close()
    assert "\n" not in stream.getvalue()
    assert stream.getvalue().endswith(" \r")
