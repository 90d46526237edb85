"""The options of ``fullspan fit --model boltzmann``: edges, margins and hidden units as people write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fullspan.errors import FullspanError
from fullspan.people.cli.arguments import names

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.data.space import Variable
    from fullspan.model.fitted import Fitted
    from fullspan.model.record import StepLike

_SEARCH, _MACHINE, _TRUNCATED, _LAYERS = "full-span", "boltzmann", "truncated", ("restricted", "deep")
_MIXTURE, _HIDDEN_TREE = "mixture", "hidden-tree"
_TREES, _DECIMATABLE = ("chow-liu", _HIDDEN_TREE), "decimatable"
OWNERS = {
    **dict.fromkeys(("order", "margin", "chains", "sweeps"), (_MACHINE,)),
    **dict.fromkeys(("graph", "edge", "max_iter"), (_MACHINE, _DECIMATABLE)),
    **dict.fromkeys(("solver", "l2"), (_MACHINE, _DECIMATABLE, _TRUNCATED)),
    **dict.fromkeys(("search", "penalty", "epsilon", "dtype", "device", "engine"), (_SEARCH,)),
    "max_width": (_SEARCH, _MIXTURE),
    "components": (_MIXTURE, _HIDDEN_TREE),
    "max_seconds": (_MIXTURE,),
    "seed": (_SEARCH, _MACHINE, _DECIMATABLE, _TRUNCATED, _MIXTURE, _HIDDEN_TREE, *_LAYERS),
    **dict.fromkeys(("checkpoint", "checkpoint_every", "resume"), (_SEARCH,)),
    "max_order": (_SEARCH, _TRUNCATED),
    "restarts": (_SEARCH, _MACHINE, _DECIMATABLE, _MIXTURE, _HIDDEN_TREE),
    **dict.fromkeys(("basis", "l1", "average", "shrink"), (_SEARCH, _MACHINE)),
    "hidden": (_SEARCH, _MACHINE, _DECIMATABLE, *_LAYERS),
    "max_memory": (_SEARCH, _MACHINE, _TRUNCATED, *_TREES),
    **dict.fromkeys(("epochs", "target"), _LAYERS),
    "learning_rate": (_MACHINE, *_LAYERS),
    **dict.fromkeys(("min_support", "pattern", "pairs", "unseen"), (_TRUNCATED,)),
}
"""Models that an option is for; those not named here are for all."""


def is_given(context: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse_options_of_others(context: typer.Context, model: str) -> None:
    """Refuse an option that this kind of model does not have.

    Raises
    ------
    typer.BadParameter : with the option and the model it belongs to.
    """
    for name, owners in OWNERS.items():
        if model not in owners and is_given(context, name):
            raise typer.BadParameter(
                f"--{name.replace('_', '-')} is for --model {' or '.join(owners)}, not for --model {model}"
            )


@dataclass(frozen=True)
class Structure:
    """What the command line says about the terms of a machine and how it is fitted."""

    order: int
    graph: Path | None
    edges: Sequence[str]
    margins: Sequence[str]
    hidden: str | None
    solver: str
    l2: float
    restarts: int
    seed: int | None
    max_iter: int | None = None
    learning_rate: float = 0.01
    chains: int = 100
    sweeps: int = 1


def learned_machine(
    empirical: Empirical,
    structure: Structure,
    options: dict[str, Any],
    watch: Callable[[StepLike], None],
    average: int = 1,
    shrink: bool = False,
) -> Fitted:
    """Fit the machine.

    Raises
    ------
    FullspanError : the options contradict each other, or name unknown variables.
    """
    from fullspan.estimators.settings import learned
    from fullspan.learn.likelihood.options import MachineOptions

    hidden = hidden_units(structure.hidden)
    known = [*empirical.space.names, *(v.name for v in hidden)]
    edges = edges_of(structure, known)
    basis = options["basis"]
    machine = MachineOptions(
        order=structure.order,
        graph=edges if structure.graph is not None or structure.edges else None,
        margins=[names(text) for text in structure.margins] or None,
        basis="monomial" if basis == "auto" else basis,
        solver=structure.solver,
        l1=options["l1"],
        l2=structure.l2,
        shrinkage="evidence" if shrink else None,
        restarts=structure.restarts,
        seed=structure.seed,
        max_iter=structure.max_iter,
        learning_rate=structure.learning_rate,
        n_chains=structure.chains,
        n_sweeps=structure.sweeps,
        max_memory=options["max_memory"],
    )
    if average > 1:
        from fullspan.estimators.averaging import averaged_machine

        return averaged_machine(empirical, machine, hidden, average, structure.seed, watch)
    return learned(empirical, machine, hidden, structure.seed, watch)


def edges_of(structure: Structure, known: Sequence[str]) -> list[tuple[str, str]]:
    """The edges of the file and of the command line."""
    return [*_edges_of_file(structure.graph, known), *(edge(text, known) for text in structure.edges)]


def hidden_units(text: str | None) -> tuple[Variable, ...]:
    """Hidden variables from a number of binary ones, or from their names."""
    from fullspan.estimators.hidden import hidden_variables

    if text is None:
        return ()
    return hidden_variables(int(text) if text.strip().isdigit() else names(text))


def edge(text: str, known: Sequence[str]) -> tuple[str, str]:
    """Two names joined by a comma or a hyphen; names may hold hyphens as long as one reading fits.

    Raises
    ------
    FullspanError : no reading fits the names, or several do.
    """
    listed = names(text) or []
    if len(listed) == 2:
        return listed[0], listed[1]
    cuts = [(text[: m.start()].strip(), text[m.end() :].strip()) for m in re.finditer("-", text)]
    fitting = [pair for pair in cuts if pair[0] in known and pair[1] in known]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise FullspanError(f"--edge {text!r} can be read in {len(fitting)} ways; separate the names by a comma")
    if len(cuts) == 1:
        return cuts[0]  # the learner says which name is unknown
    raise FullspanError(f"--edge {text!r} is no edge between two variables; write for example --edge party-crime")


def _edges_of_file(path: Path | None, known: Sequence[str]) -> list[tuple[str, str]]:
    if path is None:
        return []
    edges = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        pair = names(line) or []
        if len(pair) != 2:
            pair = line.split()
        if len(pair) != 2:
            raise FullspanError(f"line {number} of {str(path)!r} is {line!r}; two names are needed, a,b or a b")
        edges.append((pair[0], pair[1]))
    return edges
