"""What is known of a model whose log Z may have been estimated, and of the chains that walk on it."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

from fullspan.errors import ConvergenceWarning
from fullspan.model.estimate import Estimate

if TYPE_CHECKING:
    from fullspan.model.fitted import Fitted

SUSPECT = 1.05
"""R-hat from which people are told that the chains have not met."""


def log_z_of(fitted: Fitted) -> Estimate:
    """log Z with its error, as the settings of the fit keep it; exact where they say nothing."""
    noted = fitted.settings.get("log_z")
    if not isinstance(noted, dict) or noted.get("exact", True):
        return Estimate.known(fitted.model.log_z)
    freedom, skewness = float(noted.get("freedom", math.inf)), float(noted.get("skewness", 0.0))
    return Estimate(fitted.model.log_z, float(noted["error"]), "ais", 0.0, freedom, skewness)


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
