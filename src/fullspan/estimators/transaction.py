"""Learning is all or nothing: a call that raises leaves the estimator as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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
