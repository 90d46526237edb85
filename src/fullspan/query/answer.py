"""Exact answers to questions about a log-linear model.

Two ways lead to every answer. A marginal of few variables is a handful of look-ups in the dual table, in microseconds,
with an absolute error of about 1e-16. Where that is not enough, because a probability is small, or where many
variables are involved, the model is restricted to the evidence and summed in the log domain, which is right to
rounding relative to itself.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data.space import Space
from fullspan.engine.elimination.sums import Sums
from fullspan.engine.memory import budget, require
from fullspan.errors import FullspanError, QueryError
from fullspan.model.averaged import refuse_averaged
from fullspan.model.loglinear import LogLinear, checked_codes
from fullspan.query import rows
from fullspan.query.language.boxes import Codes
from fullspan.query.language.events import IMPOSSIBLE, Event, check_possible, check_probable, codes_of, in_words, named
from fullspan.query.language.result import MostProbable
from fullspan.query.probabilities import Probabilities

if TYPE_CHECKING:
    from fullspan.engine.dual.completion import Completer
    from fullspan.engine.dual.table import DualTable

Names = str | Sequence[str]


class Mode(NamedTuple):
    """The most probable state, and its log probability given the evidence."""

    state: NDArray[np.int64]
    log_prob: float


class Oracle(Probabilities):
    """Answers questions about one model; all probabilities are exact up to rounding, all information in nats.

    Parameters
    ----------
    model : the model.
    table : a dual table at the model's weights in double precision; built when first needed unless given.
    max_memory : bytes that tables may take; most of the free memory unless given. A model whose dual table does
        not fit is answered by elimination alone, which raises ``TooLargeError`` if that does not fit either.

    n_hidden : how many of the last variables are never observed. Rows, samples, modes and imputations are then about
        the visible ones, the hidden ones being summed out; other questions may name both.

    Events and conditions are dictionaries ``{name: level}``; a list of levels means any one of them. A condition may
    name a variable that is also asked about: it restricts it, and a contradiction has probability 0.

    Examples
    --------
    >>> from fullspan.model.algebra.basis import Basis
    >>> from fullspan.data.space import Space
    >>> space = Space.of_cards((2, 2))
    >>> log_z = float(np.log(2 * np.exp(0.5) + 2 * np.exp(-0.5)))
    >>> model = LogLinear(space, Basis("walsh", (2, 2)), (((0, 1), (1, 1)),), np.array([0.5]), log_z)
    >>> round(Oracle(model).probability("x0=1 | x1=1"), 4)
    0.7311
    """

    def __init__(
        self, model: LogLinear, table: DualTable | None = None, max_memory: int | None = None, n_hidden: int = 0
    ) -> None:
        if type(self) is Oracle:
            refuse_averaged(model, "an Oracle")
        if table is not None and (table.basis != model.basis or table.dtype != np.float64):
            raise FullspanError(
                f"the oracle needs a float64 table over the model's own basis, not {table.dtype} over "
                f"{table.basis.name} {table.basis.cards}"
            )
        self.model, self.max_memory = model, max_memory
        self.visible = Space(model.space.variables[: len(model.space) - n_hidden])
        self._given_table = table

    @cached_property
    def elimination(self) -> Sums:
        """What answers without a table over all states."""
        return Sums(self.model, self.max_memory)

    @cached_property
    def table(self) -> DualTable | None:
        """The dual table, or None if it would not fit."""
        if self._given_table is not None:
            return self._given_table
        if 8 * self.model.basis.n_states > budget(self.max_memory):
            return None
        from fullspan.engine.dual.table import DualTable

        table = DualTable(self.model.basis, np.float64)
        table.set_theta(dict(zip(self.model.indices, map(float, self.model.theta), strict=True)))
        return table

    def completer(self, room: int) -> Completer:
        """The kernels that weigh up to ``room`` completions of rows with missing cells."""
        from fullspan.engine.dual.completion import Completer

        return Completer(self.model, room)

    # -- states -----------------------------------------------------------------------------------------------

    def mode(self, given: Event | None = None) -> Mode:
        """The most probable state of the visible variables given an event, and its log probability given it."""
        allowed = self._allowed(given)
        if len(self.visible) < len(self.model.space):
            return self._visible_mode(allowed)
        state = self.elimination.mode(allowed)
        return Mode(state, float(-self.model.energy(state[None, :])[0] - self.log_sum(allowed)))

    def mode_of(self, given: Mapping[int, Codes]) -> MostProbable:
        """The most probable state of the visible variables, given an event."""
        found = self.mode(named(given, self.model.space))
        return MostProbable(self.visible.labels(found.state.tolist()), found.log_prob)

    def _visible_mode(self, allowed: Mapping[int, Codes]) -> Mode:
        """The same where hidden variables are summed out: by the table of all visible states."""
        cells = self.elimination.log_sums(tuple(range(len(self.visible))), allowed)
        state = np.array(np.unravel_index(int(np.argmax(cells)), cells.shape), dtype=np.int64)
        return Mode(state, float(cells.max() - self.log_sum(allowed)))

    def check_condition(self, given: Mapping[int, Codes], log_sum: float) -> None:
        """Refuse a condition whose log weight says that its probability is 0."""
        if given:
            check_probable(log_sum - self.model.log_z, f"the condition {in_words(given, self.model.space)}")

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
        table = np.zeros(self.model.basis.n_states)
        table[np.array(self.model.indices, dtype=np.int64)] = self.model.theta
        self.model.basis.synthesise(table)
        table -= self.model.log_z
        return table

    def sample(self, size: int, rng: np.random.Generator, given: Event | None = None) -> NDArray[np.int64]:
        """Independent visible states (size, n) given an event; exact, and fixed by the generator's state.

        Raises
        ------
        QueryError : the size is no whole number of at least 0.
        TooLargeError : the states would not fit into memory; nothing has been allocated.
        """
        if not isinstance(size, numbers.Integral) or isinstance(size, bool) or size < 0:
            raise QueryError(f"a sample of {size!r} states was asked for; give a whole number of at least 0")
        cards = self.model.basis.cards
        require(
            8 * int(size) * (2 * len(cards) + max(cards)),  # codes, what they stand for, one variable's weights
            budget(self.max_memory),
            f"a sample of {size:,} states of {len(cards)} variables",
            "draw fewer at once",
        )
        allowed = self._allowed(given)
        if self.may_exclude:
            self.log_sum(allowed)
        return self.elimination.sample(size, rng, allowed)[:, : len(self.visible)]

    def log_prob(self, codes: Any) -> Array:
        """``log P(observed cells)`` of rows (m, n) -> (m,), where -1 marks a cell that is not observed."""
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

    def conditionals(self, events: Any, givens: Any) -> Array:
        """``P(event | given)`` of many questions at once, as rows of codes (m, n) with -1 for variables left out.

        Raises
        ------
        DataError : shapes or codes are wrong.
        """
        left = checked_codes(events, self.visible, missing=True)
        right = checked_codes(givens, self.visible, missing=True)
        clash = ((left >= 0) & (right >= 0) & (left != right)).any(axis=1)
        joint, condition = self.log_prob(np.where(left >= 0, left, right)), self.log_prob(right)
        check_probable(float(condition.min(initial=0.0)), "a condition")
        return np.where(clash, 0.0, np.exp(np.minimum(joint - condition, 0.0)))

    @overload
    def impute(self, codes: Any, how: rows.How = "mode", rng: np.random.Generator | None = None) -> Ints: ...
    @overload
    def impute(self, codes: Any, how: Literal["mean"], rng: np.random.Generator | None = None) -> dict[str, Array]: ...
    def impute(
        self, codes: Any, how: rows.How | Literal["mean"] = "mode", rng: np.random.Generator | None = None
    ) -> Ints | dict[str, Array]:
        """Ints (m, n) with missing cells (-1) filled in, or the probabilities of what could stand there.

        Parameters
        ----------
        how : ``"mode"`` takes the most probable joint completion of each row (hidden variables are summed out, which
            weighs every completion of the row); ``"draw"`` draws one from its exact
            conditional distribution, so that repeated calls give multiple imputations; ``"mean"`` returns
            ``{name: (m, levels)}``, the probability of each level given the row's observed cells (1 for these).
        rng : needed for ``"draw"``.

        Time: rows with up to 1,024 completions are weighed together; wider gaps cost an elimination per distinct row.

        Raises
        ------
        QueryError : ``how`` is unknown, or draws were asked for without a generator.
        """
        known, n = self._rows(codes), len(self.visible)
        self._check_rows(known)
        if how == "mean":
            return {name: p for name, p in rows.level_probabilities(self, known).items() if name in self.visible.names}
        if how not in ("mode", "draw"):
            raise QueryError(f"how={how!r} is unknown; choose 'mode', 'mean' or 'draw'")
        if how == "mode" and n < len(self.model.space):
            return rows.likeliest(self, known)[:, :n]
        return rows.impute(self, known, how, rng)[:, :n]

    @cached_property
    def may_exclude(self) -> bool:
        """Whether the weights are large enough to give any state a probability that counts as 0."""
        return float(np.abs(self.model.theta).sum()) + self.model.log_z > -IMPOSSIBLE

    def _check_rows(self, known: Ints) -> None:
        """Refuse to complete a row whose observed cells have probability 0."""
        gaps = np.flatnonzero((known[:, : len(self.visible)] < 0).any(axis=1))
        if self.may_exclude and len(gaps):
            log_prob = rows.log_prob(self, known[gaps])
            worst = int(log_prob.argmin())
            check_probable(float(log_prob[worst]), f"what row {gaps[worst] + 1} says")

    def _allowed(self, given: Event | None) -> dict[int, Codes]:
        allowed = codes_of(given, self.model.space)
        check_possible(allowed, self.model.space)
        return allowed
