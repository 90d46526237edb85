"""A run that left out tests for want of a program says which, how many and what to install."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


@pytest.mark.parametrize("processes", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_a_run_without_chromium_says_so(processes: tuple[str, ...], tmp_path: Path) -> None:
    pytest.importorskip("fastapi", reason="the extra web is not installed")
    pytest.importorskip("playwright", reason="Playwright is not installed")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *processes, str(TESTS / "web/test_browser.py")]
    environment = {**os.environ, "PATH": str(tmp_path)}
    environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=TESTS.parent, env=environment, timeout=120)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^browser tests skipped \(\d+\): no Chromium found; apt-get install chromium$", done.stdout, re.M)
