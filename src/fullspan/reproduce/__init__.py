"""Tables and figures of the source papers, re-run and shown beside the published values.

An experiment is a module with ``run(seeds, progress)`` that returns a :class:`Result`; it is named here, and imported
when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from fullspan.errors import FullspanError

Say = Callable[[str], None]
"""Takes a line about what is being done."""


class Result(Protocol):
    """What an experiment found."""

    def to_json(self) -> dict[str, Any]:
        """All numbers, published and measured, in JSON's types."""

    def to_text(self) -> str:
        """The same as a table for people."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper, and the module that re-runs it."""

    name: str
    summary: str
    module: str

    def run(self, seeds: int, progress: Say | None = None) -> Result:
        """Run it with ``seeds`` random draws of each data set."""
        if seeds < 1:
            raise FullspanError(f"seeds is {seeds}; at least 1 is needed")
        result: Result = import_module(self.module).run(seeds, progress)
        return result


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "fsll-table1",
            "Takabatake and Akaho 2022, Table 1: six data sets of 20 binary variables, rows FL",
            "fullspan.reproduce.fsll_table1",
        ),
    )
}


def experiment(name: str) -> Experiment:
    """The experiment of this name.

    Raises
    ------
    FullspanError : there is none; the message lists those there are.
    """
    if name not in EXPERIMENTS:
        raise FullspanError(f"there is no experiment {name!r}; choose one of {', '.join(map(repr, EXPERIMENTS))}")
    return EXPERIMENTS[name]
