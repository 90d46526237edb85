"""Densities compared: every method on every set, mean log-likelihood of rows that nobody has seen, in nats.

Choices are made on training and validation rows; each test row is scored once by each method. Sets without parts are
cross-validated. Results are JSON lines, one for each set and method, written as they come: a run that was stopped goes
on where it was.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.bench.density_methods import METHODS, Declined, Settings
from fullspan.bench.density_sets import DataSet, find_sets, read_set
from fullspan.errors import DataError, FullspanError
from fullspan.picture.chart import Bars
from fullspan.picture.palette import LIGHT, css_variables
from fullspan.picture.svg import bars

Say = Callable[[str], None]


@dataclass(frozen=True)
class Score:
    """What a method reached on a set: mean and standard error over the test rows, or why there is none."""

    set: str
    method: str
    variables: int
    rows: int
    folds: int
    mean: float | None = None
    error: float | None = None
    seconds: float = 0.0
    declined: str = ""
    notes: dict[str, Any] = field(default_factory=dict)


def score(data: DataSet, method: str, folds: int, settings: Settings) -> Score:
    """Learn and score one method on one set; seconds are of learning, summed over folds."""
    logs, notes, seconds, n_folds = [], dict[str, Any](), 0.0, 0
    size: dict[str, Any] = {"set": data.name, "method": method, "variables": len(data.space), "rows": data.n_rows}
    for split in data.splits(folds, settings.seed):
        start = time.perf_counter()
        try:
            learned = METHODS[method](split, data.space, settings)
            seconds += time.perf_counter() - start
            seen = (split.test >= 0).any(axis=1)
            logs.append(learned.log_prob(split.test[seen]))
        except (Declined, FullspanError) as reason:
            return Score(**size, folds=n_folds, declined=str(reason))
        notes, n_folds = learned.notes, n_folds + 1
    log = np.concatenate(logs)
    error = float(log.std()) / math.sqrt(len(log))
    return Score(**size, folds=n_folds, mean=float(log.mean()), error=error, seconds=seconds, notes=notes)


def compare(
    folder: Path,
    results: Path | None = None,
    names: list[str] | None = None,
    methods: Sequence[str] = tuple(METHODS),
    folds: int = 5,
    settings: Settings | None = None,
    say: Say = lambda text: None,
) -> list[Score]:
    """All scores, those in ``results`` first; new ones are appended to it.

    Raises
    ------
    DataError : the folder or a set is not there, a method is unknown, or the results are no JSON lines.
    """
    for method in methods:
        if method not in METHODS:
            raise DataError(f"there is no method {method!r}; choose from {', '.join(METHODS)}")
    paths = find_sets(folder, names)
    known = {(s.set, s.method): s for s in _kept(results)}
    pairs = [(path, method) for path in paths for method in methods]
    held: DataSet | None = None
    for k, (path, method) in enumerate(pairs, 1):
        if (path.stem, method) in known:
            continue
        say(f"{k} of {len(pairs)}: {method} on {path.stem}")
        held = held if held is not None and held.name == path.stem else read_set(path)
        found = score(held, method, folds, settings or Settings())
        known[path.stem, method] = found
        if results is not None:
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(found)) + "\n")
    return [known[path.stem, method] for path, method in pairs]


def _kept(results: Path | None) -> Iterator[Score]:
    """Scores of an earlier run."""
    if results is None or not results.exists():
        return
    for number, line in enumerate(results.read_text(encoding="utf-8").splitlines(), 1):
        try:
            yield Score(**json.loads(line))
        except (TypeError, ValueError) as error:
            raise DataError(f"{results}, line {number}: no earlier score ({error}); use another file") from None


def markdown(scores: Sequence[Score]) -> str:
    """A table with one row per set and one column per method, the best mean in bold; then who declined what."""
    methods = list(dict.fromkeys(s.method for s in scores))
    by = {(s.set, s.method): s for s in scores}
    lines = ["| set | variables | rows | " + " | ".join(methods) + " |", "|---" * (3 + len(methods)) + "|"]
    for name in dict.fromkeys(s.set for s in scores):
        row = [by[name, method] for method in methods if (name, method) in by]
        best = max((s.mean for s in row if s.mean is not None), default=math.nan)
        cells = [_cell(by.get((name, method)), best) for method in methods]
        lines.append(f"| {name} | {row[0].variables:,} | {row[0].rows:,} | " + " | ".join(cells) + " |")
    reasons = dict.fromkeys((s.method, s.declined) for s in scores if s.declined)
    lines += ["", *(f"* {method} –: {reason}" for method, reason in reasons)] if reasons else []
    return "\n".join(lines)


def _cell(found: Score | None, best: float) -> str:
    if found is None or found.mean is None or found.error is None:
        return "–"
    text = f"{found.mean:.3f} ± {found.error:.3f}".replace("-", "−")
    return f"**{text}**" if found.mean >= best - 5e-4 else text


def picture(scores: Sequence[Score]) -> str:
    """Nats per row above the independent columns, per variable, as bars with standard errors; an SVG text."""
    base = {s.set: s.mean for s in scores if s.method == "independent" and s.mean is not None}
    shown = [s for s in scores if s.mean is not None and s.method != "independent" and s.set in base]
    ours = ("fullspan", "average", "mixture")
    drawn = bars(
        Bars(
            "Log-likelihood of unseen rows above independent columns",
            "nats per row and variable",
            tuple(f"{s.set}, {s.method}" for s in shown),
            tuple((s.mean - (base[s.set] or 0.0)) / s.variables for s in shown if s.mean is not None),
            tuple((s.error or 0.0) / s.variables for s in shown),
            tuple("with" if s.method in ours else "against" for s in shown),
        )
    )
    alone = '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" '  # a file of its own, not part of a page
    colours = f'style="{css_variables(LIGHT)};background:{LIGHT["paper"]};'
    return drawn.replace("<svg ", alone, 1).replace('style="', colours, 1)
