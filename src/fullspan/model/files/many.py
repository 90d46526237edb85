"""The file of many models: the envelope of a model file, with one line per group.

    {"format": "fullspan-model", "version": 1, "kind": "many",
     "space": {"variables": [...]}, "basis": "walsh",
     "models": [{"group": "a", "log_z": ..., "total": 500, ..., "terms": [3, 17], "weights": [0.2, -0.1]}, ...],
     "by": "site", "settings": {...}, "software": "...", "checksum": "..."}

``by`` is the column that names the groups, or null. ``terms`` are places in a table over the basis: with s_i the
product of the numbers of levels before variable i, a term has its component ``place // s_i % levels_i``. Counts are not
kept. Reading allocates nothing by a number found in the file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.data.space import Level, Space
from fullspan.model.algebra.basis import BASES, Basis
from fullspan.model.files import log_linear as envelope
from fullspan.model.files.strict_json import Node
from fullspan.model.many import ManyModels

KIND = "many"
_LAST = 2**62
"""Places beyond this do not fit the arrays."""
_REAL = ("log_z", "log_likelihood", "entropy", "description_length", "drift")
_WHOLE = ("n_rows", "n_dropped", "n_steps")


def save_many(models: ManyModels, path: str | os.PathLike[str], by: str | None = None) -> None:
    """Write the file of many models atomically: whole, or not at all.

    Raises
    ------
    ModelFileError : the file cannot be written, or would be too large.
    """
    envelope.write(lambda: _document(models, by), Path(path))


def _document(models: ManyModels, by: str | None) -> dict[str, Any]:
    return {
        **envelope.header(KIND, models.space),
        "basis": models.basis.name,
        "models": [_record(models, g) for g in range(len(models))],
        "by": by,
        "settings": dict(models.settings),
        "software": models.version,
    }


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


def read_many(root: Node) -> tuple[ManyModels, str | None]:
    """The models in a document, and the column that names their groups, if one does.

    Raises
    ------
    ModelFileError : the document is damaged, hostile, or written by a newer version.
    """
    envelope.check(root, KIND)
    space = envelope.read_space(root["space"]["variables"])
    name = root["basis"].text()
    if name not in BASES:
        raise root["basis"].refuse(f"there is no basis of this name; {', '.join(BASES)} are known")
    records = list(root["models"].items())
    real: dict[str, Any] = {field: np.array([r[field].number() for r in records]) for field in _REAL}
    whole: dict[str, Any] = {field: np.array([r[field].whole(0) for r in records], dtype=np.int64) for field in _WHOLE}
    terms = [_read_terms(record, space) for record in records]
    groups = _read_groups(records)
    models = ManyModels(
        space=space,
        basis=Basis(name, space.cards),
        groups=groups,
        starts=np.cumsum([0, *map(len, terms)], dtype=np.int64),
        indices=np.array([y for own in terms for y in own], dtype=np.int64),
        theta=np.array([w.number() for r in records for w in r["weights"].items()], dtype=np.float64),
        totals=np.array([r["total"].number(least=0) for r in records]),
        converged=np.array([r["converged"].value is True for r in records]),
        settings={key: node.value for key, node in root["settings"].fields().items()},
        version=root["software"].text(),
        **real,
        **whole,
    )
    return models, None if root["by"].value is None else root["by"].text()


def _read_terms(record: Node, space: Space) -> list[int]:
    """Places of terms, increasing, with a weight each."""
    places = [node.whole(1, min(space.n_states - 1, _LAST)) for node in record["terms"].items()]
    if sorted(set(places)) != places:
        raise record["terms"].refuse("the places of terms must increase")
    n_weights = len(list(record["weights"].items()))
    if n_weights != len(places):
        raise record["weights"].refuse(f"{len(places)} terms need as many weights, but there are {n_weights}")
    return places


def _read_groups(records: list[Node]) -> tuple[Level, ...]:
    groups: dict[Any, Level] = {}
    for record in records:
        node = record["group"]
        if not isinstance(node.value, str | int | float | bool):
            raise node.refuse("a group is text, a number, true or false")
        if (type(node.value), node.value) in groups:
            raise node.refuse("another group has this name")
        groups[type(node.value), node.value] = node.value
    return tuple(groups.values())
