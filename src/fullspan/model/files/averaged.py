"""The part of a model file that an average has beside a single log-linear model: its members.

    {"format": "fullspan-model", "version": 1, "kind": "averaged", ..., "log_z": 0.0,
     "terms": [{"term": {"crime": 1, "party": 1}, "weight": ..., ...}, ...],
     "members": [{"log_z": ..., "terms": [0, 3, 4], "weights": [0.2, -0.1, 0.7]}, ...],
     "fit": {..., "out_of_bag": {"score": ..., "error": ..., "share": ...}}, ...}

``terms`` are those of all members, sorted by their place in a table over the basis; a member names its own by their
positions in that list. There may be a ``"background": [{"share": 0.3, "log_z": ..., "places": [1, 2, ...], "weights":
[...]}, ...]``, or one such object without the list: models beside the members; ``places`` are those of their terms in a
table over the basis. Mean weights and spreads are for people, and are computed anew. No table is stored: it is built
from the members when a question needs it.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from fullspan.data.space import Space
from fullspan.errors import FullspanError
from fullspan.model.algebra.basis import Basis, Term
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.files.log_z_check import check_log_z
from fullspan.model.files.strict_json import Node
from fullspan.model.fitted import OutOfBag
from fullspan.model.loglinear import LogLinear

MAX_MEMBERS = 1 << 16
MAX_CHECKED = 64
"""Members whose log Z is recomputed on reading, the first ones; all are normalised anew before they are used."""


def members_record(model: LogLinear) -> dict[str, Any]:
    """The members of an average; nothing for a single model."""
    if not isinstance(model, AveragedLogLinear):
        return {}
    records = []
    for member, where in zip(model.members, model.places, strict=True):
        order = np.argsort(where)
        weights = member.theta[order].tolist()
        records.append({"log_z": member.log_z, "terms": where[order].tolist(), "weights": weights})
    if not model.beside:
        return {"members": records}
    return {"members": records, "background": [_beside_record(share, own) for share, own in model.beside]}


def _beside_record(share: float, model: LogLinear) -> dict[str, Any]:
    order = np.argsort(np.array(model.indices, dtype=np.int64))
    places = [model.indices[i] for i in order]
    return {"share": share, "log_z": model.log_z, "places": places, "weights": model.theta[order].tolist()}


def read_average(root: Node, space: Space, basis: Basis, terms: tuple[Term, ...]) -> AveragedLogLinear:
    """The average in a document whose terms are known.

    Raises
    ------
    ModelFileError : a member is not sound, or the terms are not those of the members.
    """
    if any(basis.index(a) >= basis.index(b) for a, b in itertools.pairwise(terms)):
        raise root["terms"].refuse("the terms of an average are sorted by their place")
    nodes = list(root["members"].items())
    if not 1 <= len(nodes) <= MAX_MEMBERS:
        raise root["members"].refuse(f"{len(nodes)} members; 1 to {MAX_MEMBERS} are possible")
    members = [_read_member(node, space, basis, terms, b < MAX_CHECKED) for b, node in enumerate(nodes)]
    further = root.fields()
    beside = _read_beside(further["background"], space, basis) if "background" in further else []
    try:
        model = AveragedLogLinear.of(members, beside)
    except FullspanError as error:
        raise root.refuse(str(error)) from error
    if len(model.terms) != len(terms):
        raise root["terms"].refuse(f"{len(terms)} terms are listed, of which the members have {len(model.terms)}")
    return model


def _read_member(node: Node, space: Space, basis: Basis, terms: tuple[Term, ...], checked: bool) -> LogLinear:
    places = [item.whole(0, len(terms) - 1) for item in node["terms"].items()]
    if any(a >= b for a, b in itertools.pairwise(places)):
        raise node["terms"].refuse("the positions of terms must increase")
    return _read_model(node, space, basis, tuple(terms[i] for i in places), checked)


def _read_beside(node: Node, space: Space, basis: Basis) -> list[tuple[float, LogLinear]]:
    nodes = list(node.items()) if isinstance(node.value, list) else [node]
    if len(nodes) > MAX_MEMBERS:
        raise node.refuse(f"{len(nodes)} models; at most {MAX_MEMBERS} are possible")
    shares = [own["share"].number(least=0) for own in nodes]
    models = [_read_placed(own, space, basis, b < MAX_CHECKED) for b, own in enumerate(nodes)]
    return list(zip(shares, models, strict=True))


def _read_placed(node: Node, space: Space, basis: Basis, checked: bool) -> LogLinear:
    places = [item.whole(1, basis.n_states - 1) for item in node["places"].items()]
    if any(a >= b for a, b in itertools.pairwise(places)):
        raise node["places"].refuse("the places of terms must increase")
    return _read_model(node, space, basis, tuple(map(basis.term, places)), checked)


def _read_model(node: Node, space: Space, basis: Basis, own: tuple[Term, ...], checked: bool) -> LogLinear:
    theta = np.array([item.number() for item in node["weights"].items()])
    try:
        member = LogLinear(space, basis, own, theta, node["log_z"].number())
    except FullspanError as error:
        raise node.refuse(str(error)) from error
    if checked:
        check_log_z(node["log_z"], basis, member.weights)
    return member


def out_of_bag_record(found: OutOfBag | None) -> dict[str, Any]:
    """The out-of-bag likelihood, null where it is not known; nothing for a single fit."""
    if found is None:
        return {}
    return {"out_of_bag": {name: value if math.isfinite(value) else None for name, value in vars(found).items()}}


def read_out_of_bag(node: Node) -> OutOfBag:
    """The out-of-bag likelihood of a document."""
    return OutOfBag(node["score"].number_or_nan(), node["error"].number_or_nan(), node["share"].number_or_nan())
