"""Which models say exactly how likely every state of their columns is."""

from __future__ import annotations

from typing import Any

from fullspan.errors import FullspanError


def check_exact_joint(estimator: Any, name: str, user: str) -> None:
    """Refuse a model that predicts some columns from others, or whose marginals cannot be summed.

    Raises
    ------
    FullspanError : ``user``, such as "a report", needs another model.
    """
    if estimator.fitted_.is_conditional:
        raise FullspanError(f"{name} predicts some columns from others; {user} needs a model of all columns")
    if not estimator.distribution_.exact:
        raise FullspanError(
            f"{name} is a {type(estimator).__name__}, whose marginals are not summed, and {user} shows exact ones; "
            "fullspan compare, score and sample take it"
        )
