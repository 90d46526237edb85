"""The file of an average: that of a log-linear model, and the members of the average.

    {..., "kind": "averaged", ..., "log_z": 0.0,
     "terms": [{"term": {"crime": 1, "party": 1}, "weight": ..., ...}, ...],
     "members": [{"log_z": ..., "terms": [0, 3, 4], "weights": [0.2, -0.1, 0.7]}, ...],
     "fit": {..., "out_of_bag": {"score": ..., "error": ..., "share": ...}}, ...}

``terms`` are those of all members, sorted by their place in a table over the basis; a member names its own by their
positions in that list. There may be a ``"background": [{"share": 0.3, "log_z": ..., "places": [1, 2, ...], "weights":
[...]}, ...]``, or one such object without the list: further models, whose terms are not listed; ``places`` are those
of their terms in a table over the basis. Where parts of the average are not log-linear, they are ``"components":
[...]``, as of a mixture (module ``components``). Mean weights and spreads are for people, and are computed anew. No
table is stored: it is built from the members when a question needs it.
"""

from __future__ import annotations

import itertools
import os
from typing import Any, cast

import numpy as np

from fullspan.data.space import Space
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.files import components, envelope
from fullspan.model.files.log_linear import document, increasing, read_fit, read_positions, read_weights
from fullspan.model.files.normalisation import check_log_z
from fullspan.model.files.strict_json import Node
from fullspan.model.fitted import Fitted
from fullspan.model.loglinear import LogLinear

KIND = AveragedLogLinear.kind
MAX_MEMBERS = 1 << 16
MAX_CHECKED = 64
"""Members whose log Z is recomputed on reading, the first ones; all are normalised anew before they are used."""


def write(fitted: Fitted, path: str | os.PathLike[str]) -> None:
    """Write the file of an average atomically; see :func:`fullspan.model.files.log_linear.write`."""
    model = cast(AveragedLogLinear, fitted.model)
    found = document(fitted, _members(model))
    envelope.write({**found, "version": envelope.PACKED} if model.others else found, path)


def _members(model: AveragedLogLinear) -> dict[str, Any]:
    records = []
    for member, where in zip(model.members, model.places, strict=True):
        order = np.argsort(where)
        weights = member.theta[order].tolist()
        records.append({"log_z": member.log_z, "terms": where[order].tolist(), "weights": weights})
    background = [_background_record(share, own) for share, own in model.background]
    found: dict[str, Any] = {"members": records, **({"background": background} if background else {})}
    return {**found, **({"components": components.records(model.others)} if model.others else {})}


def _background_record(share: float, model: LogLinear) -> dict[str, Any]:
    order = np.argsort(np.array(model.indices, dtype=np.int64))
    places = [model.indices[i] for i in order]
    return {"share": share, "log_z": model.log_z, "places": places, "weights": model.theta[order].tolist()}


def read(source: envelope.Source) -> Fitted:
    """Read the file of an average; see :func:`fullspan.model.files.envelope.opened`."""
    root = envelope.opened(source, KIND)
    space, basis, weights = read_weights(root)
    return read_fit(root, _read_average(root, space, basis, tuple(weights)))


def _read_average(root: Node, space: Space, basis: Basis, terms: tuple[Term, ...]) -> AveragedLogLinear:
    if any(basis.index(a) >= basis.index(b) for a, b in itertools.pairwise(terms)):
        raise root["terms"].refuse("the terms of an average are sorted by their place")
    nodes = list(root["members"].items())
    if not 1 <= len(nodes) <= MAX_MEMBERS:
        raise root["members"].refuse(f"{len(nodes)} members; 1 to {MAX_MEMBERS} are possible")
    members = [_read_member(node, space, basis, terms, b < MAX_CHECKED) for b, node in enumerate(nodes)]
    further = root.fields()
    background = _read_background(further["background"], space, basis) if "background" in further else []
    others = components.read_components(further["components"], space) if "components" in further else []
    with root.refusing():
        model = AveragedLogLinear.of(members, background, others)
    if len(model.terms) != len(terms):
        raise root["terms"].refuse(f"{len(terms)} terms are listed, of which the members have {len(model.terms)}")
    return model


def _read_member(node: Node, space: Space, basis: Basis, terms: tuple[Term, ...], checked: bool) -> LogLinear:
    own = tuple(terms[i] for i in read_positions(node["terms"], len(terms)))
    return _read_model(node, space, basis, own, checked)


def _read_background(node: Node, space: Space, basis: Basis) -> list[tuple[float, LogLinear]]:
    nodes = list(node.items()) if isinstance(node.value, list) else [node]
    if len(nodes) > MAX_MEMBERS:
        raise node.refuse(f"{len(nodes)} models; at most {MAX_MEMBERS} are possible")
    shares = [own["share"].number(least=0) for own in nodes]
    models = [_read_placed(own, space, basis, b < MAX_CHECKED) for b, own in enumerate(nodes)]
    return list(zip(shares, models, strict=True))


def _read_placed(node: Node, space: Space, basis: Basis, checked: bool) -> LogLinear:
    listed = [item.whole(1, basis.n_states - 1) for item in node["places"].items()]
    places = increasing(node["places"], listed, "places")
    return _read_model(node, space, basis, tuple(map(basis.term, places)), checked)


def _read_model(node: Node, space: Space, basis: Basis, own: tuple[Term, ...], checked: bool) -> LogLinear:
    theta = np.array([item.number() for item in node["weights"].items()])
    with node.refusing():
        member = LogLinear(space, basis, own, theta, node["log_z"].number())
    if checked:
        check_log_z(node["log_z"], basis, member.weights)
    return member
