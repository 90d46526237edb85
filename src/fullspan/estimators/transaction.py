"""Learning is all or nothing: a call that raises leaves the estimator as it was."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fullspan.errors import ConvergenceWarning


@contextmanager
def restored_on_error(estimator: Any) -> Iterator[None]:
    """Put the attributes back if the block raises, a KeyboardInterrupt included.

    Attributes are bound anew and not changed in place, so that a shallow copy of them is enough.
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


@contextmanager
def kept_on_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the block, which measures a learned model: the model is worth more than its measures.

    Warns
    -----
    ConvergenceWarning : it did.
    """
    try:
        yield
    except KeyboardInterrupt:
        warnings.warn("the fit was interrupted while it was measured", ConvergenceWarning, stacklevel=5)
