"""Tests of engines check the compiled kernels, also where a first call on a few numbers would run as Python."""

from __future__ import annotations

import pytest

from fullspan.model.algebra import jit


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """No kernel is interpreted."""
    monkeypatch.setattr(jit, "_INTERPRETED", ())
