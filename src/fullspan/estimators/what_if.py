"""What if some margins were different and everything else stayed as it is: a learned model with other margins."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.arrays import Array
from fullspan.data.tables.margin_counts import MarginCounts
from fullspan.errors import DataError, FullspanError

if TYPE_CHECKING:
    from fullspan.data.space import Space
    from fullspan.estimators.density import DensityEstimator

_KEPT = {"rows", "baselines", "seconds", "measures"}
"""Settings that speak of the rows learned from, which the new model is no fit of."""


def with_margins(estimator: DensityEstimator, margins: Any) -> DensityEstimator:
    """The model of an estimator, projected on margins; see :meth:`DensityEstimator.with_margins`."""
    fitted = estimator.fitted_
    if fitted.is_conditional:
        raise FullspanError(
            "this model predicts some columns from others and has no margins; use a model of all columns"
        )
    distribution = estimator.distribution_
    if not distribution.exact:
        raise FullspanError(
            f"the margins of a {type(estimator).__name__} are not summed exactly, and cannot be changed so"
        )
    wanted = targets(margins, distribution.visible)
    from fullspan.query.projection import factors_for

    model = distribution.reweighed(factors_for(distribution, wanted))
    changed = _without_data(fitted, model)
    names = [[distribution.visible.names[i] for i in scope] for scope in wanted]
    settings = {key: value for key, value in fitted.settings.items() if key not in _KEPT}
    changed = replace(changed, settings={**settings, "margins_changed": names})
    new = type(estimator)(**estimator.get_params(deep=False))
    new._accept(changed, estimator._kind)
    return new


def targets(margins: Any, space: Space) -> dict[tuple[int, ...], Array]:
    """Margins as probabilities over the levels of a model, by the positions of their variables.

    Raises
    ------
    QueryError, DataError : a variable or level is unknown, or a margin has no count for a level.
    """
    counts = MarginCounts.of(margins)
    if counts.total < 1 and not counts.are_shares:
        raise DataError(f"the margin {counts.title(0)} sums to {counts.total:.6g}; shares sum to 1, and counts to more")
    found: dict[tuple[int, ...], Array] = {}
    for m, scope in enumerate(counts.scopes):
        names = [counts.space.names[i] for i in scope]
        where = tuple(space.position(name) for name in names)
        variables = [space.variables[i] for i in where]
        codes = [
            [v.code(level) for level in counts.space.variables[i].levels] for v, i in zip(variables, scope, strict=True)
        ]
        target = np.full([v.card for v in variables], np.nan)
        for c, count in zip(counts.cells[m].tolist(), counts.counts[m].tolist(), strict=True):
            cell = tuple(own[k] for own, k in zip(codes, c, strict=True))
            if not math.isnan(target[cell]):
                named = ", ".join(f"{v.name}={v.levels[k]}" for v, k in zip(variables, cell, strict=True))
                raise DataError(f"the margin {counts.title(m)} lists {named} twice")
            target[cell] = count
        if np.isnan(target).any():
            cell = tuple(np.argwhere(np.isnan(target))[0])
            named = ", ".join(f"{v.name}={v.levels[k]}" for v, k in zip(variables, cell, strict=True))
            raise DataError(
                f"the margin {counts.title(m)} has no count for {named}; cells without a count: "
                f"{int(np.isnan(target).sum()):,}. Give each cell one, 0 if it is to have no probability"
            )
        key = tuple(where)
        twice = next((other for other in found if sorted(other) == sorted(key)), None)
        if twice is None:
            found[key] = target / target.sum()
    return found


def _without_data(fitted: Any, model: Any) -> Any:
    """A record of the same kind for a model that was not learned: of no rows, without errors and measures."""
    plain: Mapping[str, Any] = {
        "model": model,
        "total": 0.0,
        "n_rows": 0,
        "n_dropped": 0,
        "history": (),
        "status": "given",
        "fingerprint": "",
        "divergence": math.nan,
        "entropy": math.nan,
        "description_length": math.nan,
        "log_likelihood": math.nan,
        "validation": math.nan,
        "goodness": None,
        "diverging": (),
        "prior": None,
        "out_of_bag": None,
        "approximate": None,
        "interactions": None,
        "shares": (),
        "coefficient_errors": None,
    }
    known = {field.name for field in fields(fitted)}
    changed = {name: value for name, value in plain.items() if name in known}
    for name in ("standard_errors", "nats_saved"):
        if name in known:
            changed[name] = np.full(len(model.terms), np.nan)
    return replace(fitted, **changed)
