"""How a machine was learned, in JSON's types: what a model file keeps, and an estimator is made from again."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fullspan.estimators.inputs.reading import READING

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.data.space import Space, Variable
    from fullspan.learn.likelihood.options import MachineOptions
    from fullspan.model.fitted import Fitted
    from fullspan.model.record import StepLike

BY_CHAINS = ("learning_rate", "n_chains", "n_sweeps", "mean_weights")
"""Parameters of the solvers that sample."""
OPTIONS = (
    *("order", "graph", "terms", "margins", "basis", "solver", "l1", "l2", "shrinkage"),
    *("em", "restarts", "tol", "max_iter", "max_memory"),
    *BY_CHAINS,
)
"""Parameters of a machine that go to the learner under their own name."""

_OF_A_SESSION = ("verbose", "device", "warm_start")
"""Parameters of a call on one machine: they say nothing about the model."""


def learned(
    empirical: Empirical,
    options: MachineOptions,
    hidden: Sequence[Variable] = (),
    random_state: Any = None,
    watch: Callable[[StepLike], None] | None = None,
) -> Fitted:
    """Fit a machine, and note how.

    Raises
    ------
    FullspanError, TooLargeError : see :func:`fullspan.learn.likelihood.machine.fit_machine`.
    """
    from fullspan.learn.likelihood.machine import fit_machine

    return noted(fit_machine(empirical, options, hidden, watch), options, hidden, random_state)


def noted(fitted: Fitted, options: MachineOptions, hidden: Sequence[Variable] = (), random_state: Any = None) -> Fitted:
    """The fitted model with its options among the settings. Graphs become edges between names, sets lists of names."""
    settings = parameters(options, fitted.model.space, hidden, random_state)
    return dataclasses.replace(fitted, settings={**fitted.settings, **settings, "estimator": "BoltzmannMachine"})


def parameters(
    options: MachineOptions, space: Space, hidden: Sequence[Variable] = (), random_state: Any = None
) -> dict[str, Any]:
    """The options by the names they have as parameters of an estimator, in JSON's types."""
    settings = {name: getattr(options, name) for name in OPTIONS}
    settings["graph"] = None if options.graph is None else _edges(options.graph, space)
    settings["terms"] = _sets(options.terms, space)
    settings["margins"] = _sets(options.margins, space)
    return {**settings, **of_hidden(hidden, random_state)}


def of_hidden(hidden: Sequence[Variable], random_state: Any) -> dict[str, Any]:
    """The hidden variables with their levels, and the seed if it is a number."""
    return {
        "hidden": {v.name: list(v.levels) for v in hidden} if hidden else 0,
        "random_state": seed_of(random_state),
    }


def own_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator that a file keeps, besides how its table was read: all that shape the model."""
    kept = {n: v for n, v in estimator.get_params(deep=False).items() if n not in (*READING, *_OF_A_SESSION)}
    kept = {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}
    if "random_state" in kept:
        kept["random_state"] = seed_of(kept["random_state"])
    return kept


def seed_of(random_state: Any) -> int | None:
    """The seed if it is a number; a generator has none that a file could keep."""
    return int(random_state) if isinstance(random_state, numbers.Integral) else None


def refuse_hidden(hidden: Sequence[Variable]) -> None:
    """Refuse hidden variables where weights are shrunken by evidence."""
    from fullspan.errors import FullspanError

    if hidden:
        raise FullspanError("shrinkage='evidence' does not support hidden variables; leave out hidden= or shrinkage=")


def _edges(graph: Any, space: Space) -> list[list[str]]:
    from fullspan.learn.likelihood.structure import edges_of

    return [[space.names[i] for i in pair] for pair in sorted(edges_of(space, graph))]


def _sets(sets: Iterable[Any] | None, space: Space) -> list[list[str]] | None:
    from fullspan.learn.likelihood.structure import position_of

    if sets is None:
        return None
    listed = [[names] if isinstance(names, str) else list(names) for names in sets]
    return [[space.names[position_of(space, name, "a set")] for name in names] for names in listed]


def averaged_machine(
    empirical: Empirical,
    options: MachineOptions,
    hidden: Sequence[Variable] = (),
    k: int = 16,
    random_state: Any = None,
    watch: Callable[[Any], None] | None = None,
) -> Fitted:
    """See :func:`fullspan.learn.ensemble.averages.averaged_machine`."""
    from fullspan.learn.ensemble import averages

    fitted = averages.averaged_machine(empirical, options, hidden, k, random_state, watch)
    return noted(fitted, options, hidden, random_state)
