"""Tables and figures of the source papers, re-run and shown next to the published values.

An experiment is a module with ``run(progress, **options)`` that returns a :class:`Result`; it is named here with the
options that it takes, and imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from fullspan.errors import FullspanError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Say = Callable[[str], None]
"""Takes a line about what is being done."""

LEAST = dict.fromkeys(("seeds", "runs", "rivals", "iterations", "jobs"), 1)
LEAST |= {"seed": 0, "nodes": 1000, "weights": 10, "variables": 10}
"""Smallest value of every option that is a number."""


class Result(Protocol):
    """What an experiment found."""

    def to_json(self) -> dict[str, Any]:
        """All numbers, published and measured, in JSON's types."""

    def to_text(self) -> str:
        """The same as a table for people."""


class FigureResult(Result, Protocol):
    """What an experiment found that is a figure of its paper."""

    def figures(self) -> dict[str, Figure]:
        """The figures by name, drawn by Matplotlib."""

    def files(self) -> dict[str, str]:
        """The numbers behind the figures: contents by file name."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper, the module that re-runs it, and the options of its ``run``.

    The result of a figure is a :class:`FigureResult`, whose figures and numbers are written to files.
    """

    name: str
    summary: str
    module: str
    options: tuple[str, ...] = ()
    is_figure: bool = False

    def run(self, progress: Say | None = None, **options: Any) -> Result:
        """Run it; options that are left out have the module's defaults, which are those of the paper.

        Raises
        ------
        FullspanError : the experiment does not take an option, or its value is too small.
        """
        for name, value in options.items():
            if name not in self.options:
                known = f"it takes {', '.join(self.options)}" if self.options else "it takes no options"
                raise FullspanError(f"{self.name} has no option {name}; {known}")
            if name in LEAST and value < LEAST[name]:
                raise FullspanError(f"{name} is {value}; at least {LEAST[name]} is needed")
        result: Result = import_module(self.module).run(progress, **options)
        return result


_CURVES = ("runs", "iterations", "seed")

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "fsll-table1",
            "Takabatake and Akaho 2022, Table 1: six data sets of 20 binary variables, rows FL, BM-DI and BM-PCD",
            "fullspan.papers.fsll_table1",
            ("seeds",),
        ),
        Experiment(
            "basket",
            "Sugiyama's lecture: a Boltzmann machine of 8 baskets, whose maximum lies at infinity",
            "fullspan.papers.basket",
        ),
        Experiment(
            "byrne-fig4",
            "Byrne 1992, Fig. 4: alternating minimisation, 5 hidden units with 3 and with 5 visible ones",
            "fullspan.papers.byrne_fig4",
            _CURVES,
            is_figure=True,
        ),
        Experiment(
            "byrne-fig5",
            "Byrne 1992, Fig. 5: exact against inexact alternating minimisation, 5 hidden and 3 visible units",
            "fullspan.papers.byrne_fig5",
            _CURVES,
            is_figure=True,
        ),
        Experiment(
            "rueger",
            "Rueger 1997: decimation step by step, its cost up to a million nodes, and against Gibbs sampling",
            "fullspan.papers.rueger",
            ("nodes", *_CURVES),
            is_figure=True,
        ),
        Experiment(
            "tbm-fig1",
            "Sugiyama, Tsuda and Nakahara, Fig. 1: time of learning and accuracy of truncated machines; needs --data",
            "fullspan.papers.tbm_fig1",
            ("data", "weights", "rivals", "jobs", *_CURVES),
            is_figure=True,
        ),
        Experiment(
            "tbm-fig2",
            "Sugiyama, Tsuda and Nakahara, Fig. 2: variance against |B|/2N as rows and variables grow",
            "fullspan.papers.tbm_fig2",
            ("runs", "variables", "seed"),
            is_figure=True,
        ),
        Experiment(
            "tbm-fig3",
            "Sugiyama, Tsuda and Nakahara, Fig. 3: features of samples in the plane; needs --data",
            "fullspan.papers.tbm_fig3",
            ("data", "runs", "seed"),
            is_figure=True,
        ),
        Experiment(
            "tbm-spikes",
            "Behind Fig. 1: samples of spikes by rates and by features, with more rows or a penalty; needs --data",
            "fullspan.papers.tbm_spikes",
            ("data", "runs", "seed"),
        ),
        Experiment(
            "rbm-digits",
            "A restricted machine learns digits: filters, samples and likelihood over training as pictures",
            "fullspan.papers.rbm_digits",
            ("iterations", "seed", "data"),
            is_figure=True,
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
