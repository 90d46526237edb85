"""How parameters are spelled on the command line, where an option has another name or form than its parameter.

Every other parameter is an option of the same name, read by its type (:mod:`fullspan.people.cli.options.values`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from fullspan.people.cli.options import arguments
from fullspan.people.cli.options.values import names

Texts = Mapping[str, Any]
"""What was given, by option: a text, several of a repeated option, or whether a flag is there."""
Names = Callable[[], Sequence[str]]
"""Gives the names of all variables, hidden ones too; it opens the table."""


@dataclass(frozen=True)
class Spelling:
    """The options that a parameter has.

    Attributes
    ----------
    options : their names, and their help where the docstring does not suit.
    read : makes the parameter from what was given; None to read the one option by the parameter's type.
    repeated, flags : the options that may be repeated, and those without a value.
    metavar : what stands for their value in the help.
    needed : what to say where the model needs one of the options, and none was given.
    """

    options: Mapping[str, str]
    read: Callable[[Texts, Names], Any] | None = None
    repeated: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    metavar: Mapping[str, str] = field(default_factory=dict)
    needed: str = ""


def _one(option: str, read: Callable[[str], Any] | None = None, text: str = "", metavar: str = "") -> Spelling:
    """One option, read from its text."""
    metavars = {option: metavar} if metavar else {}
    return Spelling({option: text}, None if read is None else lambda given, _: read(given[option]), metavar=metavars)


def _repeated(option: str, text: str, metavar: str, read: Callable[[str], Any] = str) -> Spelling:
    def listed(given: Texts, _: Names) -> list[Any]:
        return [read(one) for one in given[option]]

    return Spelling({option: text}, listed, repeated=(option,), metavar={option: metavar})


def _graph(given: Texts, known: Names) -> list[tuple[str, str]]:
    """The edges of the file and of the command line."""
    path = given.get("graph")
    listed = [] if path is None else arguments.edges_of_file(Path(path))
    return [*listed, *(arguments.edge(text, known) for text in given.get("edge", ()))]


def _runs(given: Texts, _: Names) -> list[tuple[int, int]]:
    """One size of mixture instead of the usual schedule."""
    if "components" not in given:
        raise typer.BadParameter("--max-width goes with --components; without, mixtures of several widths are tried")
    sizes = [given["components"], given.get("max_width", "4")]
    if not all(size.isdigit() for size in sizes):
        raise typer.BadParameter(f"--components {sizes[0]} --max-width {sizes[1]}: whole numbers are needed")
    return [(int(sizes[0]), int(sizes[1]))]


_HIDDEN = "Hidden variables: a number of two-level ones, or their names separated by commas."
_EDGES = {
    "graph": "File with one edge per line: two names separated by a comma or blanks.",
    "edge": "Edge, a-b or a,b; may be repeated.",
}
SPELLINGS: dict[str, Spelling] = {
    "columns": _one("columns", names, "Columns to use, separated by commas.  [default: all]"),
    "levels": _one(
        "levels", arguments.levels, 'Levels of columns in their order: JSON or a .json file, \'{"size": ["S", "L"]}\'.'
    ),
    "bins": _one(
        "bins",
        arguments.bins,
        "Cut numeric columns into bins: a number of quantiles, or JSON, '{\"age\": [0, 30, 60, 99]}'.",
    ),
    "na_values": _repeated(
        "na",
        "Text that marks a missing value, instead of the default list; may be repeated, '' for empty cells only.",
        "TEXT",
    ),
    "handle_unknown": _one("unknown"),
    "max_memory": _one("max_memory", arguments.size, "Memory limit, such as 8GiB.", "SIZE"),
    "random_state": _one("seed", arguments.seed, "Random seed.", "N"),
    "private": _one(
        "private",
        arguments.privacy,
        "Differential privacy: epsilon, or epsilon,delta. --levels and the edges of --bins must not be made from the "
        "data; levels that they do not list are charged to the budget.",
        "EPSILON,DELTA",
    ),
    "shrinkage": Spelling(
        {"shrink": "Shrink all interactions by a prior estimated from the data; full-span mixes this with its search."},
        lambda given, _: "evidence" if given["shrink"] else None,
        flags=("shrink",),
    ),
    "hidden": _one("hidden", arguments.hidden, _HIDDEN),
    "graph": Spelling(_EDGES, _graph, repeated=("edge",), metavar={"graph": "FILE", "edge": "A-B"}),
    "margins": _repeated("margin", "Margin to fit, with all its subsets; may be repeated.", "A,B,C", names),
    "patterns": _repeated("pattern", "Pattern with a weight; only these have one; may be repeated.", "A,B,C", names),
    "n_pairs": _one("pairs"),
    "n_chains": _one("chains"),
    "n_sweeps": _one("sweeps"),
    "n_states": _one("components"),
    "DecimatableBoltzmannMachine.graph": Spelling(
        _EDGES,
        _graph,
        repeated=("edge",),
        metavar={"graph": "FILE", "edge": "A-B"},
        needed="a graph: give --edge A-B once per edge, or --graph FILE with one edge per line",
    ),
    "DecimatableBoltzmannMachine.hidden": _one("hidden", arguments.hidden_names, _HIDDEN),
    "RestrictedBoltzmannMachine.n_hidden": _one("hidden", arguments.units),
    "DeepBoltzmannMachine.layers": _one("hidden", arguments.layers, "Units of each hidden layer, such as 64,32."),
    "RestrictedBoltzmannMachine.max_iter": _one("epochs"),
    "DeepBoltzmannMachine.max_iter": _one("epochs"),
    "FullSpanMixture.runs": Spelling(
        {
            "components": (
                "Number of components; 1 averages networks of bootstrap samples. By default several runs are combined."
            ),
            "max_width": "Maximum number of parents of a column.",
        },
        _runs,
        metavar={"components": "N", "max_width": "N"},
    ),
}
"""By parameter, or by class and parameter where classes differ."""


def spelling(estimator: str, parameter: str) -> Spelling:
    """The options of a parameter."""
    own = f"{estimator}.{parameter}"
    return SPELLINGS.get(own) or SPELLINGS.get(parameter) or Spelling({parameter: ""})
