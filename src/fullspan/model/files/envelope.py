"""What all model files share: header, variables, what was learned, checksum, atomic writing and strict reading.

    {"format": "fullspan-model", "version": 1, "kind": "log-linear",
     "space": {"variables": [{"name": "crime", "levels": ["n", "y"]}, ...]},
     ...                                                      what the kind of model adds
     "fit": {"status": "converged", "total": 435, "n_rows": 435, "n_dropped": 0,
             ...,                                             what the kind of model adds
             "settings": {...}, "fingerprint": "...", "software": "0.1.0", "history": [...]},
     "checksum": "..."}

One JSON text that a person can read, and that a program may open from a stranger. Numbers are written with as many
digits as bring the same double back. ``checksum`` is the SHA-256 of everything else, as JSON with sorted keys and no
spaces: it finds damage, and is no signature. Reading executes nothing and allocates nothing by a number found in the
file. Each kind has a module with the same two names, ``read(source)`` and ``write(fitted, path)``, which raise a
``ModelFileError``: a file that is missing, damaged, hostile, of another kind or written by a newer version, with the
place in it; or one that cannot be written, or would be larger than is read.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.data.space import Space
from fullspan.errors import ModelFileError
from fullspan.model.files.disk import write_atomically
from fullspan.model.files.spaces import space_record
from fullspan.model.files.strict_json import MAX_BYTES, Node, read_json, shown
from fullspan.model.record import FitRecord, Step, StepLike

FORMAT = "fullspan-model"
PLAIN, PACKED = 1, 2
"""Versions of the format: every number for people to read, and in columns or base64 where they are many."""
VERSION = PACKED
"""The newest version that is read."""

Source = str | os.PathLike[str] | Node
"""A file, or a document that was parsed already: whoever asks for the kind first need not parse it twice."""


# -- writing --------------------------------------------------------------------------------------------------


def header(kind: str, space: Space, version: int = PLAIN) -> dict[str, Any]:
    """How every model file begins.

    Raises
    ------
    ModelFileError : there are more variables than are read.
    """
    return {"format": FORMAT, "version": version, "kind": kind, "space": {"variables": space_record(space)}}


def learned(fitted: FitRecord[Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """What the file says about the fit: what all kinds have around what one kind adds."""
    return {
        "status": fitted.status,
        "total": fitted.total,
        "n_rows": fitted.n_rows,
        "n_dropped": fitted.n_dropped,
        **own,
        "settings": dict(fitted.settings),
        "fingerprint": fitted.fingerprint,
        "software": fitted.version,
        "history": [_step_record(step) for step in fitted.history],
    }


def _step_record(step: StepLike) -> dict[str, Any]:
    return {"move": step.move, "n_terms": step.n_terms, "cost": step.cost, "seconds": step.seconds}


def write(document: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a document with its checksum, atomically: whole, or not at all.

    Raises
    ------
    ModelFileError : the file cannot be written, would be larger than is read, or something has no place in JSON.
    """
    try:
        data = _pretty(_signed(document)).encode("utf-8")
    except (TypeError, ValueError) as error:
        raise ModelFileError(
            f"{path} cannot be written: the model holds something JSON has no form for ({error})"
        ) from error
    # Whoever writes a model must be able to read it again.
    if len(data) > MAX_BYTES:
        raise ModelFileError(f"{path} cannot be written: it would be larger than {MAX_BYTES >> 20} MiB")
    try:
        write_atomically(Path(path), data)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror or error}") from error


def checksum(document: Mapping[str, Any]) -> str:
    """SHA-256 in hexadecimal of a parsed document, its own checksum left out."""
    rest = {key: value for key, value in document.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def _signed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document as a reader will parse it, with its checksum: NumPy's numbers are plain ones there."""
    # Written and parsed first, so that the checksum is of what a reader gets: -0.0, tuples and NumPy's numbers
    # included.
    parsed = json.loads(_line(document))
    return {**parsed, "checksum": checksum(parsed)}


def _pretty(value: Any, depth: int = 0) -> str:
    """JSON with one line per variable, term, step and list of numbers: objects are spread out, members of lists not."""
    gap, close = "\n" + "  " * (depth + 1), "\n" + "  " * depth
    if isinstance(value, Mapping) and value:
        return "{" + ",".join(f"{gap}{_line(k)}: {_pretty(v, depth + 1)}" for k, v in value.items()) + close + "}"
    if isinstance(value, list) and value and isinstance(value[0], Mapping | list):
        return "[" + ",".join(f"{gap}{_line(v)}" for v in value) + close + "]"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def finite_or_null(value: float) -> float | None:
    """A number as files hold it, null where it is not known or infinite."""
    return float(value) if math.isfinite(value) else None


def known_or_null(value: float) -> float | None:
    """A number as files hold it, null where it is not known; an infinite one is refused when the file is written."""
    return None if math.isnan(value) else value


# -- reading --------------------------------------------------------------------------------------------------


def parsed(source: Source) -> Node:
    """The document in a file, strictly read; see :func:`fullspan.model.files.strict_json.read_json`."""
    return source if isinstance(source, Node) else read_json(Path(source))


def kind_of(source: Source) -> str:
    """The kind of model that a file holds, by its header.

    Raises
    ------
    ModelFileError : the file cannot be read, is no model file, or was written by a newer version.
    """
    root = parsed(source)
    if root["format"].text() != FORMAT:
        raise root["format"].refuse(f"{shown(root['format'].value)} is not {FORMAT!r}")
    version = root["version"].whole(1)
    # Said before the checksum is looked at: a newer version may compute it otherwise.
    if version > VERSION:
        raise ModelFileError(
            f"{root.file} was written by a newer version of fullspan (format {version}; this one reads up to "
            f"{VERSION}): upgrade fullspan to open it"
        )
    return root["kind"].text()


def opened(source: Source, kind: str) -> Node:
    """The document of a model of one kind, if it matches its checksum.

    Raises
    ------
    ModelFileError : the file cannot be read, is damaged, of another kind, or was written by a newer version.
    """
    root = parsed(source)
    found = kind_of(root)
    if found != kind:
        raise ModelFileError(
            f"{root.file} holds a model of kind {shown(found)}, where {shown(kind)} is needed; fullspan.load opens "
            "the kinds of this version, and fullspan.GroupedModels.load many models"
        )
    _check_sum(root)
    return root


def _check_sum(root: Node) -> None:
    try:
        expected = checksum(root.value)
    # Parsing takes deeper nesting than writing does.
    except RecursionError as error:
        raise root.refuse("it is nested too deeply") from error
    if root["checksum"].text() != expected:
        raise ModelFileError(f"{root.file} does not match its checksum: it was changed or damaged")


def read_learned(fit: Node) -> dict[str, Any]:
    """What the file of any kind says about the fit, by the names of :class:`fullspan.model.record.FitRecord`."""
    return {
        "total": fit["total"].number(least=0),
        "n_rows": fit["n_rows"].whole(0),
        "n_dropped": fit["n_dropped"].whole(0),
        "history": tuple(_read_step(node) for node in fit["history"].items()),
        "status": fit["status"].text(),
        "settings": read_settings(fit["settings"]),
        "fingerprint": fit["fingerprint"].text(),
        "version": fit["software"].text(),
    }


def read_settings(node: Node) -> dict[str, Any]:
    """How a model was fitted: names with any JSON values."""
    return {key: value.value for key, value in node.fields().items()}


def _read_step(node: Node) -> Step:
    return Step(node["move"].text(), node["n_terms"].whole(0), node["cost"].number(), node["seconds"].number(least=0))
