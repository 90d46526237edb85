"""The weights of a log-linear model as coefficients of a stated coding, with standard errors.

Coefficients are linear in the weights, ``c = L theta`` (see :mod:`fullspan.model.effects.sum_to_zero`), so that their
covariance is ``L V L'``. A set of variables has a coefficient for each cell of levels other than the first; in the
sum-to-zero coding a positive one means that the cell is more frequent than lower orders expect.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.model.effects.interaction import NEAR_BOUNDARY
from fullspan.model.effects.sum_to_zero import Coding, Components
from fullspan.model.fitted import Fitted

MAX_COEFFICIENTS = 5000
"""Coefficients that are worked out."""


@dataclass(frozen=True, eq=False)
class Coded:
    """Coefficients of one coding.

    Attributes
    ----------
    cells : of each, the variables and codes that it is about.
    estimates : infinite where the likelihood has no finite maximum.
    errors : standard errors; NaN where they are not known.
    """

    cells: tuple[tuple[tuple[int, int], ...], ...]
    estimates: Array
    errors: Array


def coded(fitted: Fitted, covariance: Array | None, coding: Coding) -> Coded | None:
    """The coefficients, the smaller sets first; None where there are too many.

    Parameters
    ----------
    covariance : of the weights (k, k); None if it is not known.
    """
    model = fitted.model
    components = Components(model.basis, model.terms)
    sets = [own for own in components.closure() if not set(own) <= _inputs(fitted)]
    if sum(math.prod(model.basis.cards[i] - 1 for i in own) for own in sets) > MAX_COEFFICIENTS:
        return None
    cells, estimates, errors = list[tuple[tuple[int, int], ...]](), list[float](), list[float]()
    diverging = np.isin(np.arange(len(model.terms)), list(fitted.diverging))
    for own in sets:
        component = components.coded(own, coding)
        u = component.cells(model.theta)
        known = None if covariance is None else component.errors(covariance)
        at_boundary = ((component.matrix != 0) & diverging[component.positions]).any(axis=1).reshape(u.shape)
        for codes in itertools.product(*(range(1, card) for card in component.cards)):
            value, error = float(u[codes]), math.nan
            if at_boundary[codes]:
                value = math.copysign(math.inf, value) if abs(value) > NEAR_BOUNDARY / 4 else value
            elif known is not None:
                error = float(known[np.ravel_multi_index(codes, component.cards)])
            cells.append(tuple(zip(own, codes, strict=True)))
            estimates.append(value)
            errors.append(error)
    return Coded(tuple(cells), np.array(estimates), np.array(errors))


def _inputs(fitted: Fitted) -> set[int]:
    """Variables that are only given: what they have among themselves was not learned."""
    roles = fitted.settings.get("roles") or fitted.settings
    return {fitted.model.space.position(name) for name in roles.get("inputs") or ()}
