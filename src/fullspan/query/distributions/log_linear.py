"""Exact answers to questions about a log-linear model.

Two methods lead to every answer. A marginal of few variables is a handful of look-ups in the dual table, in
microseconds, with an absolute error of about 1e-16. Where that is not enough, because a probability is small, or where
many variables are involved, the model is restricted to the evidence and summed in the log domain, which is right to
rounding relative to itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data.space import Space
from fullspan.engine.elimination.pairs import all_pairs
from fullspan.engine.elimination.sums import Sums
from fullspan.engine.memory import budget, require
from fullspan.errors import FullspanError, TooLargeError
from fullspan.model.estimate import Estimate
from fullspan.model.graph import FactorGraph
from fullspan.model.loglinear import LogLinear, checked_codes
from fullspan.query.distribution import PAIR_WORK, Distribution, Factors, Marginals, with_factors
from fullspan.query.distributions import rows
from fullspan.query.distributions.graph import GraphDistribution
from fullspan.query.distributions.look_ups import LookUps
from fullspan.query.distributions.state_table import MAX_STATES, StateTable, of_marginals
from fullspan.query.language.boxes import Codes
from fullspan.query.language.events import IMPOSSIBLE, Event, check_probable, in_words, log_uniform, log_uniform_rows
from fullspan.query.questions import Mode

if TYPE_CHECKING:
    from fullspan.engine.dual.completion import Completer
    from fullspan.engine.dual.table import DualTable

_FEW_STATES = 1 << 17
"""States up to which the table of all of them is the quickest to give all pairs."""
_MOST_TERMS = 20_000
"""Terms up to which the model is made a product of factors to give all pairs."""


def reweighed(model: LogLinear, factors: Factors, log_mean: float) -> LogLinear:
    """``p(x) exp(sum_A l_A(x_A) - log_mean)`` as a log-linear model: the weights of terms inside the A change."""
    theta, log_z = with_factors(model, factors, log_mean)
    return LogLinear(model.space, model.basis, tuple(theta), np.array(list(theta.values())), log_z)


class LogLinearDistribution(LookUps):
    """Answers questions about one model; all probabilities are exact up to rounding, all information in nats.

    Parameters
    ----------
    model : the model.
    table : a dual table at the model's weights in double precision; built when first needed unless given.
    max_memory : bytes that tables may take; most of the free memory unless given. A model whose dual table does
        not fit is answered by elimination alone, which raises ``TooLargeError`` if that does not fit either.
    n_hidden : how many of the last variables are never observed. Rows, samples, modes and imputations are then about
        the visible ones, the hidden ones being summed out; other questions may name both.
    log_z : log Z of the model with its error, where it was estimated.

    Events and conditions are dictionaries ``{name: level}``; a list of levels means any one of them. A condition may
    name a variable that is also asked about: it restricts it, and a contradiction has probability 0.

    Examples
    --------
    >>> from fullspan.model.algebra.basis import Basis
    >>> from fullspan.data.space import Space
    >>> space = Space.of_cards((2, 2))
    >>> log_z = float(np.log(2 * np.exp(0.5) + 2 * np.exp(-0.5)))
    >>> model = LogLinear(space, Basis("walsh", (2, 2)), (((0, 1), (1, 1)),), np.array([0.5]), log_z)
    >>> round(LogLinearDistribution(model).probability("x0=1 | x1=1"), 4)
    0.7311
    """

    single: ClassVar[bool] = True
    """Whether the model is one log-linear model."""
    most_states: int | None = None
    """States up to which the dual table is made; as many as fit into memory if None."""
    max_completions: int = 1 << 10
    """Completions of one row up to which all of them are weighed; a row with more is summed by elimination."""

    def __init__(
        self,
        model: LogLinear,
        table: DualTable | None = None,
        max_memory: int | None = None,
        n_hidden: int = 0,
        log_z: Estimate | None = None,
    ) -> None:
        if self.single:
            model.require_single("a distribution by one table or elimination")
        if table is not None and (table.basis != model.basis or table.dtype != np.float64):
            raise FullspanError(
                f"a distribution needs a float64 table over the model's own basis, not {table.dtype} over "
                f"{table.basis.name} {table.basis.cards}"
            )
        self.model, self.space, self.max_memory = model, model.space, max_memory
        self.visible = Space(model.space.variables[: len(model.space) - n_hidden])
        self._given_table, self._log_z = table, log_z

    @classmethod
    def of(cls, fitted: Any, max_memory: int | None = None) -> Distribution:
        """The distribution of a fitted log-linear model; with a bound on memory the dual table has up to 2^22 states.

        A question to a larger model is then summed by elimination, before which no large table has to be filled.
        """
        found = cls(fitted.model, max_memory=max_memory, n_hidden=fitted.n_hidden, log_z=fitted.log_z)
        # A bound on memory comes from the explorer and the command line, where the first answer is waited for.
        found.most_states = None if max_memory is None else MAX_STATES
        return found

    @cached_property
    def elimination(self) -> Sums:
        """What answers without a table over all states."""
        return Sums(self.model, self.max_memory)

    @cached_property
    def table(self) -> DualTable | None:
        """The dual table, or None if it would not fit."""
        if self._given_table is not None:
            return self._given_table
        n_states = self.model.basis.n_states
        if 8 * n_states > budget(self.max_memory) or (self.most_states is not None and n_states > self.most_states):
            return None
        from fullspan.engine.dual.table import DualTable

        table = DualTable(self.model.basis, np.float64)
        table.set_theta(dict(zip(self.model.indices, map(float, self.model.theta), strict=True)))
        return table

    def completer(self, room: int) -> Completer:
        """The kernels that weigh up to ``room`` completions of rows with missing cells."""
        from fullspan.engine.dual.completion import Completer

        return Completer(self.model, room)

    @property
    def log_z(self) -> Estimate:
        """log Z of the model, with its error where it was estimated."""
        return Estimate.known(self.model.log_z) if self._log_z is None else self._log_z

    def reweighed(self, factors: Factors) -> LogLinear:
        """The model with the terms of the factors added: all other weights stay."""
        return reweighed(self.model, factors, self.log_mean(factors))

    def renewed(self, factors: Factors) -> Distribution:
        """The distribution of the reweighed model, by the same methods."""
        kind = type(self) if not self.single else LogLinearDistribution
        n_hidden = len(self.space) - len(self.visible)
        found = kind(self.reweighed(factors), max_memory=self.max_memory, n_hidden=n_hidden)
        found.most_states = self.most_states
        return found

    def by_chains(self, rng: np.random.Generator) -> Distribution:
        """The same model, asked by Gibbs chains."""
        from fullspan.query.distributions.sampled import SampledDistribution

        return SampledDistribution(self.model, rng, summed=self)

    # -- all marginals ------------------------------------------------------------------------------------------

    @cached_property
    def by_table(self) -> bool:
        """Whether the table of all states is small enough to be kept, and log Z belongs to it."""
        return self.model.basis.n_states <= MAX_STATES and self.log_z.exact

    @cached_property
    def _states(self) -> StateTable:
        return StateTable(self.space, self.log_table())

    @cached_property
    def _clusters(self) -> GraphDistribution:
        """The model as a product of factors, whose clusters give all marginals in two sweeps."""
        return GraphDistribution(FactorGraph.of_loglinear(self.model), self.max_memory)

    def marginals(self, given: Event | None = None) -> Marginals:
        """By the table of all states where it is small (2^20 take about 15 ms), else by two sweeps over clusters."""
        if self.by_table:
            log_prob, shares, _ = self._states.marginals(self.allowed(given))
            log_z = self.model.log_z + log_prob
        else:
            log_z, shares, _ = self._clusters.marginals(given)
        return Marginals(log_z, shares)

    def log_prob_of_boxes(self, boxes: Sequence[Mapping[int, Codes]]) -> Array:
        """``log P(box)`` of many events, by clusters where the table of all states is not small."""
        return super().log_prob_of_boxes(boxes) if self.by_table else self._clusters.log_prob_of_boxes(boxes)

    def log_z_given(self, given: Event | None = None) -> float:
        """``log Z(e)``, by elimination; also where the log Z of the model is an estimate."""
        allowed = self.allowed(given)
        return self.log_sum(allowed) if self.log_z.exact else float(self.elimination.log_sums((), allowed))

    def pairs(self, work: float = PAIR_WORK) -> Array | None:
        """By one sweep over clusters, or by slices of the table of all states."""
        n_states, cards = self.model.basis.n_states, self.visible.cards
        if self.single and n_states > _FEW_STATES and len(self.model.terms) <= _MOST_TERMS:
            try:
                found = all_pairs(self._clusters.tree, work)
            except TooLargeError:
                found = None
            # Hidden variables come last, and are left out.
            if found is not None:  # the visible variables come first
                return found[: sum(cards), : sum(cards)]
        if n_states > MAX_STATES or n_states * sum(cards) > work:
            return None
        return of_marginals(self, self.marginals)

    # -- states -----------------------------------------------------------------------------------------------

    def mode(self, given: Event | None = None) -> Mode:
        """The most probable state of the visible variables given an event, and its log probability given it."""
        allowed = self.allowed(given)
        if len(self.visible) < len(self.model.space):
            return self._visible_mode(allowed)
        state = self.elimination.mode(allowed)
        return Mode(state, float(-self.model.energy(state[None, :])[0] - self.log_sum(allowed)))

    def _visible_mode(self, allowed: Mapping[int, Codes]) -> Mode:
        """The same where hidden variables are summed out: by the table of all visible states."""
        cells = self.elimination.log_sums(tuple(range(len(self.visible))), allowed)
        state = np.array(np.unravel_index(int(np.argmax(cells)), cells.shape), dtype=np.int64)
        return Mode(state, float(cells.max() - self.log_sum(allowed)))

    def check_condition(self, given: Mapping[int, Codes], log_sum: float) -> None:
        """Refuse a condition whose log weight says that its probability is 0."""
        if given:
            words, uniform = in_words(given, self.model.space), log_uniform(given, self.model.space)
            check_probable(log_sum - self.model.log_z, f"the condition {words}", uniform)

    def log_sum(self, allowed: Mapping[int, Codes]) -> float:
        """Log of the unnormalised weight of an event, which may be asked about."""
        if not allowed:
            return self.model.log_z
        log_sum = float(self.elimination.log_sums((), allowed))
        self.check_condition(allowed, log_sum)
        return log_sum

    def joint(self) -> Array:
        """Probabilities of all visible states, one axis per variable; right to rounding relative to themselves.

        Raises
        ------
        TooLargeError : the table would not fit into memory; nothing has been allocated.
        """
        basis, n_visible = self.model.basis, self.visible.n_states
        require(16 * basis.n_states, budget(self.max_memory), f"a table of {basis.n_states:,} states", "ask for cells")
        table = self.log_table()
        np.exp(table, out=table)
        cells: Array = table.reshape(-1, n_visible).sum(axis=0)  # hidden variables are the most significant digits
        return cells.reshape(self.visible.cards, order="F")

    def log_table(self) -> Array:
        """``log p`` of all states, hidden variables included, flat with the first variable fastest."""
        table = self.model.basis.energies(self.model.indices, self.model.theta)
        table -= self.model.log_z
        return table

    def sample(self, size: int, rng: np.random.Generator, given: Event | None = None) -> NDArray[np.int64]:
        n = self.checked_size(size)
        allowed = self.allowed(given)
        # Asked only to refuse a condition of probability 0, which sampling would not notice.
        if self.may_exclude:
            self.log_sum(allowed)
        return self.elimination.sample(n, rng, allowed)[:, : len(self.visible)]

    def log_prob(self, codes: Any) -> Array:
        return rows.log_prob(self, self._rows(codes))

    def log_prob_of_states(self, states: NDArray[Any]) -> Array:
        """``log p`` of complete states of all variables."""
        return self.model.log_prob(states)

    def _rows(self, codes: Any) -> Ints:
        """Codes of visible variables as rows of all, the hidden ones not observed."""
        known = checked_codes(codes, self.visible, missing=True)
        padded = np.full((len(known), len(self.model.space)), -1, dtype=np.int64)
        padded[:, : len(self.visible)] = known
        return padded

    def impute(self, codes: Any, how: str = "mode", rng: np.random.Generator | None = None) -> Any:
        known, n = self._rows(self.checked_impute(codes, how, rng)), len(self.visible)
        self._check_rows(known)
        if how == "mean":
            return {name: p for name, p in rows.level_probabilities(self, known).items() if name in self.visible.names}
        if how == "mode" and n < len(self.model.space):
            return rows.likeliest(self, known)[:, :n]
        return rows.impute(self, known, rng if how == "draw" else None)[:, :n]

    @cached_property
    def may_exclude(self) -> bool:
        """Whether the weights are large enough to give any state a probability that counts as 0."""
        return float(np.abs(self.model.theta).sum()) + self.model.log_z > -IMPOSSIBLE

    def _check_rows(self, known: Ints) -> None:
        """Refuse to complete a row whose observed cells have probability 0."""
        partial = np.flatnonzero((known[:, : len(self.visible)] < 0).any(axis=1))
        if self.may_exclude and len(partial):
            # What a row says is at least as probable as any completion of it: one for each row mostly settles it.
            completed = self.log_prob_of_states(np.maximum(known[partial], 0))
            partial = partial[completed < IMPOSSIBLE + log_uniform_rows(known[partial], self.model.space.cards)]
        if self.may_exclude and len(partial):
            uniform = log_uniform_rows(known[partial], self.model.space.cards)
            log_prob = rows.log_prob(self, known[partial])
            worst = int((log_prob - uniform).argmin())
            check_probable(float(log_prob[worst]), f"what row {partial[worst] + 1} says", float(uniform[worst]))
