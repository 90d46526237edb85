"""Where the maximum of a likelihood lies at infinity, and along which states."""

from fullspan.learn.likelihood.boundary.face import Face, complete_sets, empty_margins, face_of
from fullspan.learn.likelihood.boundary.separation import face_of_the_rest, grew, separating

__all__ = ["Face", "complete_sets", "empty_margins", "face_of", "face_of_the_rest", "grew", "separating"]
