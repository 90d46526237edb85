"""Densities compared: every method on every set, mean log-likelihood of rows that nobody has seen, in nats.

Choices are made on training and validation rows; each test row is scored once by each method. Sets without parts are
cross-validated. Every fold is learned in a process that is stopped after a limit. Results are JSON lines, one for each
set and method, written as they come: a run that was stopped goes on where it was.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.bench.density_fold import Job, Limited, Outcome, held
from fullspan.bench.density_methods import Settings, all_methods, how_to_add_rivals
from fullspan.bench.density_published import published
from fullspan.bench.density_sets import find_sets
from fullspan.errors import DataError

Say = Callable[[str], None]
_BEGIN = b'{"set": "'
"""How the line of a score begins."""


@dataclass(frozen=True)
class Score:
    """What a method reached on a set: mean and standard error over the test rows, or why there is none.

    Learning took ``seconds`` by the clock and ``processor`` seconds of all cores, summed over folds; ``memory`` is the
    most that its process had taken by then, in MiB.
    """

    set: str
    method: str
    variables: int
    rows: int
    folds: int
    mean: float | None = None
    error: float | None = None
    seconds: float = 0.0
    processor: float = 0.0
    memory: float = 0.0
    declined: str = ""
    notes: dict[str, Any] = field(default_factory=dict)
    seed: int = 0


def score(worker: Limited, path: Path, method: str, folds: int, settings: Settings) -> Score:
    """Learn and score one method on one set."""
    data = held(path)
    size: dict[str, Any] = {"set": data.name, "method": method, "variables": len(data.space), "rows": data.n_rows}
    size["seed"] = settings.seed
    n_folds = data.n_splits(folds)
    outcomes = list[Outcome]()
    for fold in range(n_folds):
        outcomes.append(worker.do(Job(path, method, fold, folds, settings), settings.limit or None))
        if outcomes[-1].declined:
            return Score(**size, folds=fold, declined=outcomes[-1].declined, notes=outcomes[-1].notes)
    log = np.concatenate([outcome.log for outcome in outcomes])
    error = float(log.std()) / math.sqrt(len(log))
    size |= {"seconds": sum(one.seconds for one in outcomes), "processor": sum(one.processor for one in outcomes)}
    size |= {"memory": max(one.memory for one in outcomes), "notes": outcomes[-1].notes}
    return Score(**size, folds=n_folds, mean=float(log.mean()), error=error)


def compare(
    folder: Path,
    results: Path | None = None,
    names: list[str] | None = None,
    methods: Sequence[str] | None = None,
    folds: int = 5,
    settings: Settings | None = None,
    say: Say = lambda text: None,
) -> list[Score]:
    """All scores, those in ``results`` first; new ones are appended to it.

    Raises
    ------
    DataError : the folder or a set is not there, a method is unknown, or the results are no JSON lines.
    """
    for method in methods or ():
        if method not in all_methods():
            hint = how_to_add_rivals()
            raise DataError(
                f"there is no method {method!r}; choose from {', '.join(all_methods())}"
                + (f" ({hint})" if hint else "")
            )
    settings = settings or Settings()
    paths = find_sets(folder, names)
    known = {(s.set, s.method): s for s in _kept(results) if not _stopped_sooner(s, settings)}
    pairs = [(path, method) for path in paths for method in methods or all_methods()]
    _check_same((known[p.stem, method] for p, method in pairs if (p.stem, method) in known), folds, settings, results)
    if results is not None:
        results.open("a", encoding="utf-8").close()  # a file that cannot be written is said before anything is learned
    with Limited() as worker:
        for k, (path, method) in enumerate(pairs, 1):
            if (path.stem, method) in known:
                continue
            say(f"{k} of {len(pairs)}: {method} on {path.stem}")
            found = score(worker, path, method, folds, settings)
            known[path.stem, method] = found
            if results is not None:
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(found)) + "\n")
    return [known[path.stem, method] for path, method in pairs]


def _stopped_sooner(found: Score, settings: Settings) -> bool:
    """Whether a method declined because its time was over, and has more now."""
    limit = found.notes.get("limit") if found.declined else None
    return limit is not None and (not settings.limit or settings.limit > limit)


def _kept(results: Path | None) -> list[Score]:
    """Scores of an earlier run; a last line that was cut short is taken out of the file, if it is one of a score."""
    if results is None or not results.exists():
        return []
    data = results.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    found, cut = [_read(line, number, results) for number, line in enumerate(whole.splitlines(), 1)], data[len(whole) :]
    if cut.endswith(b"}") or not cut.startswith(_BEGIN[: len(cut)]):
        found.append(_read(cut, len(found) + 1, results))
        with results.open("ab") as file:
            file.write(b"\n")
    elif cut:
        os.truncate(results, len(whole))
    return found


def _read(line: bytes, number: int, results: Path) -> Score:
    try:
        return Score(**json.loads(line))
    except (TypeError, ValueError) as error:
        raise DataError(f"{results}, line {number}: no earlier score ({error}); use another file") from None


def _check_same(known: Iterable[Score], folds: int, settings: Settings, results: Path | None) -> None:
    """Refuse to go on with scores of another number of folds, or of another seed."""
    for found in known:
        if found.mean is not None and found.folds not in (1, folds):
            raise DataError(
                f"{results} has scores of {found.set} over {found.folds} folds, and {folds} are asked for; use another "
                f"file, or --folds {found.folds}"
            )
        if found.seed != settings.seed:
            raise DataError(
                f"{results} has scores of {found.set} with seed {found.seed}, and {settings.seed} is asked for; use "
                f"another file, or --seed {found.seed}"
            )


def markdown(scores: Sequence[Score]) -> str:
    """A table with one row per set and one column per method, the best mean in bold; then who declined what.

    Where values are published for a set, they follow in a column of their own (module ``density_published``).
    """
    methods = list(dict.fromkeys(s.method for s in scores))
    by = {(s.set, s.method): s for s in scores}
    known = {s.set: published(s.set, s.variables) for s in scores if s.folds == 1}
    headings = ["set", "variables", "rows", *methods, *(["published"] if any(known.values()) else [])]
    lines = ["| " + " | ".join(headings) + " |", "|---" * len(headings) + "|"]
    for name in dict.fromkeys(s.set for s in scores):
        row = [by[name, method] for method in methods if (name, method) in by]
        best = max((s.mean for s in row if s.mean is not None), default=math.nan)
        cells = [_cell(by.get((name, method)), best) for method in methods]
        if "published" in headings:
            cells.append(known.get(name) or "–")
        lines.append(f"| {name} | {row[0].variables:,} | {row[0].rows:,} | " + " | ".join(cells) + " |")
    reasons: dict[tuple[str, str], list[str]] = {}
    for s in scores:
        if s.declined:
            reasons.setdefault((s.method, s.declined), []).append(s.set)
    listed = [f"* {method} –: {reason} ({', '.join(sets)})" for (method, reason), sets in reasons.items()]
    return "\n".join([*lines, "", *listed] if listed else lines)


def _cell(found: Score | None, best: float) -> str:
    if found is None or found.mean is None or found.error is None:
        return "–"
    text = f"{found.mean:.3f} ± {found.error:.3f}".replace("-", "−")
    return f"**{text}**" if found.mean >= best - 5e-4 else text
