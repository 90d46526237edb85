"""Model files as commands need them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fullspan.errors import FullspanError

if TYPE_CHECKING:
    from fullspan.model.fitted import Fitted


def joint_model(path: Path) -> Fitted:
    """The model in a file, if it is one of all its variables.

    Raises
    ------
    ModelFileError : the file cannot be read.
    FullspanError : it is a classifier, which knows nothing about its inputs: their probabilities mean nothing.
    """
    from fullspan.model.file import load

    fitted = load(path)
    if roles := fitted.settings.get("roles"):
        outputs, inputs = ", ".join(roles["outputs"]), ", ".join(roles["inputs"])
        raise FullspanError(
            f"{str(path)!r} is a classifier: it knows {outputs} given {inputs}, and not how likely these are; "
            "use fullspan.load(...).predict_proba in Python, or fit the joint model with fullspan fit"
        )
    return fitted
