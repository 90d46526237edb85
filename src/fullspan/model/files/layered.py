"""The model file of a machine in layers: the envelope of every model file, with biases and weights as lists.

    {"format": "fullspan-model", "version": 1, "kind": "layers",
     "space": {"variables": [...]},
     "layers": {"single": true, "biases": [[...], ...], "weights": [[[...], ...], ...], "base": [...]},
     "log_z": {"value": ..., "standard_error": ..., "method": "ais", "effective": ...},
     "fit": {"status": ..., "curve": [[epoch, score, error], ...], "history": [...], ...},
     "checksum": "..."}

Weights of layer l have one row per unit below and one column per unit above. ``single`` says that biases and weights
are numbers of single precision, written with the digits that bring these back.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.errors import FullspanError
from fullspan.model.estimate import Estimate
from fullspan.model.files import log_linear as envelope
from fullspan.model.files.strict_json import Node
from fullspan.model.layered import FittedLayers, LayeredMachine

KIND = "layers"


def save_layers(fitted: FittedLayers, path: str | os.PathLike[str]) -> None:
    """Write the file of a machine atomically: whole, or not at all.

    Raises
    ------
    ModelFileError : the file cannot be written, or would be too large.
    """
    envelope.write(lambda: _document(fitted), Path(path))


def _document(fitted: FittedLayers) -> dict[str, Any]:
    machine, z = fitted.model, fitted.log_z
    return {
        **envelope.header(KIND, machine.space),
        "layers": {
            "single": (single := _is_single(machine)),
            "biases": [_listed(b, single) for b in machine.biases],
            "weights": [_listed(w, single) for w in machine.weights],
            "base": _listed(machine.rates, False),
        },
        "log_z": {
            "value": z.value,
            "standard_error": z.standard_error,
            "method": z.method,
            "effective": z.effective,
            **({} if math.isinf(z.freedom) else {"freedom": z.freedom}),
            "skewness": z.skewness,
        },
        "fit": {
            "status": fitted.status,
            "total": fitted.total,
            "n_rows": fitted.n_rows,
            "n_dropped": fitted.n_dropped,
            "curve": [list(point) for point in fitted.curve],
            "settings": dict(fitted.settings),
            "fingerprint": fitted.fingerprint,
            "software": fitted.version,
            "history": [envelope.step_record(step) for step in fitted.history],
        },
    }


def _is_single(machine: LayeredMachine) -> bool:
    """Whether all parameters are numbers of single precision."""
    with np.errstate(over="ignore"):
        return all(np.array_equal(a.astype(np.float32), a) for a in (*machine.biases, *machine.weights))


def _listed(values: NDArray[np.float64], single: bool) -> list[Any]:
    """Numbers with as few digits as bring them back."""
    if single:
        short = [float(str(v)) for v in values.astype(np.float32).ravel()]
        values = np.array(short).reshape(values.shape)
    listed: list[Any] = values.tolist()
    return listed


def read_layers(root: Node) -> FittedLayers:
    """The machine in a document.

    Raises
    ------
    ModelFileError : the document is damaged, hostile, of another kind or written by a newer version.
    """
    envelope.check(root, KIND)
    layers, z, fit = root["layers"], root["log_z"], root["fit"]
    space = envelope.read_space(root["space"]["variables"])
    single = layers["single"].value
    if not isinstance(single, bool):
        raise layers["single"].refuse("true or false is needed")
    biases = tuple(_vector(node, single) for node in layers["biases"].items())
    weights = tuple(_matrix(node, single) for node in layers["weights"].items())
    method = z["method"].text()
    if method not in ("exact", "ais"):
        raise z["method"].refuse("'exact' or 'ais' is needed")
    try:
        machine = LayeredMachine(space, biases, weights, _vector(layers["base"], False))
    except FullspanError as error:
        raise layers.refuse(str(error)) from error
    return FittedLayers(
        model=machine,
        log_z=_estimate(z, method),
        total=fit["total"].number(least=0),
        n_rows=fit["n_rows"].whole(0),
        n_dropped=fit["n_dropped"].whole(0),
        history=tuple(envelope.read_step(node) for node in fit["history"].items()),
        status=fit["status"].text(),
        curve=tuple(_point(node) for node in fit["curve"].items()),
        settings={key: node.value for key, node in fit["settings"].fields().items()},
        fingerprint=fit["fingerprint"].text(),
        version=fit["software"].text(),
    )


def _estimate(z: Node, method: str) -> Estimate:
    """log Z; older files know neither the freedom nor the skewness of its error."""
    value, error, effective = z["value"].number(), z["standard_error"].number(least=0), z["effective"].number(least=0)
    known = z.fields()
    freedom = known["freedom"].number(least=1) if "freedom" in known else math.inf
    return Estimate(
        value, error, method, effective, freedom, known["skewness"].number() if "skewness" in known else 0.0
    )


def _vector(node: Node, single: bool) -> NDArray[np.float64]:
    values = node.value if _plain(node.value) else [item.number() for item in node.items()]
    with np.errstate(over="ignore"):
        return np.array(values, dtype=np.float32 if single else np.float64).astype(np.float64)


def _plain(value: Any) -> bool:
    """Whether a list holds floating numbers alone, which the parser has checked to be finite."""
    return isinstance(value, list) and all(type(v) is float for v in value)


def _matrix(node: Node, single: bool) -> NDArray[np.float64]:
    rows = [_vector(row, single) for row in node.items()]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise node.refuse("the rows of weights must have one length, and there is at least one")
    return np.stack(rows)


def _point(node: Node) -> tuple[int, float, float]:
    items = list(node.items())
    if len(items) != 3:
        raise node.refuse("an epoch, a score and its error are due")
    return items[0].whole(0), items[1].number(), items[2].number(least=0)
