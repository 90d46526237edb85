"""Processes that answer questions and may be killed: a question that takes too long costs its worker, nothing else.

Each worker opens all models, and opens a file again when it has changed. A file that can no longer be read leaves the
model as it was; the answer says so.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fullspan.errors import FullspanError
from fullspan.processes import Ended, TookTooLong, Worker

START_SECONDS = 300.0
"""Time that opening the models may take; the first start on a machine compiles kernels."""
AMONG = ("compare", "comparable")
"""Methods that are given the other models too."""
Answer = dict[str, Any]
Served = Mapping[str, tuple[Path, Path | None]]
"""Model files by name, each with a table to show next to it, or none."""


class Overloaded(Exception):
    """No worker was free in time."""


class Pool:
    """So many workers; :meth:`ask` may be called from many threads.

    Parameters
    ----------
    paths : model files by name.
    size : how many workers.
    seconds : time that a question may take.
    wait : time that a question may wait for a free worker.
    data : tables to show next to models, by the names of these.

    Raises
    ------
    FullspanError : a model cannot be opened.
    """

    def __init__(
        self,
        paths: Mapping[str, Path],
        size: int = 2,
        seconds: float = 10.0,
        wait: float = 20.0,
        data: Mapping[str, Path] | None = None,
    ) -> None:
        self._served: Served = {name: (path, (data or {}).get(name)) for name, path in paths.items()}
        self.seconds, self.wait = seconds, wait
        self._free: queue.Queue[Worker] = queue.Queue()
        self._all: list[Worker] = []
        self._lock = threading.Lock()
        for _ in range(size):
            self._add()

    def _add(self) -> None:
        worker = Worker(_explorers, self._served)
        worker.start()
        with self._lock:
            self._all.append(worker)
        self._free.put(worker)

    @property
    def paths(self) -> dict[str, Path]:
        """The model files by name."""
        return {name: path for name, (path, _) in self._served.items()}

    def add(self, name: str, path: Path, data: Path | None = None) -> None:
        """Serve one more model; each worker opens it when it is first asked about it."""
        self._served = {**self._served, name: (path, data)}

    def ready(self) -> None:
        """Wait until every worker has opened its models."""
        for worker in list(self._all):
            _ready(worker)

    def ask(self, model: str, method: str, arguments: Mapping[str, Any]) -> Answer:
        """The answer of a method of the :class:`~fullspan.people.web.explorer.Explorer`, with the version of the file.

        Raises
        ------
        FullspanError : the question is wrong.
        TookTooLong : it was stopped; its worker is replaced.
        Overloaded : no worker was free in time.
        """
        try:
            worker = self._free.get(timeout=self.wait)
        except queue.Empty:
            raise Overloaded(f"no worker was free for {self.wait:g} seconds; try again") from None
        alive = False
        try:
            _ready(worker)
            wrong, answer = worker.ask((self._served, model, method, dict(arguments)), self.seconds)
            alive = True
        except TookTooLong as error:
            if error.args:  # it did not even open its models
                raise
            raise TookTooLong(
                f"the question took longer than {self.seconds:g} seconds and was stopped; ask for less at once"
            ) from error
        except (Ended, OSError) as error:
            raise TookTooLong("the worker that had the question ended; it is replaced, ask again") from error
        finally:
            if alive:
                self._free.put(worker)
            else:
                self._replace(worker)
        if wrong is not None:
            raise FullspanError(wrong)
        found: Answer = answer
        return found

    def _replace(self, worker: Worker) -> None:
        with self._lock:
            self._all.remove(worker)
        worker.stop()
        self._add()

    def close(self) -> None:
        """End all workers."""
        for worker in self._all:
            worker.stop()


def _ready(worker: Worker) -> None:
    try:
        worker.ready(START_SECONDS)
    except TookTooLong as error:
        raise TookTooLong("the models took too long to open") from error


def _explorers(served: Served) -> Callable[[tuple[Served, str, str, dict[str, Any]]], tuple[str | None, Answer]]:
    """What answers in a worker: the models, open."""
    from fullspan.people.web.explorer import Explorer

    models: dict[str, Any] = {name: Explorer(path, data) for name, (path, data) in served.items()}
    return lambda question: _answered(models, *question)


def _answered(
    models: dict[str, Any], served: Served, model: str, method: str, arguments: dict[str, Any]
) -> tuple[str | None, Answer]:
    try:
        stale = _renewed(models, served, model)
        explorer = models[model]
        if method in AMONG:
            for other in served:
                _renewed(models, served, other)
            arguments = {"others": models, **arguments}
    except FullspanError as error:
        return str(error), {}
    wrong, answer = explorer.answer(method, arguments)
    return wrong, {**answer, "stale": stale} if wrong is None else answer


def _renewed(models: dict[str, Any], served: Served, model: str) -> str | None:
    """Open the model, or open it again if its file has changed; what is wrong with the new file, if anything.

    Raises
    ------
    FullspanError : a model that is not open cannot be read.
    """
    from fullspan.people.web.explorer import Explorer, version_of

    path, data = served[model]
    if model not in models:
        models[model] = Explorer(path, data)
    try:
        if version_of(path) != models[model].version:
            models[model] = Explorer(path, data)
    except (FullspanError, OSError) as error:
        return f"the file has changed and cannot be read, so the model before is shown: {error}"
    return None
