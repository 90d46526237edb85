"""Start-up: ``python benchmarks/bench_import.py [--repeats 7] [--json FILE]``.

Median seconds of ``import fullspan`` and of ``fullspan --help`` in fresh processes, against a bare interpreter.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from report import in_turns, table, write

CODES = {
    "python -c pass": ("pass", None),
    "import fullspan": ("import fullspan", 0.5),
    "fullspan --help": ("import sys; from fullspan.people.cli import main; sys.exit(main(['--help']))", 0.7),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    def start(code: str) -> None:
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)

    times = in_turns({name: lambda c=code: start(c) for name, (code, _) in CODES.items()}, options.repeats)
    rows = [{"command": name, "seconds": times[name], "target": CODES[name][1] or ""} for name in CODES]
    table("Start-up, whole process", rows)
    write(options.json, rows)


if __name__ == "__main__":
    main()
