"""Fits that were started from the page: one at a time, each in a process of its own that can be stopped.

The table that was sent lies in a temporary folder, with the model that is learned from it; both go when the server
ends. The process writes its progress into a file next to them, and looks for the file that asks it to stop: then it
keeps the best model so far. A fit that does not heed that, or takes too long, is ended with its process.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fullspan.errors import FullspanError
from fullspan.people.web.worker import Pool
from fullspan.processes import Ended, TookTooLong, Worker

Learner = Literal["FullSpan", "ChowLiuTree", "FullSpanMixture"]
State = Literal["running", "done", "failed"]
MAX_FITS = 8
"""Fits that a server keeps."""
MAX_COLUMNS = 500
FIT_SECONDS = 600.0
"""Time that a fit may take until it keeps the best model so far."""
GRACE_SECONDS = 60.0
"""Time that it then has to finish."""
MAX_POINTS = 200
"""Costs that its progress keeps."""
_LEAST_PAUSE = 0.2
"""Seconds between two writings of progress."""


@dataclass
class Fit:
    """One fit: its table, its folder, and how it stands."""

    name: str
    learner: Learner
    folder: Path
    table: Path
    worker: Worker
    started: float = field(default_factory=time.monotonic)
    state: State = "running"
    seconds: float = 0.0
    problem: str = ""

    @property
    def model(self) -> Path:
        """The file of the model."""
        return self.folder / f"{self.name}.fsm"

    def about(self) -> dict[str, Any]:
        """How it stands, in JSON's types."""
        progress: dict[str, Any] = {"words": "reading the table", "costs": []}
        with contextlib.suppress(OSError, ValueError):  # there is none yet
            progress = json.loads((self.folder / "progress.json").read_text(encoding="utf-8"))
        running = self.state == "running"
        return {
            "name": self.name,
            "learner": self.learner,
            "state": self.state,
            "seconds": time.monotonic() - self.started if running else self.seconds,
            "stopping": running and (self.folder / "stop").exists(),
            "problem": self.problem,
            **progress,
        }


class Fits:
    """Starts, follows and stops fits; a model that is done joins those that the pool serves."""

    def __init__(self, pool: Pool) -> None:
        self._pool, self._fits = pool, dict[str, Fit]()
        self._folder = tempfile.TemporaryDirectory(prefix="fullspan-fits-", ignore_cleanup_errors=True)
        self._lock = threading.Lock()

    def start(self, file: str, learner: Learner, content: bytes) -> dict[str, Any]:
        """Begin a fit to a table of text.

        Raises
        ------
        FullspanError : another one is running, there were too many, or the table has too many columns.
        """
        check_table(content)
        with self._lock:
            running = next((fit.name for fit in self._fits.values() if fit.state == "running"), None)
            if running is not None:
                raise FullspanError(f"the fit of {running} is running; stop it first")
            if len(self._fits) >= MAX_FITS:
                raise FullspanError(f"{MAX_FITS} models were fitted from this page; start fullspan serve again")
            fit = self._new(file, learner, content)
            self._fits[fit.name] = fit
        threading.Thread(target=self._run, args=(fit,), daemon=True).start()
        return fit.about()

    def _new(self, file: str, learner: Learner, content: bytes) -> Fit:
        stem, suffix = safe_name(file)
        name, k = stem, 1
        while name in self._pool.paths or name in self._fits:
            k += 1
            name = f"{stem}-{k}"
        folder = Path(self._folder.name) / str(len(self._fits))
        folder.mkdir()
        table = folder / f"{name}{suffix}"
        table.write_bytes(content)
        return Fit(name, learner, folder, table, Worker(_learner))

    def _run(self, fit: Fit) -> None:
        """Wait for a fit to end."""
        try:
            fit.worker.ready()
            problem = fit.worker.ask((fit.learner, fit.table, fit.model, fit.folder), FIT_SECONDS + GRACE_SECONDS)
            if problem is None:
                self._pool.add(fit.name, fit.model, fit.table)
        except TookTooLong:
            problem = f"the fit took longer than {FIT_SECONDS:g} seconds; use fullspan fit"
        except (Ended, OSError):
            problem = "the fit was ended before there was a model"
        except FullspanError as error:
            problem = str(error)
        fit.worker.stop()
        fit.seconds = time.monotonic() - fit.started
        fit.problem, fit.state = problem or "", "failed" if problem else "done"

    def list(self) -> list[dict[str, Any]]:
        """How all fits stand."""
        return [fit.about() for fit in list(self._fits.values())]

    def stop(self, name: str) -> dict[str, Any]:
        """Ask a fit to keep the best model so far; asked again, end it without a model.

        Raises
        ------
        FullspanError : there is no such fit.
        """
        fit = self._named(name)
        if fit.state == "running":
            if (fit.folder / "stop").exists():
                fit.worker.stop()
            (fit.folder / "stop").touch()
        return fit.about()

    def model(self, name: str) -> bytes:
        """The file of a model that is done.

        Raises
        ------
        FullspanError : there is no such fit, or it has no model.
        """
        fit = self._named(name)
        if fit.state != "done":
            raise FullspanError(f"the fit of {name} has no model: it is {fit.state}")
        return fit.model.read_bytes()

    def _named(self, name: str) -> Fit:
        if name not in self._fits:
            raise FullspanError(f"there is no fit {name!r}; there are: {', '.join(self._fits) or 'none'}")
        return self._fits[name]

    def close(self) -> None:
        """End what is running, and delete the tables and models."""
        for fit in self._fits.values():
            fit.worker.stop()
        self._folder.cleanup()


