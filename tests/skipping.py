"""Tests that need a program which is not here: skipped, and named at the end of the run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NoReturn

import pytest

_REASON = re.compile(r"(?:Skipped: )?(\w+ tests) skipped: (.*)", re.DOTALL)


def skip_tests(kind: str, why: str) -> NoReturn:
    """Skip a test of a kind, such as ``browser``; ``why`` ends with what to install."""
    pytest.skip(f"{kind} tests skipped: {why}")


def summary(skipped: Iterable[Any]) -> list[str]:
    """One line for each kind of tests and reason among the reports of skipped tests."""
    reasons = Counter(r.longrepr[2] for r in skipped if isinstance(r.longrepr, tuple | list))
    found = [(_REASON.fullmatch(reason), n) for reason, n in sorted(reasons.items())]
    return [f"{match[1]} skipped ({n}): {match[2]}" for match, n in found if match]
