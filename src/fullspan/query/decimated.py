"""p(gamma | alpha) of a machine of spins by the two methods of Rueger 1997; neither enumerates hidden nodes.

    ratio (eq. 6)                p(gamma | alpha) = exp(energy difference) Z(alpha gamma) / Z(alpha)
    characteristic (Theorem 3.4) p(gamma | alpha) = 2^-|O| sum_{x in {0, pi/2}^O} exp(-i gamma . x) phi(x)

The ratio costs two decimations for one gamma. The characteristic function phi(x) = Z(w_0 + i x) / Z(w_0) is taken at
2^|O| points, and then gives all gamma: it needs only the order of the machine with alpha clamped.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.engine.elimination.decimation import Decimation
from fullspan.errors import QueryError
from fullspan.model.ising import Ising

Clamped = Mapping[int, int]
"""Spins -1 or +1 of some nodes, by number."""

MAX_OUTPUTS = 16
"""Nodes whose joint distribution is worked out from the characteristic function."""


def probability_by_ratio(machine: Ising, asked: Clamped, given: Clamped | None = None) -> float:
    """``p(asked | given)`` as a ratio of partition sums (eq. 6).

    Raises
    ------
    QueryError : a node is asked about and given.
    NotDecimatableError : the machine with these nodes clamped cannot be decimated.

    Examples
    --------
    >>> machine = Ising(2, np.array([(0, 1)]), np.array([0.5]), np.zeros(2))
    >>> round(probability_by_ratio(machine, {1: 1}, {0: 1}), 6)
    0.731059
    """
    given = given or {}
    _apart(asked, given)
    log_z, constant = _parts(machine, given)
    log_z_both, constant_both = _parts(machine, {**given, **asked})
    return float(np.exp((constant_both - constant) + (log_z_both - log_z)))


def distribution_by_characteristic(machine: Ising, nodes: Sequence[int], given: Clamped | None = None) -> Array:
    """``p(s_nodes | given)`` from the characteristic function (Theorem 3.4): one axis per node, spin -1 before +1.

    Raises
    ------
    QueryError : a node is asked about and given, or they are too many.
    FullspanError : a factor of the decimation vanishes, as it does in machines with equal couplings and no fields.
    """
    given = given or {}
    _apart(dict.fromkeys(nodes, 1), given)
    if len(nodes) > MAX_OUTPUTS:
        raise QueryError(f"{len(nodes)} nodes are asked about; at most {MAX_OUTPUTS} have all their states worked out")
    engine, pattern = _clamped(machine, given)
    total = np.zeros((2,) * len(nodes), dtype=complex)
    spins = np.array([-1.0, 1.0])
    for corner in itertools.product((0.0, np.pi / 2), repeat=len(nodes)):
        x = np.zeros(machine.n)
        x[list(nodes)] = corner
        phi = engine.characteristic(machine.couplings, machine.fields, x, pattern)
        wave = np.ones((), dtype=complex)
        for angle in corner:
            wave = np.multiply.outer(wave, np.exp(-1j * angle * spins))
        total += phi * wave
    return np.asarray(total.real / total.size)


def _parts(machine: Ising, given: Clamped) -> tuple[float, float]:
    """log Z of the machine that clamping leaves, and what the clamped nodes add to it."""
    engine, pattern = _clamped(machine, given)
    log_z, constant = engine.log_z_parts(machine.couplings, machine.fields, pattern)
    return float(log_z[0]), float(constant[0])


def _clamped(machine: Ising, given: Clamped) -> tuple[Decimation, NDArray[np.int64]]:
    engine = Decimation(machine.n, machine.edges, clamped=list(given))
    return engine, np.array(list(given.values()), dtype=np.int64).reshape(1, -1)


def _apart(asked: Clamped, given: Clamped) -> None:
    for i in asked:
        if i in given:
            raise QueryError(f"node {i} is given and asked about; leave it out of one of them")