def safe_name(file: str) -> tuple[str, str]:
    """A stem that is a file name and part of an address, and the suffix of its format.

    Examples
    --------
    >>> safe_name("../My votes.tsv"), safe_name("")
    (('My votes', '.tsv'), ('table', '.csv'))
    """
    path = Path(file.replace("\\", "/")).name
    stem = re.sub(r"[^\w .-]", "", path.rsplit(".", 1)[0])[:60].strip(" .") or "table"
    return stem, ".tsv" if path.lower().endswith(".tsv") else ".csv"


def check_table(content: bytes) -> None:
    """Refuse what is no table of text, or has too many columns.

    Raises
    ------
    FullspanError : with the limit.
    """
    head = content[: 1 << 16].decode("utf-8", errors="replace")
    if not head.strip() or "\0" in head:
        raise FullspanError("the file is not a table of text; choose a CSV or TSV file with a header")
    first = head.splitlines()[0]
    n_columns = max(len(next(csv.reader([first], delimiter=mark))) for mark in ",;\t")
    if n_columns > MAX_COLUMNS:
        raise FullspanError(
            f"the table has {n_columns:,} columns; the page fits tables of at most {MAX_COLUMNS}: use fullspan fit"
        )


# -- in the process of a fit -------------------------------------------------------------------------------------


def _learner() -> Callable[[tuple[Learner, Path, Path, Path]], str | None]:
    """What learns; the answer is what went wrong, or None."""
    return lambda request: _learned(*request)


def _learned(learner: Learner, table: Path, model: Path, folder: Path) -> str | None:
    from fullspan.estimators.registry import learners
    from fullspan.learn.base.reporter import following

    follower = _Follower(folder)
    try:
        with warnings.catch_warnings(), following(follower):
            warnings.simplefilter("ignore")
            estimator: Any = learners()[learner](missing="em").fit(table)
            estimator.save(model)
        follower.write()
    except KeyboardInterrupt:
        return "the fit was stopped before there was a model"
    except (FullspanError, OSError, MemoryError) as error:
        return str(error) or "there is not enough memory for this fit"
    return None


class _Follower:
    """Writes how a fit stands, and stops it when that is asked for or it has taken too long."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.costs = folder, list[tuple[float, float]]()
        self.begun, self.written, self.words = time.monotonic(), 0.0, "preparing"

    def __call__(self, step: Any) -> None:
        late = time.monotonic() - self.begun > FIT_SECONDS
        if (step is not None or not self.costs) and (late or (self.folder / "stop").exists()):
            raise KeyboardInterrupt
        if step is not None:
            self.words = step.words or f"{step.n_terms:,} terms, {step.cost:.4f} nats per row"
            if step.cost == step.cost:
                self.costs.append((round(step.seconds, 2), step.cost))
        if len(self.costs) > 2 * MAX_POINTS:
            self.costs = self.costs[::2]
        if time.monotonic() - self.written > _LEAST_PAUSE:
            self.write()

    def write(self) -> None:
        """Store how it stands."""
        self.written = time.monotonic()
        draft = self.folder / "progress.tmp"
        draft.write_text(json.dumps({"words": self.words, "costs": self.costs}), encoding="utf-8")
        os.replace(draft, self.folder / "progress.json")
