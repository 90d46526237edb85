"""What is known of a model whose log Z may have been estimated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullspan.engine.sampling.estimate import Estimate

if TYPE_CHECKING:
    from fullspan.model.fitted import Fitted


def log_z_of(fitted: Fitted) -> Estimate:
    """log Z with its error, as the settings of the fit keep it; exact where they say nothing."""
    noted = fitted.settings.get("log_z")
    if not isinstance(noted, dict) or noted.get("exact", True):
        return Estimate.known(fitted.model.log_z)
    return Estimate(fitted.model.log_z, float(noted["error"]))
