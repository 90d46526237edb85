"""Which weights given terms have: phases, solvers, proportional fitting, em, conditional learning."""

from fullspan.lazy import Seam

__getattr__ = Seam(
    __name__,
    {
        "boundary": "Face complete_sets empty_margins face_of separating",
        "conditional": "fit_conditional",
        "decimatable": "DecimatableOptions fit_decimatable",
        "decimated": "Decimated",
        "em": "Projection alternate_phases project_by_ipf",
        "events": "Events events_of",
        "machine": "fit_machine",
        "nested": "information_by_order",
        "options": "MachineOptions",
        "phases": "Features Free Observed Smoothed data_moments distribution",
    },
)
