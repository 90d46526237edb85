"""Learners: how theta is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullspan.learn.fit import Options, Progress, fit
    from fullspan.learn.problem import Interrupted

__all__ = ["Interrupted", "Options", "Progress", "fit"]


def __getattr__(name: str) -> Any:
    """Load the learners, and with them the compiled engine, only when one is asked for."""
    if name == "Interrupted":
        from fullspan.learn.problem import Interrupted

        return Interrupted
    if name in __all__:
        from importlib import import_module

        return getattr(import_module("fullspan.learn.fit"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
