"""The model file of a mixture: the envelope of all model files, with the factors of every component.

    {"format": "fullspan-model", "version": 1, "kind": "mixture", "space": {"variables": [...]},
     "components": [{"share": 0.25, "factors": [{"scope": [3, 1], "log": [...]}, ...]}, ...],
     "fit": {"status": ..., "log_likelihood": ..., "validation": ..., ...}, "checksum": "..."}

``log`` is a log table over the variables of its scope, by position, the last one fastest. A mixture of 100,000 numbers
and more has, in version 2, components of

    {"share": 0.25, "orders": [2, ...], "variables": [3, 1, ...], "log": "..."}

where ``orders`` has the variables in each scope, ``variables`` all scopes one behind the other, and ``log`` all tables
as little-endian doubles in base64: half as long as digits, and read in no time. Reading allocates nothing by a number
in the file.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.data.space import Space
from fullspan.errors import FullspanError, ModelFileError
from fullspan.model.files import log_linear as envelope
from fullspan.model.files.strict_json import Node
from fullspan.model.graph import FactorGraph
from fullspan.model.mixture import FittedMixture, Mixture
from fullspan.model.normalised import check_normalised

KIND = "mixture"
MAX_CELLS = 1 << 24
"""Most entries of one table that is read."""
MAX_ORDER = 32
"""Most variables of one table that is read."""
PACKED_FROM = 100_000
"""Numbers from which on tables are packed."""
_PACKED_VERSION = 2


def save_mixture(fitted: FittedMixture, path: str | os.PathLike[str]) -> None:
    """Write the file of a mixture atomically: whole, or not at all.

    Raises
    ------
    ModelFileError : the file cannot be written, or would be too large.
    """
    envelope.write(lambda: _document(fitted), Path(path))


def _document(fitted: FittedMixture) -> dict[str, Any]:
    model = fitted.model
    packed = model.n_parameters >= PACKED_FROM
    return {
        **envelope.header(KIND, model.space),
        **({"version": _PACKED_VERSION} if packed else {}),
        "components": [
            {"share": float(share), **(_packed(graph) if packed else {"factors": _factors(graph)})}
            for share, graph in zip(model.shares, model.components, strict=True)
        ],
        "fit": {
            "status": fitted.status,
            "total": fitted.total,
            "n_rows": fitted.n_rows,
            "n_dropped": fitted.n_dropped,
            "log_likelihood": fitted.log_likelihood,
            "validation": None if math.isnan(fitted.validation) else fitted.validation,
            "settings": dict(fitted.settings),
            "fingerprint": fitted.fingerprint,
            "software": fitted.version,
            "history": [envelope.step_record(step) for step in fitted.history],
        },
    }


def _factors(graph: FactorGraph) -> list[dict[str, Any]]:
    return [
        {"scope": list(scope), "log": table.ravel().tolist()}
        for scope, table in zip(graph.scopes, graph.tables, strict=True)
    ]


def _packed(graph: FactorGraph) -> dict[str, Any]:
    return {
        "orders": np.diff(graph.scope_starts).tolist(),
        "variables": graph.variables.tolist(),
        "log": base64.b64encode(graph.values.astype("<f8").tobytes()).decode("ascii"),
    }


def read_mixture(root: Node) -> FittedMixture:
    """The mixture in a document.

    Raises
    ------
    ModelFileError : it is damaged, hostile, of another kind or written by a newer version.
    """
    envelope.check(root, KIND)
    space, fit = envelope.read_space(root["space"]["variables"]), root["fit"]
    parts = list(root["components"].items())
    try:
        graphs = tuple(
            _read_packed(part, space) if "orders" in part.fields() else _read_graph(part["factors"], space)
            for part in parts
        )
        model = Mixture(space, np.array([part["share"].number(least=0) for part in parts]), graphs)
    except ModelFileError:
        raise
    except FullspanError as error:
        raise root["components"].refuse(str(error)) from error
    for part, graph in zip(parts, graphs, strict=True):
        check_normalised(part, graph)
    return FittedMixture(
        model=model,
        log_likelihood=fit["log_likelihood"].number(),
        validation=fit["validation"].number_or_nan(),
        total=fit["total"].number(least=0),
        n_rows=fit["n_rows"].whole(0),
        n_dropped=fit["n_dropped"].whole(0),
        history=tuple(envelope.read_step(node) for node in fit["history"].items()),
        status=fit["status"].text(),
        settings={key: node.value for key, node in fit["settings"].fields().items()},
        fingerprint=fit["fingerprint"].text(),
        version=fit["software"].text(),
    )


def _read_graph(node: Node, space: Space) -> FactorGraph:
    scopes, tables = [], []
    for factor in node.items():
        scope = tuple(i.whole(0, len(space) - 1) for i in factor["scope"].items())
        values = [value.number() for value in factor["log"].items()]
        shape = _shape(factor["scope"], scope, space)
        if math.prod(shape) != len(values):
            raise factor["log"].refuse(f"{len(values)} numbers; {math.prod(shape)} are due")
        scopes.append(scope)
        tables.append(np.array(values).reshape(shape))
    return FactorGraph(space, scopes, tables)


def _read_packed(node: Node, space: Space) -> FactorGraph:
    orders = [item.whole(0, len(space)) for item in node["orders"].items()]
    variables = [item.whole(0, len(space) - 1) for item in node["variables"].items()]
    if sum(orders) != len(variables):
        raise node["variables"].refuse(f"{len(variables)} variables; the orders ask for {sum(orders)}")
    ends = itertools.accumulate(orders)
    scopes = [tuple(variables[end - order : end]) for order, end in zip(orders, ends, strict=True)]
    shapes = [_shape(node["variables"], scope, space) for scope in scopes]
    sizes = [math.prod(shape) for shape in shapes]
    text = node["log"].text()
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise node["log"].refuse(f"it is no base64 ({error})") from error
    if len(data) != 8 * sum(sizes):
        raise node["log"].refuse(f"{len(data)} bytes; {8 * sum(sizes)} are due")
    values = np.frombuffer(data, dtype="<f8").astype(np.float64)
    if not np.isfinite(values).all():
        raise node["log"].refuse("a number is not finite")
    parts = np.split(values, np.cumsum(sizes)[:-1]) if sizes else []
    return FactorGraph(space, scopes, [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)])


def _shape(node: Node, scope: tuple[int, ...], space: Space) -> tuple[int, ...]:
    """Levels of the variables of a factor, if a table over them can be held."""
    shape = tuple(space.cards[i] for i in scope)
    if len(shape) > MAX_ORDER or math.prod(shape) > MAX_CELLS:
        raise node.refuse(f"a factor over {len(shape)} variables; {MAX_ORDER} and {MAX_CELLS:,} entries are possible")
    return shape
