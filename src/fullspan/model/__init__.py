"""Log-linear models: terms and weights, what was learned about them, words for people, and the model file."""

from fullspan.model.files.log_linear import load, save
from fullspan.model.fitted import Fitted, Step
from fullspan.model.loglinear import LogLinear

__all__ = ["Fitted", "LogLinear", "Step", "load", "save"]
