"""Messages of the library as a terminal shows them: parameters are named as options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from fullspan.errors import FullspanError, QueryError


def said(error: FullspanError) -> str:
    """The message with its remedies as options; the query that it quotes stays as it is, and so does its caret."""
    if isinstance(error, QueryError) and error.text is not None:
        head, query, caret = str(error).rpartition(f"\n  {error.text}\n")
        return as_options(head) + query + caret
    return as_options(str(error))


@contextmanager
def in_options_of(model: str) -> Iterator[None]:
    """Errors name the options that the model has: ``max_iter`` is ``--epochs`` where it counts epochs.

    Raises
    ------
    FullspanError : the error of the library, in these words.
    """
    try:
        yield
    except FullspanError as error:
        raise FullspanError(as_options(str(error), model)) from error


def as_options(message: str, model: str | None = None) -> str:
    """The parameters in a message as options: ``missing='drop'`` reads ``--missing drop``.

    Parameters
    ----------
    model : whose options they are; None for those of the first model that has the parameter.

    Examples
    --------
    >>> as_options("order is 0; use order=2 with missing='drop', or leave out random_state=")
    '--order is 0; use order=2 with --missing drop, or leave out --seed'
    """
    from fullspan.people.cli.options.from_estimators import flags

    names = flags(model)
    known = "|".join(names)

    def option(match: re.Match[str]) -> str:
        return f"{names[match[1]]}{' ' + match[2] if match[2] else ''}"

    message = re.sub(rf"^({known})(?= is )", lambda match: names[match[1]], message)
    return re.sub(rf"\b({known})=(?:'(\w+)'|True\b)?(?![\w'\"])", option, message)
