"""Commands run as a process of their own, as a person runs them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from fullspan.datasets import house_votes_path

VOTES = house_votes_path()
COMMAND = [sys.executable, "-m", "fullspan"]


@dataclass(frozen=True)
class Done:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def spawn(*arguments: object, cwd: Path | None = None) -> Done:
    """Run a command as a process of its own."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=300, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)
