"""Where the maximum of a likelihood lies at infinity, and along which states."""

from fullspan.learn.likelihood.boundary.empty_margins import complete_sets, empty_margins
from fullspan.learn.likelihood.boundary.face import Face, face_of
from fullspan.learn.likelihood.boundary.separation import separating
from fullspan.learn.likelihood.boundary.vanishing import face_of_the_rest, grew

__all__ = ["Face", "complete_sets", "empty_margins", "face_of", "face_of_the_rest", "grew", "separating"]
