"""Components of a mixture or an average in a file, one object each.

    {"share": 0.25, "factors": [{"scope": [3, 1], "log": [...]}, ...]}                a graph of normalised factors
    {"share": 0.25, "orders": [2, ...], "variables": [3, 1, ...], "log": "..."}       the same, packed
    {"share": 0.25, "tree": {"parents": [...], "states": 16, "tables": "..."}}        a tree of hidden nodes
    {"share": 0.25, "trees": {"parents": [...], "shares": "...", "logits": "..."}}    trees of one shape

``log`` is a log table over the variables of its scope, by position, the last one fastest. Packed, ``orders`` has the
variables in each scope, ``variables`` all scopes one behind the other, and ``log`` all tables. ``tables`` are the
prior, the transitions and the emissions of a tree. Packed numbers are little-endian doubles in base64: half as long as
digits, and read in no time. Logits are single ones, or with ``"double": true`` doubles. Reading allocates nothing by a
number in the file.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.model.files.normalisation import check_normalised
from fullspan.model.files.strict_json import Node
from fullspan.model.graph import FactorGraph
from fullspan.model.hidden_tree import HiddenTree
from fullspan.model.latent_trees import LatentTrees
from fullspan.model.record import Component

MAX_CELLS = 1 << 24
"""Most entries of one table that is read."""
MAX_ORDER = 32
"""Most variables of one table that is read."""
PACKED_FROM = 100_000
"""Numbers from which on tables are packed."""


def is_packed(components: Sequence[tuple[float, Component]]) -> bool:
    """Whether the components are written in version 2: they are not all graphs, or have many numbers."""
    return (
        any(one.kind != FactorGraph.kind for _, one in components)
        or sum(one.n_parameters for _, one in components) >= PACKED_FROM
    )


def records(components: Sequence[tuple[float, Component]]) -> list[dict[str, Any]]:
    """Components with their shares as a file holds them."""
    packed = is_packed(components)
    return [{"share": float(share), **_WRITE[one.kind](one, packed)} for share, one in components]


def read_components(node: Node, space: Space) -> list[tuple[float, Component]]:
    """Components with their shares.

    Raises
    ------
    ModelFileError : one is not sound, or not normalised.
    """
    return [(part["share"].number(least=0), _read(part, space)) for part in node.items()]


def _read(node: Node, space: Space) -> Component:
    fields = node.fields()
    form = next((name for name in _READ if name in fields), "factors")
    found: Component = _READ[form](node, space)
    return found


# -- graphs ---------------------------------------------------------------------------------------------------


def _graph(graph: Any, packed: bool) -> dict[str, Any]:
    if packed:
        return {
            "orders": np.diff(graph.scope_starts).tolist(),
            "variables": graph.variables.tolist(),
            "log": _text(graph.values),
        }
    factors = zip(graph.scopes, graph.tables, strict=True)
    return {"factors": [{"scope": list(scope), "log": table.ravel().tolist()} for scope, table in factors]}


def _read_factors(node: Node, space: Space) -> FactorGraph:
    scopes, tables = [], []
    for factor in node["factors"].items():
        scope = tuple(i.whole(0, len(space) - 1) for i in factor["scope"].items())
        values = [value.number() for value in factor["log"].items()]
        shape = _shape(factor["scope"], scope, space)
        if math.prod(shape) != len(values):
            raise factor["log"].refuse(f"{len(values)} numbers; {math.prod(shape)} are expected")
        scopes.append(scope)
        tables.append(np.array(values).reshape(shape))
    return _normalised(node, FactorGraph(space, scopes, tables))


def _read_packed(node: Node, space: Space) -> FactorGraph:
    orders = [item.whole(0, len(space)) for item in node["orders"].items()]
    variables = [item.whole(0, len(space) - 1) for item in node["variables"].items()]
    if sum(orders) != len(variables):
        raise node["variables"].refuse(f"{len(variables)} variables; the orders ask for {sum(orders)}")
    ends = itertools.accumulate(orders)
    scopes = [tuple(variables[end - order : end]) for order, end in zip(orders, ends, strict=True)]
    shapes = [_shape(node["variables"], scope, space) for scope in scopes]
    sizes = [math.prod(shape) for shape in shapes]
    values = _numbers(node["log"], sum(sizes))
    parts = np.split(values, np.cumsum(sizes)[:-1]) if sizes else []
    tables = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
    return _normalised(node, FactorGraph(space, scopes, tables))


def _normalised(node: Node, graph: FactorGraph) -> FactorGraph:
    check_normalised(node, graph)
    return graph


def _shape(node: Node, scope: tuple[int, ...], space: Space) -> tuple[int, ...]:
    """Levels of the variables of a factor, if a table over them can be held."""
    shape = tuple(space.cards[i] for i in scope)
    if len(shape) > MAX_ORDER or math.prod(shape) > MAX_CELLS:
        raise node.refuse(f"a factor over {len(shape)} variables; {MAX_ORDER} and {MAX_CELLS:,} entries are possible")
    return shape


# -- trees ----------------------------------------------------------------------------------------------------


def _tree(tree: Any, packed: bool) -> dict[str, Any]:
    tables = np.concatenate([tree.prior, tree.transitions.ravel(), tree.emissions.ravel()])
    return {"tree": {"parents": tree.parents.tolist(), "states": tree.n_states, "tables": _text(tables)}}


def _read_tree(node: Node, space: Space) -> HiddenTree:
    own, n, c = node["tree"], len(space), max(space.cards)
    k = own["states"].whole(1, MAX_CELLS)
    sizes = [k, n * k * k, n * k * c]
    prior, transitions, emissions = np.split(_numbers(own["tables"], sum(sizes)), np.cumsum(sizes)[:-1])
    with own.refusing():
        return HiddenTree(space, _parents(own, n), prior, transitions.reshape(n, k, k), emissions.reshape(n, k, c))


def _latent(trees: Any, packed: bool) -> dict[str, Any]:
    single = trees.logits.dtype == np.float32
    logits = _text(trees.logits, "<f4" if single else "<f8")
    own = {"parents": trees.parents.tolist(), "shares": _text(trees.shares), "logits": logits}
    return {"trees": own if single else {**own, "double": True}}


def _read_latent(node: Node, space: Space) -> LatentTrees:
    own = node["trees"]
    parents, shares = _parents(own, len(space)), _numbers(own["shares"], None)
    if not len(shares):
        raise own["shares"].refuse("there are no trees")
    is_double = "double" in own.fields() and own["double"].truth()
    logits = _numbers(own["logits"], None, "<f8" if is_double else "<f4")
    if len(logits) % len(shares):
        raise own["logits"].refuse(f"{len(logits)} numbers for {len(shares)} trees")
    with own.refusing():
        return LatentTrees(space, parents, shares, logits.reshape(len(shares), -1))


def _parents(node: Node, n: int) -> NDArray[np.int64]:
    found = [item.whole(-1, n - 1) for item in node["parents"].items()]
    if len(found) != n:
        raise node["parents"].refuse(f"{len(found)} parents; one per variable, {n}, is expected")
    return np.array(found, dtype=np.int64)


# -- packed numbers -------------------------------------------------------------------------------------------


def _text(values: Array, form: str = "<f8") -> str:
    return base64.b64encode(values.astype(form).tobytes()).decode("ascii")


def _numbers(node: Node, expected: int | None, form: str = "<f8") -> NDArray[Any]:
    """Finite numbers in base64, as many as expected."""
    try:
        data = base64.b64decode(node.text(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise node.refuse(f"it is not base64 ({error})") from error
    size = int(form[-1])
    if len(data) % size or (expected is not None and len(data) != size * expected):
        raise node.refuse(f"{len(data)} bytes; {'a multiple of ' if expected is None else ''}"
                          f"{size * (expected or 1)} are expected")  # fmt: skip
    values = np.frombuffer(data, dtype=form).astype(form[1:])
    if not np.isfinite(values).all():
        raise node.refuse("a number is not finite")
    return values


_WRITE = {FactorGraph.kind: _graph, HiddenTree.kind: _tree, LatentTrees.kind: _latent}
_READ: dict[str, Any] = {
    "orders": _read_packed,
    "factors": _read_factors,
    "tree": _read_tree,
    "trees": _read_latent,
}
