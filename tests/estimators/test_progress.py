"""Progress: silent when quick, one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

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
