"""What every learner stands on: progress, stopping, one Newton method, one em loop. Imports no learner."""

from fullspan.lazy import Seam

__getattr__ = Seam(
    __name__,
    {
        "cholesky": "Cholesky",
        "counted": "margin_cells observed_entropy smoothed_entropy",
        "descent": "Descent Point Solution",
        "em": "Alternated Expected Stop alternate restarted",
        "newton": "Newton",
        "phase": "Known Phase",
        "progress": "Interrupted Progress",
        "reporter": "PREPARING Reporter following",
    },
)
