"""Estimated answers about models too wide to sum, each with its standard error.

    P(A | G) = <1_A 1_G> / <1_G>      over draws of Gibbs chains

Evidence that leaves one level holds the variable in the chains; other evidence selects among the draws, and the error
of the ratio is that of ``(1_A - P 1_G) / <1_G>``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.engine.sampling.chains import Chains
from fullspan.engine.sampling.choose import target_of
from fullspan.engine.sampling.diagnostics import Diagnostics, diagnose
from fullspan.engine.sampling.partition import log_z
from fullspan.errors import QueryError
from fullspan.model.estimate import Estimate
from fullspan.model.graph import FactorGraph
from fullspan.model.loglinear import LogLinear
from fullspan.query.asked import Given
from fullspan.query.language.boxes import EVERYTHING, Boxes, hull, intersection
from fullspan.query.language.events import Event, boxes_of, check_possible, codes_of, positions
from fullspan.query.language.parse import parse
from fullspan.query.language.result import Table

MAX_CELLS = 4096
"""Most cells of a table that is estimated."""
_LEAST_ESS = 10.0
_MONITORED, _CHAINS = 100, 500


class Drawn(NamedTuple):
    """States (size, n), and what the energies along the walks say about them."""

    states: NDArray[Any]
    diagnostics: Diagnostics


class SampledOracle:
    """Answers questions about a model by walking on it.

    Parameters
    ----------
    model : a log-linear model or a factor graph, of any width.
    rng : where random numbers come from.
    chains, draws, thin, warm_up : how far to walk for an answer.

    Attributes
    ----------
    r_hat : the largest R-hat of the answers so far; near 1 where the chains have met.

    Examples
    --------
    >>> from fullspan.data.space import Space
    >>> agree = np.log([[3.0, 1.0], [1.0, 3.0]])
    >>> chain = FactorGraph(Space.of_cards((2, 2, 2)), ((0, 1), (1, 2)), (agree, agree))
    >>> answer = SampledOracle(chain, np.random.default_rng(0)).ask("P(x0=1 | x2=1)")
    >>> bool(abs(answer.value - 0.625) < 4 * answer.error)
    True
    """

    def __init__(
        self,
        model: LogLinear | FactorGraph,
        rng: np.random.Generator,
        chains: int = 100,
        draws: int = 500,
        thin: int = 2,
        warm_up: int = 500,
    ) -> None:
        self.model, self.space, self.rng = model, model.space, rng
        self.chains, self.draws, self.thin, self.warm_up = chains, draws, thin, warm_up
        self.target = target_of(model)
        self.r_hat = 1.0

    def log_z(self) -> Estimate:
        """log Z: exact where it can be had."""
        return log_z(self.model, self.rng)

    def ask(self, text: str, given: Given = None) -> Estimate | Table:
        """Answer ``P(A=a | B=b)``: an estimate, or a table with errors if a variable stands without a level."""
        query = parse(text, self.space)
        if query.kind != "probability":
            raise QueryError("chains estimate probabilities only, no entropies and modes; ask for P(...)")
        known = intersection(query.given, boxes_of(given, self.space)) if given else query.given
        if query.variables:
            return self._table(query.variables, query.event, known)
        mean, error = self._cells((), query.event, known)
        return Estimate(float(mean), float(error))

    def conditional(self, variables: str | Sequence[str], given: Given = None) -> Table:
        """``P(variables | given)`` with the error of every cell."""
        return self._table(positions(variables, self.space), EVERYTHING, boxes_of(given, self.space))

    def marginals(self, given: Given = None) -> dict[str, Table]:
        """``P(x_i | given)`` of every variable, from one walk."""
        known = boxes_of(given, self.space)
        states = self._walk(known)
        found = [self._named((i,), *self._ratios((i,), EVERYTHING, known, states)) for i in range(len(self.space))]
        return dict(zip(self.space.names, found, strict=True))

    def _table(self, where: tuple[int, ...], event: Boxes, given: Boxes) -> Table:
        return self._named(where, *self._cells(where, event, given))

    def _named(self, where: Sequence[int], values: Array, errors: Array) -> Table:
        chosen = [self.space.variables[i] for i in where]
        return Table(tuple(v.name for v in chosen), tuple(v.levels for v in chosen), values, errors)

    def _cells(self, where: tuple[int, ...], event: Boxes, given: Boxes) -> tuple[Array, Array]:
        size = math.prod(self.space.cards[i] for i in where)
        if size > MAX_CELLS:
            raise QueryError(f"a table of {size:,} cells was asked for; at most {MAX_CELLS:,} are estimated at once")
        return self._ratios(where, event, given, self._walk(given))

    def _walk(self, given: Boxes) -> NDArray[Any]:
        if not given:
            raise QueryError("no state satisfies the condition, which has probability 0: nothing can be asked given it")
        check_possible(hull(given), self.space)
        held = _held(given)
        return Chains(self.target, self.chains, self.rng, given=held).draw(self.draws, self.thin, self.warm_up)

    def _ratios(self, where: tuple[int, ...], event: Boxes, given: Boxes, states: NDArray[Any]) -> tuple[Array, Array]:
        """Shares of the draws that agree with ``given``, cell by cell, and their errors."""
        kept = _agree(states, given)
        share = float(kept.mean())
        if share * states.shape[0] * states.shape[1] < _LEAST_ESS:
            raise QueryError(
                "hardly any draw agrees with the condition, so nothing can be estimated given it; "
                "fix variables to one level each, which the chains hold"
            )
        inside = kept & _agree(states, event)
        shape = tuple(self.space.cards[i] for i in where)
        cells = list(itertools.product(*map(range, shape)))
        boxes = [dict(zip(where, ((x,) for x in cell), strict=True)) for cell in cells]
        hits = np.stack([inside & _agree(states, (box,)) for box in boxes], 2)
        p = hits.mean(axis=(0, 1)) / share
        found = diagnose((hits - p * kept[:, :, None]) / share + p)
        self.r_hat = max(self.r_hat, found.worst_r_hat)
        known = all(i in _held(given) for i in (*where, *(i for box in event for i in box)))
        errors = np.zeros_like(p) if known else np.maximum(found.error, _least(p, share * kept.size))
        return p.reshape(shape), errors.reshape(shape)

    def sample(self, size: int, given: Event | None = None) -> Drawn:
        """``size`` states, from as many walks up to 500 and then from several points of each, 10 sweeps apart.

        Raises
        ------
        QueryError : the size is negative, or the evidence leaves a variable more than one level but not all.
        """
        if isinstance(size, bool) or size < 0:
            raise QueryError(f"a sample of {size!r} states was asked for; give a whole number of at least 0")
        known = codes_of(given, self.space)
        check_possible(known, self.space)
        if any(len(codes) > 1 for codes in known.values()):
            raise QueryError("chains hold variables at one level each; give one level for each variable")
        held = {i: int(codes[0]) for i, codes in known.items()}
        number = min(max(int(size), 4), _CHAINS)
        chains = Chains(self.target, number, self.rng, given=held)
        chains.sweep(self.warm_up)
        rounds = max(-(-int(size) // number), 1)
        states, energies = [], []
        for k in range(max(rounds, _MONITORED)):
            chains.sweep(10 if k < rounds else 3)
            if k < rounds:
                states.append(chains.states.copy())
            energies.append(self.target.log_weight(chains.states))
        found = diagnose(np.array(energies)[:, :, None])
        self.r_hat = max(self.r_hat, found.worst_r_hat)
        return Drawn(np.concatenate(states)[: int(size)].astype(np.int64), found)


def _held(given: Boxes) -> dict[int, int]:
    """The variables that a condition leaves one level, which the chains hold."""
    return {i: int(codes[0]) for i, codes in hull(given).items() if len(codes) == 1}


def _agree(states: NDArray[Any], event: Boxes) -> NDArray[np.bool_]:
    """Which draws (draws, chains) agree with an event."""
    out = np.zeros(states.shape[:2], dtype=bool)
    for box in event:
        inside = np.ones(states.shape[:2], dtype=bool)
        for i, codes in box.items():
            inside &= np.isin(states[:, :, i], np.asarray(codes, dtype=states.dtype))
        out |= inside
    return out


def _least(p: Array, n: float) -> Array:
    """Least error of a share, as if (hits + 1/2) of (n + 1) independent draws had been hits."""
    smooth = (p * n + 0.5) / (n + 1.0)
    return np.asarray(np.sqrt(smooth * (1 - smooth) / n))
