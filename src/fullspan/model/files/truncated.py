"""The model file of a truncated machine: that of a log-linear model, and the states of its space.

    {"format": "fullspan-model", "version": 1, "kind": "truncated", ...,
     "truncated": {"unseen": 0.0, "states": ["2f01", ...]}, ...}

``states`` are the states of the space that are neither 0 nor a term, each as the hexadecimal number of its mixed-radix
index. The terms are states as well, and are not repeated. All else is as in :mod:`fullspan.model.files.log_linear`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.merging import code_dtype
from fullspan.data.space import Space
from fullspan.errors import FullspanError
from fullspan.model.files import log_linear as envelope
from fullspan.model.files.strict_json import Node, read_json, shown
from fullspan.model.fitted import Fitted
from fullspan.model.local import log_sum_exp
from fullspan.model.truncated import TruncatedLogLinear

KIND = "truncated"
MAX_CELLS = 1 << 30
"""Most codes, states times variables, of a machine that is read."""


def save_truncated(fitted: Fitted, path: str | os.PathLike[str]) -> None:
    """Write the file of a truncated machine atomically: whole, or not at all.

    Raises
    ------
    ModelFileError : the file cannot be written, or would be too large.
    """
    envelope.write(lambda: document(fitted), Path(path))


def document(fitted: Fitted) -> dict[str, Any]:
    """What the file holds."""
    model = fitted.model
    assert isinstance(model, TruncatedLogLinear)
    whole = envelope.document(fitted)
    extra = {"unseen": model.unseen, "states": [format(i, "x") for i in _indices(model.others, model.space)]}
    return {**whole, "kind": KIND, "truncated": extra}


def load_truncated(path: str | os.PathLike[str]) -> Fitted:
    """Read the file of a truncated machine.

    Raises
    ------
    ModelFileError : the file is missing, damaged, hostile, of another kind or written by a newer version.
    """
    return read_truncated(read_json(Path(path)))


def read_truncated(root: Node) -> Fitted:
    """The machine in a document; see :func:`load_truncated`."""
    envelope.check(root, KIND)
    return envelope.read_fit(root, _read_model(root))


def _read_model(root: Node) -> TruncatedLogLinear:
    space, basis, weights = envelope.read_terms(root)
    node = root["truncated"]
    listed = list(node["states"].items())
    if (len(listed) + len(weights)) * len(space) > MAX_CELLS:
        raise node.refuse(f"{len(listed):,} states and {len(weights):,} terms of {len(space)} variables are too many")
    others = np.array([_read_state(item, space) for item in listed], dtype=code_dtype(space.cards))
    theta, log_z = np.array(list(weights.values())), root["log_z"].number()
    try:
        model = TruncatedLogLinear(
            space, basis, tuple(weights), theta, log_z, others.reshape(-1, len(space)), node["unseen"].number(least=0)
        )
    except FullspanError as error:
        raise root["terms"].refuse(str(error)) from error
    expected = log_sum_exp(model.log_p - np.log1p(-model.unseen) + log_z)
    if not abs(expected - log_z) <= 1e-6 * (1 + abs(expected)):
        raise root["log_z"].refuse(f"{shown(log_z)} does not belong to the weights, whose log Z is {expected:.6g}")
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
        raise node.refuse(f"{shown(text)} is no index of a state in hexadecimal")
    codes = []
    for card in space.cards:
        index, code = divmod(index, card)
        codes.append(code)
    return codes
