"""The file of many models: one line per group.

    {..., "kind": "many", ..., "basis": "walsh",
     "models": [{"group": "a", "log_z": ..., "total": 500, ..., "terms": [3, 17], "weights": [0.2, -0.1]}, ...],
     "by": "site", "settings": {...}, "software": "...", "checksum": "..."}

``by`` is the column that names the groups, or null. ``terms`` are places in a table over the basis: with s_i the
product of the numbers of levels before variable i, a term has its component ``place // s_i % levels_i``. Counts are not
kept. There is no ``fit``: each line has what was learned about its group.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from fullspan.data.space import Level, Space
from fullspan.model.files import envelope
from fullspan.model.files.log_linear import increasing, read_basis
from fullspan.model.files.spaces import read_level, read_space
from fullspan.model.files.strict_json import Node
from fullspan.model.many import ManyModels

KIND = ManyModels.kind
_LAST_PLACE = 2**62
"""Places beyond this do not fit the arrays."""
_REAL = ("log_z", "log_likelihood", "entropy", "description_length", "drift")
_WHOLE = ("n_rows", "n_dropped", "n_steps")


def write(models: ManyModels, path: str | os.PathLike[str]) -> None:
    """Write the file of many models; see :func:`fullspan.model.files.envelope.write`."""
    document = {
        **envelope.header(KIND, models.space),
        "basis": models.basis.name,
        "models": [_record(models, g) for g in range(len(models))],
        "by": models.by,
        "settings": dict(models.settings),
        "software": models.version,
    }
    envelope.write(document, path)


def _record(models: ManyModels, g: int) -> dict[str, Any]:
    part = slice(models.starts[g], models.starts[g + 1])
    return {
        "group": models.groups[g],
        "total": float(models.totals[g]),
        "converged": bool(models.converged[g]),
        **{name: float(getattr(models, name)[g]) for name in _REAL},
        **{name: int(getattr(models, name)[g]) for name in _WHOLE},
        "terms": models.indices[part].tolist(),
        "weights": models.theta[part].tolist(),
    }


def read(source: envelope.Source) -> ManyModels:
    """Read the file of many models; see :func:`fullspan.model.files.envelope.opened`."""
    root = envelope.opened(source, KIND)
    space = read_space(root)
    records = list(root["models"].items())
    real: dict[str, Any] = {field: np.array([r[field].number() for r in records]) for field in _REAL}
    whole: dict[str, Any] = {field: np.array([r[field].whole(0) for r in records], dtype=np.int64) for field in _WHOLE}
    terms = [_read_terms(record, space) for record in records]
    return ManyModels(
        space=space,
        basis=read_basis(root["basis"], space),
        groups=_read_groups(records),
        starts=np.cumsum([0, *map(len, terms)], dtype=np.int64),
        indices=np.array([y for own in terms for y in own], dtype=np.int64),
        theta=np.array([w.number() for r in records for w in r["weights"].items()], dtype=np.float64),
        totals=np.array([r["total"].number(least=0) for r in records]),
        converged=np.array([r["converged"].value is True for r in records]),
        by=None if root["by"].value is None else root["by"].text(),
        settings=envelope.read_settings(root["settings"]),
        version=root["software"].text(),
        **real,
        **whole,
    )


def _read_terms(record: Node, space: Space) -> tuple[int, ...]:
    """Places of terms, increasing, with a weight each."""
    listed = [node.whole(1, min(space.n_states - 1, _LAST_PLACE)) for node in record["terms"].items()]
    places = increasing(record["terms"], listed, "places")
    n_weights = len(list(record["weights"].items()))
    if n_weights != len(places):
        raise record["weights"].refuse(f"{len(places)} terms need as many weights, but there are {n_weights}")
    return places


def _read_groups(records: list[Node]) -> tuple[Level, ...]:
    groups: dict[Any, Level] = {}
    for record in records:
        group = read_level(record["group"], "group")
        # 1, 1.0 and True are equal in Python, and different groups.
        if (type(group), group) in groups:
            raise record["group"].refuse("another group has this name")
        groups[type(group), group] = group
    return tuple(groups.values())
