"""``fullspan fit --model decimatable``: machines on sparse graphs of any size, summed out node by node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fullspan.errors import FullspanError
from fullspan.people.cli.machine import Structure, edges_of, hidden_units

if TYPE_CHECKING:
    from collections.abc import Callable

    from fullspan.data import Empirical
    from fullspan.model.fitted import Fitted
    from fullspan.model.record import StepLike


def learned_decimatable(empirical: Empirical, structure: Structure, watch: Callable[[StepLike], None]) -> Fitted:
    """Fit the joint distribution of all columns on the graph of the command line.

    Raises
    ------
    FullspanError : there is no graph, a node is no column or a column no node, or the solver is of another model.
    NotDecimatableError : the graph cannot be decimated; names the nodes that block it.
    """
    from fullspan.estimators.decimatable import DecimatableBoltzmannMachine

    hidden = tuple(v.name for v in hidden_units(structure.hidden))
    edges = edges_of(structure, [*empirical.space.names, *hidden])
    if not edges:
        raise FullspanError("--model decimatable needs a graph: --edge a-b, which may be repeated, or --graph FILE")
    own: dict[str, Any] = {"l2": structure.l2, "restarts": structure.restarts, "max_iter": structure.max_iter}
    solver: Any = "lbfgs" if structure.solver == "auto" else structure.solver
    machine = DecimatableBoltzmannMachine(edges, hidden=hidden, solver=solver, random_state=structure.seed, **own)
    fitted = machine._learn(empirical, watch)  # type: ignore[arg-type]
    return replace(fitted, settings={**fitted.settings, "estimator": type(machine).__name__})
