"""What if some margins were different and everything else stayed as it is: a learned model with other margins."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fullspan.arrays import Array
from fullspan.data.tables.margin_counts import MarginCounts
from fullspan.errors import DataError, FullspanError
from fullspan.estimators.inputs.reading import READING
from fullspan.estimators.registry import kind_of, kinds

if TYPE_CHECKING:
    from fullspan.data.space import Level, Space
    from fullspan.query.distribution import Distribution, Factors

_OF_THE_ROWS = {"rows", "baselines", "seconds", "measures", "misfit", "scored"}
"""Settings that speak of the rows learned from, which the new model is no fit of."""
_SHARED = {*READING, "verbose"}
"""Parameters that say how a table is read, which a model of another class keeps."""


class WhatIf:
    """A fitted model with other margins."""

    fitted_: Any

    def with_margins(self, margins: Any) -> Any:
        """This model with some margins changed and everything else kept: its I-projection, a new model.

        Of all distributions with these margins it is the one of least ``KL(. || model)``: the model times one factor
        per margin, ``p(x) f_A(x_A) f_B(x_B) ...``, so that all odds ratios that no margin fixes stay. Exact.

        Parameters
        ----------
        margins : ``{"age": {"young": 0.3, "old": 0.7}, ("sex", "region"): {("f", "north"): 0.2, ...}}``, counts or
            shares for every level; ``"age: young=0.3, old=0.7"``; or another form that :func:`fullspan.rake` takes.

        Returns
        -------
        A model of the same class where models of its kind have such factors. A tree keeps its edges where each margin
        is of one variable, and else becomes a ``FullSpanMixture``, as an average with trees in it always does.

        Raises
        ------
        DataError : margins contradict each other or the model, or lack a level.
        QueryError : a variable or level is unknown.
        FullspanError : models of this kind are not closed under such a change.
        TooLargeError : the margins' variables have more than 2^20 combinations of levels.
        """
        check_is_fitted(self)
        return _changed(self, margins)


def _changed(estimator: Any, margins: Any) -> Any:
    """The model of an estimator, projected on margins."""
    fitted = estimator.fitted_
    if fitted.is_conditional:
        raise FullspanError(
            "this model predicts some columns from others and has no margins; use a model of all columns"
        )
    distribution = estimator.distribution_
    if not distribution.exact:
        distribution.require_sums("whose margins can be changed")
    wanted = targets(margins, distribution.visible)
    from fullspan.query.projection import factors_for

    factors = factors_for(distribution, wanted)
    model = distribution.reweighed(factors)
    names = [[distribution.visible.names[i] for i in scope] for scope in wanted]
    settings = {key: value for key, value in fitted.settings.items() if key not in _OF_THE_ROWS} | {
        "margins_changed": names
    }
    if kind_of(fitted).name == model.kind:
        changed = replace(_without_data(fitted, model, distribution, factors), settings=settings)
        new = type(estimator)(**estimator.get_params(deep=False))
    else:  # a tree or a stack that became a mixture
        from fullspan.model.mixture import FittedMixture

        kind = kinds()[model.kind]
        name = next(iter(kind.learners))
        new = kind.estimator(name)(**{k: v for k, v in estimator.get_params(deep=False).items() if k in _SHARED})
        settings = {key: value for key, value in settings.items() if key not in estimator.get_params()}
        settings |= new.get_params() | {"estimator": name}
        changed = FittedMixture(
            model=model, total=0.0, n_rows=0, status="given", settings=settings, log_likelihood=math.nan,
            validation=math.nan,
        )  # fmt: skip
    new._accept(changed, estimator._kind)
    return new


class Move(NamedTuple):
    """The shares of a column's levels before and after, and how far they are apart (total variation)."""

    column: str
    levels: tuple[Level, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    distance: float


def moves(old: Distribution, new: Distribution) -> list[Move]:
    """The shares of all columns under two distributions, those farthest apart first."""
    before, after = old.marginals().shares, new.marginals().shares
    found = [
        Move(v.name, v.levels, tuple(map(float, p)), tuple(map(float, q)), float(np.abs(p - q).sum()) / 2)
        for v, p, q in ((v, before[v.name], after[v.name]) for v in old.visible.variables)
    ]
    return sorted(found, key=lambda move: -round(move.distance, 12))


def targets(margins: Any, space: Space) -> dict[tuple[int, ...], Array]:
    """Margins as probabilities over the levels of a model, by the positions of their variables.

    Raises
    ------
    QueryError, DataError : a variable or level is unknown, or a margin has no count for a level.
    """
    counts = MarginCounts.of(margins)
    if counts.total < 1 and not counts.are_shares:
        raise DataError(f"the margin {counts.title(0)} sums to {counts.total:.6g}; shares sum to 1, and counts to more")
    return counts.shares(space)


def _without_data(fitted: Any, model: Any, distribution: Distribution, factors: Factors) -> Any:
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
        "curve": (),
    }
    known = {field.name for field in fields(fitted)}
    changed = {name: value for name, value in plain.items() if name in known}
    for name in ("standard_errors", "nats_saved"):
        if name in known:
            changed[name] = np.full(len(model.terms), np.nan)
    if "log_z" in known and fitted.log_z is not None:
        is_summed = not hasattr(model, "log_z")  # a layered machine; the others carry theirs with them
        new_z = distribution.renewed(factors).log_z if is_summed else replace(fitted.log_z, value=model.log_z)
        changed["log_z"] = new_z
    if "mutual_information" in known:  # of each variable and its parent
        new, names = distribution.renewed(factors), model.space.names
        pairs = [(names[i], names[p]) if p >= 0 else None for i, p in enumerate(model.parents.tolist())]
        changed["mutual_information"] = np.array([0.0 if p is None else new.mutual_information(*p) for p in pairs])
    return replace(fitted, **changed)
