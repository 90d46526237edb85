"""Estimated answers about models too wide to sum, each with its standard error.

    P(A | G) = <1_A 1_G> / <1_G>      over draws of Gibbs chains

Evidence that leaves one level holds the variable in the chains; other evidence selects among the draws, and the error
of the ratio is that of ``(1_A - P 1_G) / <1_G>``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.sampling.chains import Chains, Tempered
from fullspan.engine.sampling.choose import target_of
from fullspan.engine.sampling.diagnostics import diagnose
from fullspan.engine.sampling.partition import log_z
from fullspan.errors import QueryError
from fullspan.model.estimate import Estimate
from fullspan.model.graph import FactorGraph
from fullspan.model.loglinear import LogLinear
from fullspan.query.distribution import Distribution, Marginals
from fullspan.query.language.boxes import Box, Boxes, hull, intersection
from fullspan.query.language.cuts import Cuts, Weighed
from fullspan.query.language.events import Event, boxes_of, check_possible
from fullspan.query.language.parse import parse
from fullspan.query.language.result import Table
from fullspan.query.questions import Answer, Given

MAX_CELLS = 4096
"""Most cells of a table that is estimated."""
_LEAST_ESS = 10.0
_MONITORED, _CHAINS = 100, 500


@dataclass(frozen=True)
class Walk:
    """How far to walk for an answer.

    Attributes
    ----------
    chains, draws, thin, warm_up : chains, draws of each, sweeps for a draw, and sweeps before the first.
    tempered : walk at several temperatures that exchange their states, for models whose modes a single chain does not
        leave; no variable can be held then.
    """

    chains: int = 100
    draws: int = 500
    thin: int = 2
    warm_up: int = 500
    tempered: bool = False


class SampledDistribution(Distribution):
    """Answers questions about a model by walking on it.

    Parameters
    ----------
    model : a log-linear model or a factor graph, of any width.
    rng : where random numbers come from.
    summed : the same model as it is summed, which gives the log-probabilities and completions of rows.
    walk : how far to walk for an answer, as keyword arguments of :class:`Walk`.

    Attributes
    ----------
    r_hat : the largest R-hat of the answers so far; near 1 where the chains have met.
    drawn : what the energies along the walks of the last sample say about it.

    Examples
    --------
    >>> from fullspan.data.space import Space
    >>> agree = np.log([[3.0, 1.0], [1.0, 3.0]])
    >>> chain = FactorGraph(Space.of_cards((2, 2, 2)), ((0, 1), (1, 2)), (agree, agree))
    >>> answer = SampledDistribution(chain, np.random.default_rng(0)).ask("P(x0=1 | x2=1)")
    >>> bool(abs(answer.value - 0.625) < 4 * answer.error)
    True
    """

    exact: ClassVar[bool] = False

    def __init__(
        self,
        model: LogLinear | FactorGraph,
        rng: np.random.Generator,
        summed: Distribution | None = None,
        **walk: Any,
    ) -> None:
        self.model, self.space, self.rng, self.walk = model, model.space, rng, Walk(**walk)
        self.target = target_of(model)
        self._summed = summed
        if summed is not None:
            self.visible = summed.visible

    @cached_property
    def log_z(self) -> Estimate:
        """log Z: exact where it can be had."""
        return log_z(self.model, self.rng)

    @property
    def summed(self) -> Distribution:
        """The same model, by sums.

        Raises
        ------
        QueryError : it was not given.
        """
        if self._summed is None:
            raise QueryError("Gibbs chains estimate probabilities, not those of whole rows; ask the model itself")
        return self._summed

    def log_prob(self, rows: Any) -> Array:
        """As the model gives it, with the error of its log Z."""
        return self.summed.log_prob(rows)

    def impute(self, rows: Any, how: str = "mode", rng: np.random.Generator | None = None) -> Any:
        """As the model gives it: completions of a row need no log Z."""
        return self.summed.impute(rows, how, rng)

    def ask(self, text: str, given: Given = None) -> Answer:
        """Answer ``P(A=a | B=b)``: an estimate, or a table with errors if a variable stands without a level."""
        if parse(text, self.space).kind != "probability":
            raise _only_probabilities()
        return super().ask(text, given)

    def answer(self, where: tuple[int, ...], event: Boxes, given: Boxes, cuts: Cuts | None = None) -> Estimate | Table:
        """``P(where, event | given)`` with the error of every cell."""
        values, errors = self._cells(where, event, given, cuts)
        return self._named(where, values, errors) if where else Estimate(float(values), float(errors))

    def union_cells(self, where: tuple[int, ...], event: Boxes, given: Boxes, cuts: Cuts | None = None) -> Array:
        """The same without the errors."""
        return self._cells(where, event, given, cuts)[0]

    def cells(self, where: tuple[int, ...], event: Box, given: Box) -> Array:
        """The same of boxes."""
        return self.union_cells(where, (event,), (given,))

    def marginals(self, given: Event | None = None) -> Marginals:
        """``P(x_i | given)`` of every variable with its errors, from one walk; log Z of the evidence is not known."""
        known = boxes_of(given, self.space)
        weighed = _whole(known)
        states = self._walk(weighed)
        found = [self._ratios((i,), weighed, weighed, states) for i in range(len(self.space))]
        shares, errors = (dict(zip(self.space.names, part, strict=True)) for part in zip(*found, strict=True))
        return Marginals(math.nan if given else self.log_z.value, shares, errors)

    def mode(self, given: Event | None = None) -> NoReturn:
        """Not known.

        Raises
        ------
        QueryError : always.
        """
        raise _only_probabilities()

    def entropy_of(self, where: tuple[int, ...], given: Box) -> NoReturn:
        """Not known; see :meth:`mode`."""
        raise _only_probabilities()

    def pairs(self, work: float = 0.0) -> None:
        """Not known exactly."""

    def by_chains(self, rng: np.random.Generator) -> SampledDistribution:
        """The same walks from another generator."""
        return SampledDistribution(self.model, rng, self._summed, **asdict(self.walk))

    def _named(self, where: Sequence[int], values: Array, errors: Array) -> Table:
        chosen = [self.space.variables[i] for i in where]
        return Table(tuple(v.name for v in chosen), tuple(v.levels for v in chosen), values, errors)

    def _cells(
        self, where: tuple[int, ...], event: Boxes, given: Boxes, cuts: Cuts | None = None
    ) -> tuple[Array, Array]:
        size = math.prod(self.space.cards[i] for i in where)
        if size > MAX_CELLS:
            raise QueryError(f"a table of {size:,} cells was asked for; at most {MAX_CELLS:,} are estimated at once")
        both = intersection(event, given)
        joint, condition = (cuts.weighed(part) if cuts else _whole(part) for part in (both, given))
        return self._ratios(where, joint, condition, self._walk(condition))

    def _walk(self, given: Weighed) -> NDArray[Any]:
        if not given:
            raise QueryError(
                "no state satisfies the condition, which has probability 0: no question can be answered given it"
            )
        check_possible(hull(_boxes(given)), self.space)
        held = _held(given)
        walk = self.walk
        if not walk.tempered:
            return Chains(self.target, walk.chains, self.rng, given=held).draw(walk.draws, walk.thin, walk.warm_up)
        if held:
            raise QueryError("tempered chains hold no variable: leave out tempered=, or the condition")
        return Tempered(self.target, walk.chains, self.rng).draw(walk.draws, walk.thin, walk.warm_up)

    def _ratios(
        self, where: tuple[int, ...], joint: Weighed, given: Weighed, states: NDArray[Any]
    ) -> tuple[Array, Array]:
        """Shares of the draws that agree with ``given``, cell by cell, and their errors."""
        kept = _agree(states, given)
        share = float(kept.mean())
        if share * states.shape[0] * states.shape[1] < _LEAST_ESS:
            raise QueryError(
                "hardly any draw agrees with the condition, so nothing can be estimated given it; "
                "fix variables to one level each, which the chains hold"
            )
        inside = _agree(states, joint)
        shape = tuple(self.space.cards[i] for i in where)
        cells = list(itertools.product(*map(range, shape)))
        boxes = [dict(zip(where, ((x,) for x in cell), strict=True)) for cell in cells]
        hits = np.stack([inside * _agree(states, _whole((box,))) for box in boxes], 2)
        p = hits.mean(axis=(0, 1)) / share
        # The ratio's linearisation about its value: its error is that of the mean of these numbers.
        found = diagnose((hits - p * kept[:, :, None]) / share + p)
        self.r_hat = max(self.r_hat, found.worst_r_hat)
        # What the chains hold has no error: no draw varies.
        known = all(i in _held(given) for i in (*where, *(i for box in _boxes(joint) for i in box)))
        errors = np.zeros_like(p) if known else np.maximum(found.error, _least(p, share * kept.size))
        return p.reshape(shape), errors.reshape(shape)

    def sample(self, size: int, rng: np.random.Generator, given: Event | None = None) -> Ints:
        """``size`` states, from as many walks up to 500 and then from several points of each, 10 sweeps apart.

        Raises
        ------
        QueryError : the size is negative, or the evidence leaves a variable more than one level but not all.
        """
        size, known = self.checked_size(size), self.allowed(given)
        if any(len(codes) > 1 for codes in known.values()):
            raise QueryError("chains fix each variable at a single level; give one level for each variable")
        held = {i: int(codes[0]) for i, codes in known.items()}
        number = min(max(size, 4), _CHAINS)
        chains = Chains(self.target, number, rng, given=held)
        chains.sweep(self.walk.warm_up)
        rounds = max(-(-size // number), 1)
        states, energies = [], []
        # More points than are drawn: fewer would not show whether the chains have met.
        for k in range(max(rounds, _MONITORED)):
            chains.sweep(10 if k < rounds else 3)
            if k < rounds:
                states.append(chains.states.copy())
            energies.append(self.target.log_weight(chains.states))
        found = diagnose(np.array(energies)[:, :, None])
        self.r_hat = max(self.r_hat, found.worst_r_hat)
        self.drawn = found
        return np.concatenate(states)[:size, : len(self.visible)].astype(np.int64)


def _only_probabilities() -> QueryError:
    return QueryError("chains estimate probabilities only, no entropies and modes; ask for P(...)")


def _whole(boxes: Boxes) -> Weighed:
    return tuple((1.0, box) for box in boxes)


def _boxes(weighed: Weighed) -> Boxes:
    return tuple(box for _, box in weighed)


def _held(given: Weighed) -> dict[int, int]:
    """The variables that a condition leaves one level, which the chains hold."""
    return {i: int(codes[0]) for i, codes in hull(_boxes(given)).items() if len(codes) == 1}


def _agree(states: NDArray[Any], event: Weighed) -> Array:
    """The share of an event that each draw (draws, chains) has: 1 and 0 where no bin is cut."""
    out = np.zeros(states.shape[:2])
    for weight, box in event:
        inside = np.ones(states.shape[:2], dtype=bool)
        for i, codes in box.items():
            inside &= np.isin(states[:, :, i], np.asarray(codes, dtype=states.dtype))
        out += weight * inside
    return out


def _least(p: Array, n: float) -> Array:
    """Least error of a share, as if (hits + 1/2) of (n + 1) independent draws had been hits."""
    smooth = (p * n + 0.5) / (n + 1.0)
    return np.asarray(np.sqrt(smooth * (1 - smooth) / n))
