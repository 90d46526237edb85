"""Exact answers to questions about a truncated machine: sums over its states.

With a probability reserved for unseen states, u for each of them, ``p = sum_{x in S} (p_x - u) [x] + u`` on all states,
so that every answer is a sum over S and a share of the uniform distribution.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import cell_in_words
from fullspan.errors import FullspanError, QueryError, TooLargeError
from fullspan.model.algebra.inclusion import states_of_terms
from fullspan.model.loglinear import checked_codes
from fullspan.model.truncated import TruncatedLogLinear
from fullspan.query.distribution import MAX_CELLS, PAIR_WORK, Distribution, Factors, Marginals, with_factors
from fullspan.query.language.boxes import Codes, both
from fullspan.query.language.events import Event, check_possible, in_words
from fullspan.query.questions import Mode


class TruncatedDistribution(Distribution):
    """Answers questions about one truncated machine, by sums over the states that it lists.

    Parameters
    ----------
    model : the machine.
    """

    def __init__(self, model: TruncatedLogLinear) -> None:
        self.model, self.space = model, model.space
        self.uniform = 0.0 if not model.unseen else self._share_of_uniform()

    def _share_of_uniform(self) -> float:
        """``u |X|``: what the uniform distribution is multiplied by."""
        outside = self.visible.n_states - len(self.model.states)
        return self.model.unseen * (1.0 + len(self.model.states) / outside)

    @cached_property
    def weights(self) -> Array:
        """(|S|,) ``p_x - u``; may be negative where a state of S is less likely than one outside."""
        return np.asarray(np.exp(self.model.log_p) - math.exp(self.model.log_p_unseen))

    # -- rows -------------------------------------------------------------------------------------------------

    def log_prob(self, codes: Any) -> Array:
        known = checked_codes(codes, self.visible, missing=True)
        complete = (known >= 0).all(axis=1)
        out = np.empty(len(known))
        out[complete] = self.model.log_prob(known[complete])
        for r in np.flatnonzero(~complete):
            event = _event(known[r])
            with np.errstate(divide="ignore"):
                out[r] = np.log(max(self._mass(event), 0.0))
        return out

    def impute(self, codes: Any, how: str = "mode", rng: np.random.Generator | None = None) -> Any:
        """Rows with missing cells (−1) filled in: ``"mode"``, ``"draw"``, or ``"mean"`` ``{name: (m, levels)}``."""
        known = self.checked_impute(codes, how, rng)
        filled = known.copy()
        means = {v.name: np.zeros((len(known), v.card)) for v in self.visible.variables} if how == "mean" else {}
        for r, row in enumerate(known):
            event = _event(row)
            if how == "mean":
                self._check(event, f"what row {r + 1} says")
                for i, (v, out) in enumerate(zip(self.visible.variables, means.values(), strict=True)):
                    out[r] = self.cells((i,), {}, event) if row[i] < 0 else np.eye(v.card)[row[i]]
            elif (row < 0).any():
                self._check(event, f"what row {r + 1} says")
                filled[r] = self._mode(event) if rng is None or how == "mode" else self._drawn(event, 1, rng)[0]
        return means if how == "mean" else filled

    def sample(self, size: int, rng: np.random.Generator, given: Event | None = None) -> NDArray[np.int64]:
        n = self.checked_size(size)
        allowed = self.allowed(given)
        self._check(allowed, f"the condition {in_words(allowed, self.visible)}")
        return self._drawn(allowed, n, rng)

    def _drawn(self, allowed: Mapping[int, Codes], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draws from S, and where the draw falls outside, from the other states that the event allows."""
        inside = self._inside(allowed)
        p = np.where(inside, np.exp(self.model.log_p), 0.0)
        total = self._mass(allowed)
        bounds = np.cumsum(p)
        # Numbers beyond the sum over S fall on states outside it.
        drawn = np.searchsorted(bounds, rng.random(size) * total, side="right")
        states = self.model.states.astype(np.int64)
        out = states[np.minimum(drawn, len(states) - 1)]
        if not self.model.unseen:
            last = int(np.flatnonzero(p)[-1])  # rounding at the end of the sums
            out[drawn >= len(states)] = states[last]
            return out
        for r in np.flatnonzero(drawn >= len(states)):
            out[r] = self._outside(allowed, rng)
        return out

    def _outside(self, allowed: Mapping[int, Codes], rng: np.random.Generator) -> NDArray[np.int64]:
        """A state outside S that an event allows, all alike: by rejection."""
        # Nearly always the first draw: S is a small part of all states.
        for _ in range(1_000_000):
            row = np.array(
                [rng.choice(allowed[i]) if i in allowed else rng.integers(c) for i, c in enumerate(self.visible.cards)]
            )
            if self.model.rows_of(row[None, :])[0] < 0:
                return row
        raise QueryError("nearly all states that the condition allows are in the truncated space; use unseen=0")

    # -- probabilities ----------------------------------------------------------------------------------------

    def cells(self, where: tuple[int, ...], event: Mapping[int, Codes], given: Mapping[int, Codes]) -> Array:
        check_possible(given, self.visible)
        shape = self.shape_of(where)
        norm = self._check(given, f"the condition {in_words(given, self.visible)}")
        joint = both(given, event)
        if not all(joint.values()):
            return np.zeros(shape)
        inside = self._inside(joint)
        chosen = self.model.states[inside][:, list(where)].astype(np.int64)
        flat = np.ravel_multi_index(tuple(chosen.T), shape) if where else np.zeros(len(chosen), dtype=np.int64)
        cells: Any = np.bincount(flat, weights=self.weights[inside], minlength=math.prod(shape)).reshape(shape)
        if self.uniform:
            cells = cells + self.uniform * self._uniform_cells(where, joint, shape)
        return np.asarray(np.clip(cells / norm, 0.0, 1.0))

    def marginals(self, given: Event | None = None) -> Marginals:
        """By one look at the states of S."""
        allowed = self.allowed(given)
        norm = self._check(allowed, f"the condition {in_words(allowed, self.visible)}")
        inside = self._inside(allowed)
        states, weights, found = self.model.states[inside], self.weights[inside], {}
        for i, v in enumerate(self.visible.variables):
            cells: Any = np.bincount(states[:, i].astype(np.int64), weights=weights, minlength=v.card)
            if self.uniform:
                cells = cells + self.uniform * self._uniform_cells((i,), allowed, (v.card,))
            found[v.name] = np.clip(cells / norm, 0.0, 1.0)
        return Marginals(min(math.log(norm), 0.0), found)

    def log_z_given(self, given: Event | None = None) -> float:
        allowed = self.allowed(given)
        return min(math.log(self._check(allowed, f"the condition {in_words(allowed, self.visible)}")), 0.0)

    def pairs(self, work: float = PAIR_WORK) -> Array | None:
        """By counting the pairs of levels of the states of S, each as often as it is likely."""
        from fullspan.learn.trees.pairs import pair_counts

        cards = np.array(self.visible.cards)
        if len(self.model.states) * int(cards.sum()) ** 2 > 10 * work:
            return None
        spread = 1.0 / np.repeat(cards, cards)
        found = pair_counts(self.model.states, self.weights, self.visible.cards)
        return np.asarray(found + self.uniform * np.outer(spread, spread))

    def reweighed(self, factors: Factors) -> TruncatedLogLinear:
        """The same states with other weights.

        Raises
        ------
        FullspanError : states outside S share a probability evenly, or a term that is needed is no state of S.
        """
        model = self.model
        if model.unseen:
            raise FullspanError(
                "the margins of a truncated machine with unseen= above 0 cannot be changed exactly: the states that "
                "it does not list are all alike; fit it with unseen=0"
            )
        changed, log_z = with_factors(model, factors, self.log_mean(factors))
        new = [term for term in changed if term not in model.weights]
        added = states_of_terms(tuple(new), len(self.space), model.others.dtype)
        rows = model.rows_of(added)
        if (rows < 0).any():
            term = new[int(np.argmin(rows))]
            named = cell_in_words([self.space.variables[i] for i, _ in term], [j for _, j in term])
            raise FullspanError(
                f"the margins of this truncated machine cannot be changed exactly: that needs a weight of {named}, and "
                "it does not list that state, in which all others have their first level; fit it with a lower "
                "min_support, or a FullSpan"
            )
        gone = {tuple(row) for row in added.tolist()}
        others = [row for row in model.others.tolist() if tuple(row) not in gone]
        kept = np.array(others, dtype=model.others.dtype).reshape(len(others), len(self.space))
        theta = np.array(list(changed.values()))
        return TruncatedLogLinear(self.space, model.basis, tuple(changed), theta, log_z, kept, 0.0)

    def _uniform_cells(self, where: tuple[int, ...], joint: Mapping[int, Codes], shape: tuple[int, ...]) -> Array:
        cards = self.visible.cards
        rest = math.prod(len(codes) / cards[i] for i, codes in joint.items() if i not in where)
        cells = np.full(shape, float(rest))
        for axis, i in enumerate(where):
            allowed = np.isin(np.arange(cards[i]), joint.get(i, tuple(range(cards[i])))) / cards[i]
            cells *= allowed.reshape([-1 if a == axis else 1 for a in range(len(where))])
        return cells

    def joint(self) -> Array:
        """Probabilities of all states, one axis per variable.

        Raises
        ------
        TooLargeError : there are more than 2^20.
        """
        if self.visible.n_states > MAX_CELLS:
            raise TooLargeError(f"a table of all states has more than {MAX_CELLS:,} cells; ask for some variables")
        cells = np.full(self.visible.n_states, math.exp(self.model.log_p_unseen))
        cells[self.visible.index(self.model.states)] = np.exp(self.model.log_p)
        return cells.reshape(self.visible.cards, order="F")

    def _inside(self, allowed: Mapping[int, Codes]) -> NDArray[np.bool_]:
        """Which states of S an event allows."""
        inside = np.ones(len(self.model.states), dtype=bool)
        for i, codes in allowed.items():
            inside &= np.isin(self.model.states[:, i], codes)
        return inside

    def _mass(self, allowed: Mapping[int, Codes]) -> float:
        """Probability of an event."""
        mass = float(self.weights[self._inside(allowed)].sum())
        if self.uniform:
            mass += self.uniform * float(self._uniform_cells((), allowed, ()))
        return mass

    def _check(self, allowed: Mapping[int, Codes], what: str) -> float:
        """Probability of a condition, which may not be 0."""
        mass = self._mass(allowed) if allowed else 1.0
        if mass <= 0.0:
            raise QueryError(
                f"{what} has probability 0 under this truncated machine, and no question can be answered given it; a "
                "machine with unseen= above 0 excludes nothing"
            )
        return mass

    # -- modes and information --------------------------------------------------------------------------------

    def mode(self, given: Event | None = None) -> Mode:
        """The most probable state given an event, and its log probability given it.

        Where a state outside S is the most probable, so are all others outside: the first in the order of codes.
        """
        allowed = self.allowed(given)
        norm = self._check(allowed, f"the condition {in_words(allowed, self.visible)}")
        state = self._mode(allowed)
        return Mode(state, float(self.model.log_prob(state[None, :])[0]) - math.log(norm))

    def _mode(self, allowed: Mapping[int, Codes]) -> NDArray[np.int64]:
        log_p = np.where(self._inside(allowed), self.model.log_p, -np.inf)
        best = int(log_p.argmax())
        if log_p[best] < self.model.log_p_unseen and (state := self._first_outside(allowed)) is not None:
            return state
        return np.asarray(self.model.states[best].astype(np.int64))

    def _first_outside(self, allowed: Mapping[int, Codes]) -> NDArray[np.int64] | None:
        """The first state outside S that an event allows, in the order of codes: all of them are alike."""
        cards = self.visible.cards
        for codes in itertools.product(*(allowed.get(i, range(card)) for i, card in enumerate(cards))):
            state = np.array(codes, dtype=np.int64)
            if self.model.rows_of(state[None, :])[0] < 0:
                return state
        return None

    def _joint_entropy(self, allowed: Mapping[int, Codes]) -> float:
        """Entropy of the whole state given an event: states of S, and as many equal ones outside as there are."""
        norm = self._check(allowed, f"the condition {in_words(allowed, self.visible)}")
        inside = self._inside(allowed)
        log_p = self.model.log_p[inside] - math.log(norm)
        p = np.exp(log_p)
        entropy = -float(np.sum(p * np.where(p > 0, log_p, 0.0)))
        outside = max(1.0 - float(p.sum()), 0.0)
        if self.uniform and outside > 0:
            entropy -= outside * (self.model.log_p_unseen - math.log(norm))
        return max(entropy, 0.0)

    def entropy_of(self, where: tuple[int, ...], given: Mapping[int, Codes]) -> float:
        """Entropy of some variables by position, given an event; of all of them without a table."""
        return self._joint_entropy(given) if len(where) == len(self.visible) else super().entropy_of(where, given)


def _event(row: NDArray[Any]) -> dict[int, Codes]:
    return {int(i): (int(row[i]),) for i in np.flatnonzero(row >= 0)}
