"""The file of a truncated machine: that of a log-linear model, and the states of its space.

    {..., "kind": "truncated", ...,
     "truncated": {"unseen": 0.0, "states": ["2f01", ...]}, ...}

``states`` are the states of the space that are neither 0 nor a term, each as the hexadecimal number of its mixed-radix
index. The terms are states as well, and are not repeated. All else is as in :mod:`fullspan.model.files.log_linear`.
"""

from __future__ import annotations

import os
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fullspan.data.merging import code_dtype
from fullspan.data.space import Space
from fullspan.model.algebra.basis import log_sum_exp
from fullspan.model.files import envelope
from fullspan.model.files.log_linear import document, read_fit, read_weights
from fullspan.model.files.strict_json import Node, shown
from fullspan.model.fitted import Fitted
from fullspan.model.truncated import TruncatedLogLinear

KIND = TruncatedLogLinear.kind
MAX_CELLS = 1 << 30
"""Most codes, states times variables, of a machine that is read."""


def write(fitted: Fitted, path: str | os.PathLike[str]) -> None:
    """Write the file of a truncated machine; see :func:`fullspan.model.files.envelope.write`."""
    model = cast(TruncatedLogLinear, fitted.model)
    states = [format(i, "x") for i in _indices(model.others, model.space)]
    envelope.write(document(fitted, {"truncated": {"unseen": model.unseen, "states": states}}), path)


def read(source: envelope.Source) -> Fitted:
    """Read the file of a truncated machine; see :func:`fullspan.model.files.envelope.opened`."""
    root = envelope.opened(source, KIND)
    return read_fit(root, _read_model(root))


def _read_model(root: Node) -> TruncatedLogLinear:
    space, basis, weights = read_weights(root)
    node = root["truncated"]
    listed = list(node["states"].items())
    if (len(listed) + len(weights)) * len(space) > MAX_CELLS:
        raise node.refuse(f"{len(listed):,} states and {len(weights):,} terms of {len(space)} variables are too many")
    others = np.array([_read_state(item, space) for item in listed], dtype=code_dtype(space.cards))
    theta, log_z = np.array(list(weights.values())), root["log_z"].number()
    with root["terms"].refusing():
        model = TruncatedLogLinear(
            space, basis, tuple(weights), theta, log_z, others.reshape(-1, len(space)), node["unseen"].number(least=0)
        )
    expected = log_sum_exp(model.log_p - np.log1p(-model.unseen) + log_z)
    if not abs(expected - log_z) <= 1e-6 * (1 + abs(expected)):
        raise root["log_z"].refuse(f"{shown(log_z)} does not match the weights, whose log Z is {expected:.6g}")
    return model


def _indices(states: NDArray[Any], space: Space) -> list[int]:
    """Mixed-radix indices as Python integers: they do not overflow."""
    strides = space.strides
    return [sum(int(row[i]) * strides[i] for i in np.flatnonzero(row)) for row in states]


def _read_state(node: Node, space: Space) -> list[int]:
    text = node.text()
    try:
        index = int(text, 16) if text.isalnum() else -1
    except ValueError:
        index = -1
    if not 0 <= index < space.n_states:
        raise node.refuse(f"{shown(text)} is not an index of a state in hexadecimal")
    codes = []
    for card in space.cards:
        index, code = divmod(index, card)
        codes.append(code)
    return codes
