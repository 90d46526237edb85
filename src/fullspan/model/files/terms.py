"""The terms of a log-linear model in its file, with their weights and what is known about them.

One record per term, which people can read,

    "terms": [{"term": {"crime": 1, "party": 1}, "order": 2, "words": "...", "weight": ..., ...}, ...]

or, from 10,000 terms on, columns of numbers: that many records would take a minute to write and to read.

    "terms": {"orders": [1, 1, 2, ...], "variables": [0, 1, 0, 1, ...], "components": [1, 1, 1, 1, ...],
              "weight": [...], "standard_error": [...], "nats_saved": [...]}

``order`` and ``words`` are for people and are not read. ``orders`` has the number of variables of each term;
``variables`` and ``components`` list these one behind the other, positions in ``space`` and components of the basis.
Numbers that are not known are null, and so is a column of them.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.model.algebra.basis import Term
from fullspan.model.files.envelope import finite_or_null
from fullspan.model.files.strict_json import Node
from fullspan.model.fitted import Fitted

COLUMNS_FROM = 10_000
"""Number of terms from which on they are written as columns."""


def terms_record(fitted: Fitted, as_columns: bool) -> list[dict[str, Any]] | dict[str, Any]:
    """The terms of a model and what is known about them."""
    return _columns(fitted) if as_columns else [_record(fitted, i) for i in range(len(fitted.model.terms))]


def _record(fitted: Fitted, i: int) -> dict[str, Any]:
    model = fitted.model
    term = model.terms[i]
    return {
        "term": {model.space.names[v]: int(component) for v, component in term},
        "order": len(term),
        "words": fitted.describe(i),
        "weight": float(model.theta[i]),
        "standard_error": finite_or_null(fitted.standard_errors[i]),
        "nats_saved": finite_or_null(fitted.nats_saved[i]),
    }


def _columns(fitted: Fitted) -> dict[str, Any]:
    terms = fitted.model.terms
    return {
        "orders": [len(term) for term in terms],
        "variables": [i for term in terms for i, _ in term],
        "components": [int(j) for term in terms for _, j in term],
        "weight": fitted.model.theta.tolist(),
        "standard_error": _column(fitted.standard_errors),
        "nats_saved": _column(fitted.nats_saved),
    }


def _column(values: Any) -> list[float | None] | None:
    array = np.asarray(values, dtype=np.float64)
    known = np.isfinite(array)
    if not known.any():
        return None
    return [v if k else None for v, k in zip(array.tolist(), known.tolist(), strict=True)]


def read_terms(node: Node, space: Space) -> dict[Term, float]:
    """The terms with their weights.

    Raises
    ------
    ModelFileError : a variable or component is unknown, or a term is listed twice; of columns also, that they do not
        belong together, or that the variables of a term do not increase.
    """
    if isinstance(node.value, dict):
        return _read_columns(node, space)
    weights: dict[Term, float] = {}
    for record in node.items():
        term = _read_term(record["term"], space)
        if term in weights:
            raise record.refuse("this term is listed twice in the file")
        weights[term] = record["weight"].number()
    return weights


def _read_term(node: Node, space: Space) -> Term:
    pairs = []
    for name, component in node.fields().items():
        if name not in space.names:
            raise component.refuse("there is no variable of this name")
        i = space.position(name)
        pairs.append((i, component.whole(1, space.cards[i] - 1)))
    if not pairs:
        raise node.refuse("a term has at least one variable")
    return tuple(sorted(pairs))


def _read_columns(node: Node, space: Space) -> dict[Term, float]:
    orders, places, parts = (_whole(node[name]) for name in ("orders", "variables", "components"))
    if orders.size and orders.min() < 1:
        raise node["orders"].refuse("a term has at least one variable")
    if len(places) != len(parts) or orders.sum() != len(places):
        raise node["variables"].refuse(
            f"{len(places)} variables and {len(parts)} components; the orders of the terms ask for others"
        )
    if places.size and not (places.min() >= 0 and places.max() < len(space)):
        raise node["variables"].refuse(f"a position is not between 0 and {len(space) - 1}")
    if not ((parts >= 1) & (parts < np.array(space.cards)[places])).all():
        raise node["components"].refuse("a component is not one of its variable's")
    ends = np.cumsum(orders)
    inside = np.ones(max(len(places) - 1, 0), dtype=bool)
    inside[ends[:-1] - 1] = False
    if (np.diff(places)[inside] <= 0).any():
        raise node["variables"].refuse("the variables of a term must increase")
    pairs = list(zip(places.tolist(), parts.tolist(), strict=True))
    terms = [tuple(pairs[a:b]) for a, b in itertools.pairwise([0, *ends.tolist()])]
    weights = dict(zip(terms, _numbers(node["weight"], len(terms)).tolist(), strict=True))
    if len(weights) != len(terms):
        raise node.refuse("a term is listed twice in the file")
    return weights


def read_known(node: Node, name: str, n_terms: int) -> Array:
    """A number for each term that may not be known, NaN there."""
    if not isinstance(node.value, dict):
        return np.array([record[name].number_or_nan() for record in node.items()])
    column = node[name]
    return np.full(n_terms, np.nan) if column.value is None else _numbers(column, n_terms, unknown=True)


def _whole(node: Node) -> NDArray[np.int64]:
    """A column of whole numbers."""
    if isinstance(node.value, list) and all(type(v) is int and -1 <= v < 2**31 for v in node.value):
        return np.array(node.value, dtype=np.int64)
    return np.array([item.whole(0, 2**31 - 1) for item in node.items()], dtype=np.int64)


def _numbers(node: Node, n_terms: int, unknown: bool = False) -> Array:
    """A column of numbers, one per term; the parser has checked that they are finite."""
    values = node.value
    if not (isinstance(values, list) and all(type(v) is float for v in values)):
        values = [item.number_or_nan() if unknown else item.number() for item in node.items()]
    if len(values) != n_terms:
        raise node.refuse(f"{len(values)} numbers for {n_terms} terms")
    return np.array(values, dtype=np.float64)
