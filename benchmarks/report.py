"""What the benchmarks share: timing in turns, one table on the screen, and the same numbers as JSON."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def seconds(action: Callable[[], object]) -> float:
    """Wall-clock time of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def in_turns(actions: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median seconds of each action; they take turns, so that a busy machine slows all of them alike."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(repeats):
        for name, action in actions.items():
            times[name].append(seconds(action))
    return {name: statistics.median(values) for name, values in times.items()}


def table(title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print rows that share their keys, numbers to the right."""
    print(f"\n{title}")
    if not rows:
        print("(nothing)")
        return
    cells = [[_text(row.get(name, "")) for name in rows[0]] for row in rows]
    widths = [max(map(len, column)) for column in zip(list(rows[0]), *cells, strict=True)]
    for line in (list(rows[0]), *cells):
        print(
            "  ".join(
                cell.rjust(w) if j else cell.ljust(w) for j, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
        )


def write(path: Path | None, value: Any) -> None:
    """Write the numbers as JSON, if asked to."""
    if path is not None:
        path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)
