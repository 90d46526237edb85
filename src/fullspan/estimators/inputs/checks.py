"""Types of an estimator's parameters, and what goes together, checked when it is fitted."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fullspan.errors import FullspanError

_WHOLE = {
    "max_memory": "a positive whole number of bytes is needed, or None for the memory that is free",
    "max_order": "a whole number of at least 1 is needed, or None for any order",
    "max_width": "a whole number of at least 1, a tree, is needed, or None for 4",
    "max_levels": "a whole number of at least 1 is needed, such as 64",
    "order": "a whole number of at least 1 is needed, or None for any order",
    "restarts": "a whole number of at least 1 is needed, such as 5",
    "max_iter": "a whole number of at least 1 is needed, or None for the solver's own limit",
    "patience": "a whole number of iterations, at least 1, is needed",
    "average": "a whole number of fits is needed, such as 16, or 1 for a single fit",
    "n_chains": "a whole number of at least 1 is needed, such as 100",
    "n_sweeps": "a whole number of at least 1 is needed",
}
_NEEDED = ("max_levels", "restarts", "average", "patience", "n_chains", "n_sweeps")
_REAL = {
    "l2": "a finite number of at least 0 is needed",
    "tol": "a positive number is needed, such as 1e-10",
    "l1": "a finite number of at least 0 is needed",
    "learning_rate": "a positive number is needed, such as 0.01, or None where the solver has its own",
    "epsilon": "a positive number is needed, such as 1e-4",
    "pseudo_count": "a finite number of rows, at least 0, is needed",
    "validation_fraction": "a number from 0 to below 1 is needed",
}
_OPTIONAL = ("learning_rate",)


def check_parameters(values: Mapping[str, Any]) -> None:
    """Refuse parameters of a wrong type, and those that contradict each other; None passes where it has a meaning.

    Raises
    ------
    FullspanError : with the value and what is needed.

    Examples
    --------
    >>> check_parameters({"l1": "much"})
    Traceback (most recent call last):
        ...
    fullspan.errors.FullspanError: l1 is 'much'; a finite number of at least 0 is needed
    """
    if values.get("shrinkage") not in (None, "evidence"):
        raise FullspanError(f"shrinkage is {values['shrinkage']!r}; choose 'evidence' or None")
    if values.get("handle_unknown", "error") not in ("error", "missing"):
        raise FullspanError(f"handle_unknown is {values['handle_unknown']!r}; choose 'error' or 'missing'")
    if values.get("engine") == "table" and values.get("max_width") is not None:
        raise FullspanError("max_width= applies only to engine='elimination'; a table has no width")
    if values.get("resume") and values.get("checkpoint") is None:
        raise FullspanError("resume=True needs checkpoint=, the file to start from")
    if values.get("resume") and (values.get("average") != 1 or values.get("shrinkage") is not None):
        raise FullspanError("resume=True goes on with one fit; leave it out with average= or shrinkage=")
    for name, value in values.items():
        if name in _WHOLE and not (_is(numbers.Integral, value) and value >= 1):
            if value is not None or name in _NEEDED:
                raise FullspanError(f"{name} is {value!r}; {_WHOLE[name]}")
        elif name in _REAL and not _is(numbers.Real, value) and not (value is None and name in _OPTIONAL):
            raise FullspanError(f"{name} is {value!r}; {_REAL[name]}")


@dataclasses.dataclass(frozen=True)
class Applies:
    """Parameters that have an effect only in some fits.

    Attributes
    ----------
    names : of the parameters.
    to : the fits, in words.
    holds : whether an estimator, by its other parameters, makes such a fit.
    """

    names: tuple[str, ...]
    to: str
    holds: Callable[[Any], bool]


def check_estimator(estimator: Any) -> None:
    """Check all parameters of an estimator, and refuse those that were set without effect (its ``_applies``).

    Raises
    ------
    FullspanError : with the value and what is needed.
    """
    check_parameters(estimator.get_params(deep=False))
    refuse_without_effect(estimator)


def refuse_without_effect(estimator: Any) -> None:
    """Refuse parameters that were set and change nothing, by the estimator's ``_applies``."""
    for rule in getattr(estimator, "_applies", ()):
        if not rule.holds(estimator):
            refuse_unused(estimator, rule.names, rule.to)


def refuse_unused(estimator: Any, names: Sequence[str], applies: str) -> None:
    """Refuse parameters that were set, and change nothing about this fit.

    Raises
    ------
    FullspanError : names the first, and what it applies to.
    """
    defaults = {f.name: f.default for f in dataclasses.fields(estimator)}
    for name in names:
        value = getattr(estimator, name)
        if value != defaults[name] and not (name == "restarts" and value == 1):  # one run is what there is
            raise FullspanError(f"{name} is {value!r}, and has no effect here: it applies only to {applies}")


def _is(kind: type, value: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


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
