"""The file of a mixture: its components, as module ``components`` writes them.

{..., "kind": "mixture", ...,
 "components": [{"share": 0.25, "factors": [{"scope": [3, 1], "log": [...]}, ...]}, ...],
 "fit": {..., "log_likelihood": ..., "validation": ..., ...}, "checksum": "..."}
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from fullspan.model.files import envelope
from fullspan.model.files.components import is_packed, read_components, records
from fullspan.model.files.spaces import read_space
from fullspan.model.mixture import FittedMixture, Mixture

KIND = Mixture.kind


def write(fitted: FittedMixture, path: str | os.PathLike[str]) -> None:
    """Write the file of a mixture; see :func:`fullspan.model.files.envelope.write`."""
    model = fitted.model
    components = list(zip(model.shares, model.components, strict=True))
    document = {
        **envelope.header(KIND, model.space, envelope.PACKED if is_packed(components) else envelope.PLAIN),
        "components": records(components),
        "fit": envelope.learned(fitted, _learned(fitted)),
    }
    envelope.write(document, path)


def _learned(fitted: FittedMixture) -> dict[str, Any]:
    return {
        "log_likelihood": envelope.known_or_null(fitted.log_likelihood),
        "validation": envelope.known_or_null(fitted.validation),
    }


def read(source: envelope.Source) -> FittedMixture:
    """Read the file of a mixture; see :func:`fullspan.model.files.envelope.opened`."""
    root = envelope.opened(source, KIND)
    space, fit = read_space(root), root["fit"]
    with root["components"].refusing():
        found = read_components(root["components"], space)
        model = Mixture(space, np.array([share for share, _ in found]), tuple(one for _, one in found))
    return FittedMixture(
        model=model,
        log_likelihood=fit["log_likelihood"].number_or_nan(),
        validation=fit["validation"].number_or_nan(),
        **envelope.read_learned(fit),
    )
