"""Tables written to disk for the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def csv_file(tmp_path: Path) -> Callable[..., Path]:
    """Write text to a file and return its path."""

    def write(text: str, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
