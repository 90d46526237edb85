"""The distribution nearest to a model among those with given margins: its I-projection.

    minimise KL(q || p)   such that   q(x_A) = t_A(x_A)  for the given margins A

The solution is ``q(x) = p(x) prod_A f_A(x_A)``: a model with terms on the margins added, everything else kept. The
factors depend on p through its table of the margins' variables alone, ``p(x_U)``, which is computed once, exactly;
iterative proportional fitting of that table then finds them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import cell_in_words
from fullspan.errors import DataError, FullspanError, TooLargeError
from fullspan.learn.likelihood.ipf import Constraint, ipf
from fullspan.model.algebra.basis import Basis
from fullspan.query.distribution import MAX_CELLS, Distribution, Factors, Marginals, spread

NEVER = -1000.0
"""Log factor of a cell that a margin gives no probability: far below the least positive number."""
_TOLERANCE = 1e-13
_ENOUGH_DIFFERENCE = 1e-10
_MAX_SWEEPS = 20_000
FEW, MANY = 16, 4096
"""States of the margins' variables up to which marginals given each are mixed: at once, and where need be."""


def factors_for(distribution: Distribution, margins: Mapping[tuple[int, ...], Array]) -> Factors:
    """The logarithms of the factors ``f_A`` that give a distribution these margins.

    Parameters
    ----------
    margins : ``{variables: probabilities}`` by position, one axis per variable.

    Raises
    ------
    DataError : the model excludes a cell that has a probability, or no distribution has all the margins.
    TooLargeError : the table of all their variables together has more than 2^20 cells.
    """
    where = tuple(sorted({i for scope in margins for i in scope}))
    cards = tuple(distribution.space.cards[i] for i in where)
    if math.prod(cards) > MAX_CELLS:
        raise TooLargeError(
            f"the margins' variables together have {math.prod(cards):,} combinations of levels, the limit is "
            f"{MAX_CELLS:,}; give margins of fewer variables"
        )
    p, out = np.asarray(distribution.cells(where, {}, {})), {}
    for scope, target in margins.items():
        _refuse_excluded(distribution, where, p, scope, target)
        out[scope] = np.where(target == 0, NEVER, 0.0)
    # Cells that a margin excludes are taken out first: proportional fitting would give them a log factor of -inf.
    p = p * (spread(out, where) == 0)
    if not p.sum() > 0:
        raise DataError("contradictory margins: their zeros exclude every state of the model")
    flat = (p / p.sum()).ravel(order="F").copy()
    found = ipf(Basis("indicator", cards), _constraints(margins, where), flat, _TOLERANCE, _MAX_SWEEPS)
    if found.difference > _ENOUGH_DIFFERENCE:
        raise DataError(
            f"contradictory margins: no distribution that the model allows has all of them; after {found.sweeps:,} "
            f"sweeps a probability differs by {found.difference:.2g}"
        )
    for (scope, own), log in zip(out.items(), found.log_factors, strict=True):
        order = np.argsort(scope)
        own += np.transpose(log.reshape([own.shape[k] for k in order], order="F"), np.argsort(order))
    return out


def _constraints(margins: Mapping[tuple[int, ...], Array], where: tuple[int, ...]) -> list[Constraint]:
    """The margins as constraints on the table of their variables, whose first one is its fastest digit."""
    local = {i: k for k, i in enumerate(where)}
    return [
        Constraint.of_margin([local[i] for i in sorted(scope)], np.transpose(t, np.argsort(scope)).ravel(order="F"))
        for scope, t in margins.items()
    ]


def marginals_with(distribution: Distribution, margins: Mapping[tuple[int, ...], Array]) -> Marginals:
    """The distribution of every variable once some margins are others and everything else is kept.

    With U the variables of the margins, ``q(x) = q(x_U) p(x | x_U)``: for few states of U the marginals given each of
    them are mixed, for any kind of model; else the model is reweighed, where its kind has such factors.

    Parameters
    ----------
    margins : ``{variables: probabilities}`` by position, one axis per variable.

    Returns
    -------
    The marginals; their ``log_z`` is that of the distribution, which its normalisation does not change.

    Raises
    ------
    DataError, TooLargeError : as :func:`factors_for`.
    FullspanError : the kind of model cannot be reweighed, and U has more than 4,096 states.
    """
    where = tuple(sorted({i for scope in margins for i in scope}))
    factors = factors_for(distribution, margins)
    n_states = math.prod(distribution.space.cards[i] for i in where)
    if n_states > FEW:
        try:
            return distribution.renewed(factors).marginals()._replace(log_z=distribution.log_z.value)
        except FullspanError:
            if n_states > MANY:
                raise
    p = np.asarray(distribution.cells(where, {}, {}))
    with np.errstate(divide="ignore"):
        log = np.log(p) + spread(factors, where)
    q = np.exp(log - np.logaddexp.reduce(log.ravel()))
    found: dict[str, Array] = {}
    for cell in np.argwhere(q > 0):
        given = {
            distribution.space.names[i]: distribution.space.variables[i].levels[c]
            for i, c in zip(where, cell, strict=True)
        }
        for name, shares in distribution.marginals(given).shares.items():
            found[name] = found.get(name, 0.0) + q[tuple(cell)] * shares
    return Marginals(distribution.log_z.value, found)


def _refuse_excluded(
    distribution: Distribution, where: tuple[int, ...], p: Array, scope: tuple[int, ...], target: Array
) -> None:
    """Refuse a margin with a probability where the model has none."""
    summed = p.sum(axis=tuple(k for k, i in enumerate(where) if i not in scope))
    now = np.transpose(summed, [sorted(scope).index(i) for i in scope])
    bad = (target > 0) & (now <= 0)
    if bad.any():
        cell = np.argwhere(bad)[0]
        named = cell_in_words([distribution.space.variables[i] for i in scope], cell)
        raise DataError(f"the margin gives {named} a probability, and the model excludes it; no factor changes that")
