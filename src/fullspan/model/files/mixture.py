"""The file of a mixture: the factors of every component.

    {..., "kind": "mixture", ...,
     "components": [{"share": 0.25, "factors": [{"scope": [3, 1], "log": [...]}, ...]}, ...],
     "fit": {..., "log_likelihood": ..., "validation": ..., ...}, "checksum": "..."}

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
from typing import Any

import numpy as np

from fullspan.data.space import Space
from fullspan.errors import FullspanError, ModelFileError
from fullspan.model.files import envelope
from fullspan.model.files.normalisation import check_normalised
from fullspan.model.files.spaces import read_space
from fullspan.model.files.strict_json import Node
from fullspan.model.graph import FactorGraph
from fullspan.model.mixture import FittedMixture, Mixture

KIND = Mixture.kind
MAX_CELLS = 1 << 24
"""Most entries of one table that is read."""
MAX_ORDER = 32
"""Most variables of one table that is read."""
PACKED_FROM = 100_000
"""Numbers from which on tables are packed."""


def write(fitted: FittedMixture, path: str | os.PathLike[str]) -> None:
    """Write the file of a mixture atomically: whole, or not at all.

    Raises
    ------
    ModelFileError : the file cannot be written, or would be too large.
    """
    model = fitted.model
    packed = model.n_parameters >= PACKED_FROM
    document = {
        **envelope.header(KIND, model.space, envelope.PACKED if packed else envelope.PLAIN),
        "components": [
            {"share": float(share), **(_packed(graph) if packed else {"factors": _factors(graph)})}
            for share, graph in zip(model.shares, model.components, strict=True)
        ],
        "fit": envelope.learned(fitted, _learned(fitted)),
    }
    envelope.write(document, path)


def _learned(fitted: FittedMixture) -> dict[str, Any]:
    return {"log_likelihood": fitted.log_likelihood, "validation": envelope.known_or_null(fitted.validation)}


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


def read(source: envelope.Source) -> FittedMixture:
    """Read the file of a mixture.

    Raises
    ------
    ModelFileError : the file is missing, damaged, hostile, of another kind or written by a newer version.
    """
    root = envelope.opened(source, KIND)
    space, fit = read_space(root), root["fit"]
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
        **envelope.read_learned(fit),
    )


def _read_graph(node: Node, space: Space) -> FactorGraph:
    scopes, tables = [], []
    for factor in node.items():
        scope = tuple(i.whole(0, len(space) - 1) for i in factor["scope"].items())
        values = [value.number() for value in factor["log"].items()]
        shape = _shape(factor["scope"], scope, space)
        if math.prod(shape) != len(values):
            raise factor["log"].refuse(f"{len(values)} numbers; {math.prod(shape)} are expected")
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
        raise node["log"].refuse(f"{len(data)} bytes; {8 * sum(sizes)} are expected")
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
