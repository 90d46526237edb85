"""The file of a layered machine (restricted or deep Boltzmann machine): biases and weights as lists.

    {..., "kind": "layers", ...,
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
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.model.estimate import Estimate
from fullspan.model.files import envelope
from fullspan.model.files.spaces import read_space
from fullspan.model.files.strict_json import Node
from fullspan.model.layered import FittedLayers, LayeredMachine

KIND = LayeredMachine.kind


def write(fitted: FittedLayers, path: str | os.PathLike[str]) -> None:
    """Write the file of a machine; see :func:`fullspan.model.files.envelope.write`."""
    machine = fitted.model
    single = _is_single(machine)
    document = {
        **envelope.header(KIND, machine.space),
        "layers": {
            "single": single,
            "biases": [_listed(b, single) for b in machine.biases],
            "weights": [_listed(w, single) for w in machine.weights],
            "base": _listed(machine.rates, False),
        },
        "log_z": _log_z(fitted.log_z),
        "fit": envelope.learned(fitted, {"curve": [list(point) for point in fitted.curve]}),
    }
    envelope.write(document, path)


def _log_z(z: Estimate) -> dict[str, Any]:
    return {
        "value": z.value,
        "standard_error": z.standard_error,
        "method": z.method,
        "effective": z.effective,
        **({} if math.isinf(z.freedom) else {"freedom": z.freedom}),
        "skewness": z.skewness,
    }


def _is_single(machine: LayeredMachine) -> bool:
    """Whether all parameters are numbers of single precision."""
    with np.errstate(over="ignore"):
        return all(np.array_equal(a.astype(np.float32), a) for a in (*machine.biases, *machine.weights))


def _listed(values: Array, single: bool) -> list[Any]:
    """Numbers with as few digits as bring them back."""
    if single:
        short = [float(str(v)) for v in values.astype(np.float32).ravel()]
        values = np.array(short).reshape(values.shape)
    listed: list[Any] = values.tolist()
    return listed


def read(source: envelope.Source) -> FittedLayers:
    """Read the file of a layered machine; see :func:`fullspan.model.files.envelope.opened`."""
    root = envelope.opened(source, KIND)
    layers, fit = root["layers"], root["fit"]
    single = layers["single"].truth()
    biases = tuple(_vector(node, single) for node in layers["biases"].items())
    weights = tuple(_matrix(node, single) for node in layers["weights"].items())
    with layers.refusing():
        machine = LayeredMachine(read_space(root), biases, weights, _vector(layers["base"], False))
    return FittedLayers(
        model=machine,
        log_z=_estimate(root["log_z"]),
        curve=tuple(_point(node) for node in fit["curve"].items()),
        **envelope.read_learned(fit),
    )


def _estimate(z: Node) -> Estimate:
    """log Z; older files have neither the freedom nor the skewness of its error."""
    method = z["method"].text()
    if method not in ("exact", "ais"):
        raise z["method"].refuse("'exact' or 'ais' is needed")
    value, error, effective = z["value"].number(), z["standard_error"].number(least=0), z["effective"].number(least=0)
    known = z.fields()
    freedom = known["freedom"].number(least=1) if "freedom" in known else math.inf
    return Estimate(
        value, error, method, effective, freedom, known["skewness"].number() if "skewness" in known else 0.0
    )


def _vector(node: Node, single: bool) -> Array:
    values = node.value if _plain(node.value) else [item.number() for item in node.items()]
    with np.errstate(over="ignore"):
        return np.array(values, dtype=np.float32 if single else np.float64).astype(np.float64)


def _plain(value: Any) -> bool:
    """Whether a list holds floating numbers alone, which the parser has checked to be finite."""
    return isinstance(value, list) and all(type(v) is float for v in value)


def _matrix(node: Node, single: bool) -> Array:
    rows = [_vector(row, single) for row in node.items()]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise node.refuse("the rows of weights must have one length, and there is at least one")
    return np.stack(rows)


def _point(node: Node) -> tuple[int, float, float]:
    items = list(node.items())
    if len(items) != 3:
        raise node.refuse("an epoch, a score and its error are needed")
    return items[0].whole(0), items[1].number(), items[2].number(least=0)
