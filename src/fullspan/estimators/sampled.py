"""Warnings about Gibbs chains that have not met."""

from __future__ import annotations

import warnings

from fullspan.errors import ConvergenceWarning

SUSPECT = 1.05
"""R-hat from which a warning says that the chains have not met."""


def unmixed(r_hat: float) -> str | None:
    """What to say of chains that have not met."""
    if r_hat <= SUSPECT:
        return None
    return f"the chains have not met (R-hat {r_hat:.2f}): errors are too small; walk further, or from a simpler model"


def warn_unmixed(r_hat: float, stacklevel: int) -> None:
    """Warn of it."""
    message = unmixed(r_hat)
    if message is not None:
        warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel + 1)
