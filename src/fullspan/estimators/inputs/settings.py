"""Parameters of an estimator as its learner takes them, and as a model file keeps them, in JSON's types."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from fullspan.estimators.inputs.evidence import hidden_variables
from fullspan.estimators.inputs.reading import READING

if TYPE_CHECKING:
    from fullspan.data.space import Space, Variable
    from fullspan.learn.likelihood.options import MachineOptions
    from fullspan.model.fitted import Fitted

Options = TypeVar("Options")

OF_A_CALL = ("verbose", "device", "warm_start")
"""Parameters of a call on one machine: they say nothing about the model."""


def options_of(estimator: Any, kind: type[Options], **own: Any) -> Options:
    """The options of a learner: the parameters of the estimator that have their names, and ``own``."""
    known = {field.name for field in fields(kind)} & {*estimator._get_param_names()}  # type: ignore[arg-type]
    return kind(**{**{name: getattr(estimator, name) for name in known}, **own})


def own_parameters(estimator: Any, of_a_call: Sequence[str] = OF_A_CALL) -> dict[str, Any]:
    """The parameters that a file keeps, besides how the table was read: all that shape the model."""
    kept = {n: v for n, v in estimator.get_params(deep=False).items() if n not in (*READING, *of_a_call)}
    kept = {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}
    if "random_state" in kept:
        kept["random_state"] = seed_of(kept["random_state"])
    if "hidden" in kept:
        kept["hidden"] = _hidden(hidden_variables(kept["hidden"]))
    return kept


def seed_of(random_state: Any) -> int | None:
    """The seed if it is a number; a generator has none that a file could keep."""
    return int(random_state) if isinstance(random_state, numbers.Integral) else None


def _hidden(hidden: Sequence[Variable]) -> Any:
    return {v.name: list(v.levels) for v in hidden} if hidden else 0


def noted(fitted: Fitted, options: MachineOptions, hidden: Sequence[Variable] = (), random_state: Any = None) -> Fitted:
    """The fitted machine with its options among the settings: graphs as edges between names, sets as lists of names."""
    settings = machine_parameters(options, fitted.model.space, hidden, random_state)
    return replace(fitted, settings={**fitted.settings, **settings})


def machine_parameters(
    options: MachineOptions, space: Space, hidden: Sequence[Variable] = (), random_state: Any = None
) -> dict[str, Any]:
    """The options of a machine by the names they have as parameters of an estimator."""
    settings = {f.name: getattr(options, f.name) for f in fields(options) if f.name != "seed"}
    settings["graph"] = None if options.graph is None else _edges(options.graph, space)
    settings["terms"] = _sets(options.terms, space)
    settings["margins"] = _sets(options.margins, space)
    return {**settings, "hidden": _hidden(hidden), "random_state": seed_of(random_state)}


def _edges(graph: Any, space: Space) -> list[list[str]]:
    from fullspan.learn.likelihood.structure import edges_of

    return [[space.names[i] for i in pair] for pair in sorted(edges_of(space, graph))]


def _sets(sets: Iterable[Any] | None, space: Space) -> list[list[str]] | None:
    from fullspan.learn.likelihood.structure import position_of

    if sets is None:
        return None
    listed = [[names] if isinstance(names, str) else list(names) for names in sets]
    return [[space.names[position_of(space, name, "a set")] for name in names] for names in listed]
