"""The file of a tree: tables of probabilities.

    {..., "kind": "tree", ...,
     "tree": {"parents": [-1, 0, ...], "observed": false, "prior": [...],
              "nodes": [{"transition": [[...], ...], "emission": [[...], ...]}, ...]},
     "fit": {..., "log_likelihood": ..., "validation": ..., "mutual_information": [...], ...},
     "checksum": "..."}

No list of terms, for three reasons: maximum likelihood has zeros, which no finite weight gives; a node of K states has
K² numbers, which as terms with words would be fifty times as long; and a tree is normalised, so nothing is left to
recompute. ``transition`` is absent at the root, and ``emission`` in a tree whose nodes are its variables; tables have
as many rows and columns as there are levels and states. Reading checks every table, and refuses a tree whose tables
would take more than a gibibyte.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.model.files import envelope
from fullspan.model.files.spaces import read_space
from fullspan.model.files.strict_json import Node
from fullspan.model.hidden_tree import FittedTree, HiddenTree

KIND = HiddenTree.kind
MAX_CELLS = 1 << 27
"""Most numbers of a tree that is read: its tables have the size of the largest of them."""


def write(fitted: FittedTree, path: str | os.PathLike[str]) -> None:
    """Write the file of a tree; see :func:`fullspan.model.files.envelope.write`."""
    tree = fitted.model
    document = {
        **envelope.header(KIND, tree.space),
        "tree": {
            "parents": tree.parents.tolist(),
            "observed": tree.is_observed,
            "prior": _cut(tree.prior, _states(tree, int(tree.order[0]))).tolist(),
            "nodes": [_node(tree, i) for i in range(len(tree.space))],
        },
        "fit": envelope.learned(fitted, _learned(fitted)),
    }
    envelope.write(document, path)


def _learned(fitted: FittedTree) -> dict[str, Any]:
    return {
        # Minus infinity where a row learned from has probability 0; the reader takes null for that.
        "log_likelihood": envelope.finite_or_null(fitted.log_likelihood),
        "validation": envelope.finite_or_null(fitted.validation),
        "mutual_information": fitted.mutual_information.tolist(),
    }


def _states(tree: HiddenTree, i: int) -> int:
    return tree.space.cards[i] if tree.is_observed else tree.n_states


def _cut(table: Array, *sizes: int) -> Array:
    return table[tuple(slice(size) for size in sizes)]


def _node(tree: HiddenTree, i: int) -> dict[str, Any]:
    own, parent = _states(tree, i), int(tree.parents[i])
    record: dict[str, Any] = {}
    if parent >= 0:
        record["transition"] = _cut(tree.transitions[i], _states(tree, parent), own).tolist()
    if not tree.is_observed:
        record["emission"] = _cut(tree.emissions[i], own, tree.space.cards[i]).tolist()
    return record


def read(source: envelope.Source) -> FittedTree:
    """Read the file of a tree; see :func:`fullspan.model.files.envelope.opened`."""
    root = envelope.opened(source, KIND)
    tree, fit = _read_tree(root["tree"], read_space(root)), root["fit"]
    information = _numbers(fit["mutual_information"])
    if len(information) != len(tree.space):
        raise fit["mutual_information"].refuse(f"{len(information)} numbers; one per variable is expected")
    likelihood = fit["log_likelihood"].number_or_nan()
    return FittedTree(
        model=tree,
        log_likelihood=-math.inf if math.isnan(likelihood) else likelihood,
        validation=fit["validation"].number_or_nan(),
        mutual_information=np.array(information),
        **envelope.read_learned(fit),
    )


def _read_tree(node: Node, space: Space) -> HiddenTree:
    n, cards = len(space), space.cards
    parents = [item.whole(-1, n - 1) for item in node["parents"].items()]
    nodes, prior = list(node["nodes"].items()), _numbers(node["prior"])
    if len(parents) != n or len(nodes) != n:
        raise node.refuse(f"{len(parents)} parents and {len(nodes)} nodes; one per variable, {n}, is expected")
    observed = node["observed"].truth()
    k = max(cards) if observed else len(prior)
    # Before anything is allocated by these numbers, which a stranger chose.
    if n * k * (k + max(cards)) > MAX_CELLS:
        raise node.refuse(f"{n} nodes of {k} states need more than {MAX_CELLS:,} numbers")
    states = cards if observed else (k,) * n
    transitions, emissions = np.zeros((n, k, k)), np.zeros((n, k, max(cards)))
    for i, (parent, record) in enumerate(zip(parents, nodes, strict=True)):
        if parent >= 0:
            shape = (states[parent], states[i])
            transitions[i, : shape[0], : shape[1]] = _table(record["transition"], shape)
        if not observed:
            emissions[i, :, : cards[i]] = _table(record["emission"], (k, cards[i]))
    at_root = np.zeros(k)
    at_root[: len(prior)] = prior[:k]
    with node.refusing():
        if observed:
            return HiddenTree.of_tables(space, parents, at_root, transitions)
        return HiddenTree(space, np.array(parents), at_root, transitions, emissions)


def _numbers(node: Node) -> list[float]:
    return [item.number(least=0) for item in node.items()]


def _table(node: Node, shape: tuple[int, int]) -> Array:
    rows = [_numbers(row) for row in node.items()]
    if len(rows) != shape[0] or any(len(row) != shape[1] for row in rows):
        raise node.refuse(f"a table of {shape[0]} rows and {shape[1]} columns is expected")
    return np.array(rows).reshape(shape)
