"""Errors a person can act on: what was given, the limit, and the remedy.

Every error of this package is a :class:`FullspanError`, which is a ``ValueError``, so that code written
for scikit-learn catches it too.
"""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from collections.abc import Iterable

TINY = 5e-324
"""The least positive number."""


def brief(value: object, most: int = 60) -> str:
    """A value as an error names it: its text, or the beginning of a long one."""
    text = str(value)
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


class FullspanError(ValueError):
    """Base of all errors raised on bad input."""


class DataError(FullspanError):
    """The table cannot be read, or holds something the schema does not allow."""


class QueryError(FullspanError):
    """A question that cannot be answered; points at the position in a query string when there is one.

    Parameters
    ----------
    message : what is wrong and how to correct it.
    text, position : the query string and the offset the caret points at, if the query was a string.
    """

    def __init__(self, message: str, text: str | None = None, position: int | None = None) -> None:
        self.text, self.position = text, position
        if text is not None and position is not None:
            message = f"{message}\n  {text}\n  {' ' * position}^"
        super().__init__(message)


class ModelFileError(FullspanError):
    """A model file that is damaged, hostile, or written by a newer version."""


class TooLargeError(FullspanError):
    """The plan needs more memory than there is; nothing has been allocated."""


class NotDecimatableError(FullspanError):
    """A machine that the rules of decimation cannot sum out; names the nodes that block them.

    Parameters
    ----------
    message : what is wrong and how to correct it.
    blocking : names or numbers of the nodes that are left when no rule applies any more.
    """

    def __init__(self, message: str, blocking: tuple[object, ...] = ()) -> None:
        self.blocking = blocking
        super().__init__(message)


class DataWarning(UserWarning):
    """Something in the table may mean something else than what it was read as; names the option that says so."""


class BoundaryWarning(UserWarning):
    """The maximum of the likelihood lies at infinity; its finite limit, the fitted distribution, is kept."""


class ConvergenceWarning(UserWarning):
    """An iteration stopped before its tolerance was met; the best model so far is kept."""


_OWN_PACKAGES = ("fullspan", "sklearn", "contextlib")
"""Packages whose lines a warning skips: those that stand between a person's call and the place that warns."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn on behalf of the nearest caller outside the package, the line that a person wrote."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OWN_PACKAGES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def require_whole(least: int, **given: object) -> None:
    """Refuse arguments that are no whole numbers of at least ``least``.

    Raises
    ------
    FullspanError : names the first such argument, its value, and what is needed.
    """
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
            raise FullspanError(f"{name} is {value!r}; a whole number of at least {least} is needed")


def require_one_of(known: Iterable[object], **given: object) -> None:
    """Refuse arguments that are none of those known.

    Raises
    ------
    FullspanError : names the first such argument, its value, and what there is.
    """
    listed = tuple(known)
    for name, value in given.items():
        if value not in listed:
            raise FullspanError(f"{name} is {value!r}; choose one of {', '.join(map(repr, listed))}")


def require_finite(least: float, **given: float) -> None:
    """Refuse arguments that are no finite numbers of at least ``least``; positive ones where that is above 0.

    Raises
    ------
    FullspanError : names the first such argument, its value, and what is needed.
    """
    for name, value in given.items():
        if not (math.isfinite(value) and value >= least):
            needed = "positive number" if least > 0 else f"finite number of at least {least:g}"
            raise FullspanError(f"{name} is {value}; a {needed} is needed")
