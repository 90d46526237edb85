"""The command line, ``fullspan``: ``commands`` has one module each. Heavy imports wait until a command runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0: done. 1: a fault of the program. 2: wrong usage or input, explained on standard error. 130: interrupted.
    """
    try:
        from fullspan.people.cli.app import run
    except KeyboardInterrupt:  # the imports take some tenths of a second
        print("fullspan: interrupted", file=sys.stderr)
        return 130
    return run(argv)
