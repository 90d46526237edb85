"""Interactions in a model file: what each set of variables does together, and the nats it saves."""

from __future__ import annotations

import math
from typing import Any

from fullspan.model.effects.interaction import Effect, Interaction
from fullspan.model.files.strict_json import Node


def interaction_record(interaction: Interaction) -> dict[str, Any]:
    """An interaction as a file holds it: numbers that are not known are null, infinite ones text."""
    return {
        "variables": list(interaction.variables),
        "nats_saved": _plain(interaction.nats_saved),
        "approximate": interaction.approximate,
        "kind": interaction.kind,
        "effects": [
            {"events": list(e.events), "log_ratio": _plain(e.log_ratio), "standard_error": _plain(e.standard_error)}
            for e in interaction.effects
        ],
        "smallest": _plain(interaction.smallest),
        "largest": _plain(interaction.largest),
        "chosen": interaction.chosen,
    }


def _plain(value: float) -> float | str | None:
    return None if math.isnan(value) else str(value) if math.isinf(value) else float(value)


def read_interaction(node: Node, names: tuple[str, ...]) -> Interaction:
    """The interaction in a file.

    Raises
    ------
    ModelFileError : something in it is not what it should be.
    """
    variables = tuple(item.text() for item in node["variables"].items())
    if len(variables) < 2 or len(set(variables)) < len(variables) or not set(variables) <= set(names):
        raise node["variables"].refuse("two or more different variables of the model are needed")
    kind = node["kind"].text()
    if kind not in ("odds ratio", "cell ratio"):
        raise node["kind"].refuse("'odds ratio' or 'cell ratio' is needed")
    effects = tuple(_read_effect(item, len(variables)) for item in node["effects"].items())
    if kind == "odds ratio" and (len(effects), len(variables)) != (1, 2):
        raise node["effects"].refuse("an odds ratio is one number, of two variables")
    smallest, largest = (_read_number(node[name]) for name in ("smallest", "largest"))
    if smallest <= 0 or largest <= 0:
        raise node["smallest"].refuse("the ends of an odds ratio are positive")
    return Interaction(
        variables=variables,
        nats_saved=_read_number(node["nats_saved"]),
        approximate=node["approximate"].truth(),
        kind=kind,  # type: ignore[arg-type]
        effects=effects,
        smallest=smallest,
        largest=largest,
        chosen=node["chosen"].number(least=0),
    )


def _read_effect(node: Node, order: int) -> Effect:
    events = tuple(item.text() for item in node["events"].items())
    if len(events) != order:
        raise node["events"].refuse(f"{len(events)} events for {order} variables")
    return Effect(events, _read_number(node["log_ratio"]), _read_number(node["standard_error"]))


def _read_number(node: Node) -> float:
    return float(node.value) if node.value in ("inf", "-inf") else node.number_or_nan()
