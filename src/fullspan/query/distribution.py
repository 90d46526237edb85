"""The one protocol of everything that is fitted or read from a file: a probability distribution over discrete states.

A kind of model implements :class:`Distribution`. Questions in words, imputation, comparison, the report, the explorer,
notebooks and the command line use nothing else, so that they work for every kind alike.
"""

from __future__ import annotations

import itertools
import math
import numbers
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.engine.memory import budget, require
from fullspan.errors import FullspanError, QueryError, TooLargeError
from fullspan.model.algebra.basis import Term, expand
from fullspan.model.estimate import Estimate
from fullspan.model.loglinear import LogLinear, checked_codes
from fullspan.query.language.boxes import Box, Codes, both
from fullspan.query.language.events import (
    Event,
    check_possible,
    check_probable,
    codes_of,
    in_words,
    log_uniform,
    log_uniform_rows,
)
from fullspan.query.questions import Mode, Questions, entropy

if TYPE_CHECKING:
    from fullspan.engine.sampling.diagnostics import Diagnostics

How = Literal["mode", "mean", "draw"]
Factors = Mapping[tuple[int, ...], Array]
"""Functions of a few variables, by their positions; one axis per variable."""
MAX_CELLS = 1 << 20
"""Most cells of a table of answers, and most states that are listed to find the likeliest."""
PAIR_WORK = 3e8
"""Table entries that may be read, or numbers of one sweep that may be held, to find all pairs: about a second."""


class Marginals(NamedTuple):
    """The distribution of every variable given an event.

    Attributes
    ----------
    log_z : ``log Z(event) = log Z + log P(event)``, the log-probability of the event where p is normalised by itself;
        NaN where it is not known.
    shares : ``P(x_i | event)`` by name.
    errors : standard errors of the shares where they are estimates; None where they are exact.
    """

    log_z: float
    shares: dict[str, Array]
    errors: dict[str, Array] | None = None


class Distribution(Questions):
    """A probability distribution p over the states of :attr:`space`, hidden variables (if any) summed out of rows.

    A kind of model has to give :attr:`space`, :meth:`log_prob` and :meth:`sample`; all else follows from these two, and
    is overridden where there is a faster or wider method. Rows are arrays (m, n) of codes of the *visible* variables,
    -1 where a cell is not observed. Conditions of :meth:`marginals`, :meth:`sample` and :meth:`mode` are events by
    name, ``{"crime": "y"}``; :meth:`cells`, on which all questions are built, speaks of positions and codes.

    Laws, which ``tests/contract/test_distributions.py`` checks for every implementation against enumeration:

    * normalisation: ``sum_x exp log_prob(x) = 1`` over all complete rows x;
    * a cell that is not observed is summed over: ``exp log_prob(row) = sum_{x agrees with row} exp log_prob(x)``;
    * ``cells(where, event, given) = P(where, event | given)``: summed over ``where`` it is ``P(event | given)``;
      an event that contradicts the condition has probability 0, and a variable of ``where`` may be restricted by both;
    * ``exp log_prob_of_boxes([event]) = cells((), event, {})``;
    * ``marginals(given).shares[name] = cells((i,), {}, given)``, ``marginals(given).log_z = log_z + log P(given)``;
    * ``mode(given)`` has the largest ``p(x | given)`` of all x, and its logarithm;
    * ``sample(n, rng, given)`` are n independent rows from ``p(x | given)``, fixed by the state of ``rng``;
    * a condition of probability 0 is refused with a ``QueryError`` that names it, never answered;
    * answers that are not :attr:`exact` come with their standard errors: :class:`Estimate` instead of a number,
      ``errors`` of tables and marginals, ``log_z.error`` of the log-probabilities of rows.

    Attributes
    ----------
    space, visible : all variables, and the observed ones, which come first.
    log_z : log of the sum that p was normalised by, 0 where p is normalised by construction; with its error.
    exact : whether probabilities, modes and samples are exact up to rounding.
    bound : whether ``log_prob`` is a lower bound.
    complete_rows_only : whether ``log_prob`` refuses rows with missing cells.
    r_hat : of Gibbs chains, the largest R-hat of the answers so far; 1 where none were walked.
    drawn : what the chains of the last sample say about it; None where samples are independent.
    max_memory : bytes that tables and samples may take; most of the free memory if None.
    """

    exact: ClassVar[bool] = True
    bound: bool = False
    complete_rows_only: bool = False
    r_hat: float = 1.0
    drawn: Diagnostics | None = None
    max_memory: int | None = None

    @classmethod
    def of(cls, fitted: Any, max_memory: int | None = None) -> Distribution:
        """The distribution of a fitted record; ``max_memory`` bounds its tables, in bytes."""
        return cls(fitted.model)  # type: ignore[call-arg]

    # -- what a kind must give --------------------------------------------------------------------------------------

    @abstractmethod
    def log_prob(self, rows: Any) -> Array:
        """``log P(observed cells)`` of rows (m, n) of codes -> (m,), in nats; -1 marks a cell that is not observed.

        Raises
        ------
        DataError : the shape or a code is wrong.
        """

    @abstractmethod
    def sample(self, size: int, rng: np.random.Generator, given: Event | None = None) -> Ints:
        """Independent visible states (size, n) given an event, fixed by the generator's state.

        Raises
        ------
        QueryError : the size is no whole number of at least 0, or the event is impossible.
        TooLargeError : the states would not fit into memory; nothing has been allocated.
        """

    # -- what follows, unless a kind does it better --------------------------------------------------------------------

    def log_weight(self, rows: Any) -> Array:
        """``log_prob`` up to a constant, for ratios in which log Z cancels: it need not be known."""
        return self.log_prob(rows)

    def log_prob_of_boxes(self, boxes: Sequence[Box]) -> Array:
        """``log P(box)`` of many events, codes by position -> (m,); -inf where a box is impossible.

        Faster than one by one where the model is a graph, or a mixture of graphs: one order of elimination serves all.

        Raises
        ------
        QueryError, TooLargeError : as :meth:`cells`.
        """
        with np.errstate(divide="ignore"):
            return np.log(np.array([self.cells((), box, {}) for box in boxes], dtype=np.float64))

    def probabilities_of(self, events: Sequence[Event]) -> Array:
        """``P(event)`` of many events by name -> (m,), such as ``[{"age": [30, 31, 32], "sex": "f"}, ...]``.

        Raises
        ------
        QueryError : a name or level is unknown.
        """
        return np.exp(self.log_prob_of_boxes([codes_of(event, self.space) for event in events]))

    @property
    def log_z(self) -> Estimate:
        """Log of the sum that the distribution was normalised by."""
        return Estimate.known(0.0)

    def log_z_given(self, given: Event | None = None) -> float:
        """``log Z(e) = log Z + log P(e)``: the sum over all states that agree with the evidence."""
        return self.log_z.value + self._log_prob_of(self.allowed(given))

    def cells(self, where: tuple[int, ...], event: Box, given: Box) -> Array:
        """``P(where, event | given)``, one axis per variable of ``where``: log-probabilities of rows, summed.

        Raises
        ------
        QueryError : the condition is impossible.
        TooLargeError : the table, or the sum over sets of levels, is too large.
        """
        check_possible(given, self.space)
        shape, norm = self.shape_of(where), self._log_prob_of(given)
        check_probable(norm, f"the condition {in_words(given, self.space)}", log_uniform(given, self.space))
        joint, out = both(given, event), np.zeros(shape)
        if not all(joint.values()):
            return out
        rows, sets = (
            self._rows_of(joint, where),
            [joint.get(i, tuple(range(n))) for i, n in zip(where, shape, strict=True)],
        )
        log = self.log_prob(rows).reshape(*map(len, sets), -1)
        out[np.ix_(*sets) if where else ()] = np.minimum(np.exp(np.logaddexp.reduce(log, axis=-1) - norm), 1.0)
        return out

    def marginals(self, given: Event | None = None) -> Marginals:
        """``log Z(event)``, and ``P(x_i | event)`` of every variable, hidden ones included.

        Raises
        ------
        QueryError : a name or level is unknown, or the event is impossible.
        """
        allowed = self.allowed(given)
        shares = {name: self.cells((i,), {}, allowed) for i, name in enumerate(self.space.names)}
        return Marginals(self.log_z.value + self._log_prob_of(allowed), shares)

    def mode(self, given: Event | None = None) -> Mode:
        """The most probable visible state given an event, and its log-probability given it, by listing all states.

        Raises
        ------
        QueryError : the event is impossible.
        TooLargeError : there are more than 2^20 states.
        """
        allowed = self.allowed(given)
        where = tuple(range(len(self.visible)))
        cells = self.cells(where, {}, allowed)
        state = np.array(np.unravel_index(int(cells.argmax()), cells.shape), dtype=np.int64)
        return Mode(state, math.log(float(cells.max())))

    def joint(self) -> Array:
        """Probabilities of all visible states, one axis per variable.

        Raises
        ------
        TooLargeError : the table is too large; nothing has been allocated.
        """
        return self.cells(tuple(range(len(self.visible))), {}, {})

    def entropy_of(self, where: tuple[int, ...], given: Box) -> float:
        """Entropy of some variables by position, given an event, from the table of their states."""
        return entropy(self.cells(where, {}, given))

    def impute(self, rows: Any, how: str = "mode", rng: np.random.Generator | None = None) -> Any:
        """Rows (m, n) with missing cells (-1) filled in, or the probabilities of what could stand there.

        Parameters
        ----------
        how : ``"mode"`` takes the likeliest completion; ``"draw"`` draws one from its conditional distribution, so that
            repeated calls give multiple imputations; ``"mean"`` returns ``{name: (m, levels)}``, the probability of
            each level given the row's observed cells (1 for these).
        rng : needed for ``"draw"``.

        Raises
        ------
        QueryError : ``how`` is unknown, a generator is lacking, or what a row says is impossible.
        """
        filled = self.checked_impute(rows, how, rng)
        means = {
            name: (filled[:, i, None] == np.arange(card)).astype(np.float64)
            for i, (name, card) in enumerate(zip(self.visible.names, self.visible.cards, strict=True))
        }
        for evidence, members in distinct_rows(filled, np.flatnonzero((filled < 0).any(axis=1))):
            event = self.event_of(evidence)
            if how == "mean":
                shares = self.marginals(event).shares
                for name, mean in means.items():
                    mean[members] = shares[name]
            elif how == "draw" and rng is not None:
                filled[members] = self.sample(len(members), rng, event)
            else:
                filled[members] = self.mode(event).state
        return means if how == "mean" else filled

    def likeliest_cells(self, rows: Any) -> Ints:
        """Rows (m, n) with the likeliest level of each missing cell (-1) on its own, given the row's observed cells.

        More of these are right, cell by cell, than of the likeliest joint completion, which ``impute`` gives; but
        together they may be a state that is unlikely, or impossible.

        Raises
        ------
        QueryError : what a row says is impossible.
        """
        filled = np.array(checked_codes(rows, self.visible, missing=True), dtype=np.int64)
        open_rows = np.flatnonzero((filled < 0).any(axis=1))
        if len(open_rows):
            means = self.impute(filled[open_rows], "mean")
            best = np.stack([means[name].argmax(axis=1) for name in self.visible.names], axis=1)
            filled[open_rows] = np.where(filled[open_rows] < 0, best, filled[open_rows])
        return filled

    def conditionals(self, events: Any, givens: Any) -> Array:
        """``P(event | given)`` of many questions at once, as rows of codes (m, n) with -1 for variables left out.

        Raises
        ------
        DataError : shapes or codes are wrong.
        """
        left = checked_codes(events, self.visible, missing=True)
        right = checked_codes(givens, self.visible, missing=True)
        # Event and condition contradict each other: 0, and not an error, as for events by name.
        clash = ((left >= 0) & (right >= 0) & (left != right)).any(axis=1)
        joint, condition = self.log_prob(np.where(left >= 0, left, right)), self.log_prob(right)
        uniform = log_uniform_rows(right, self.visible.cards)
        check_probable(float((condition - uniform).min(initial=0.0)), "a condition")
        return np.where(clash, 0.0, np.exp(np.minimum(joint - condition, 0.0)))

    def pairs(self, work: float = PAIR_WORK) -> Array | None:
        """(S, S) probabilities of all pairs of levels of the visible variables; None if that takes too long.

        S is the number of levels of all variables together. ``work`` bounds the table entries that are read.
        """
        cards = self.visible.cards
        size, starts = sum(cards), np.cumsum([0, *cards])
        # A table for every pair of variables, each of which may read as many cells as any other question.
        if size * size > work / MAX_CELLS:
            return None
        found = np.zeros((size, size))
        for i, j in itertools.product(range(len(cards)), repeat=2):
            own = self.cells((i, j), {}, {}) if i != j else np.diag(self.cells((i,), {}, {}))
            found[starts[i] : starts[i + 1], starts[j] : starts[j + 1]] = own
        return found

    def reweighed(self, factors: Factors) -> Any:
        """The model of ``p(x) exp(sum_A l_A(x_A))``, normalised, of the same kind.

        Parameters
        ----------
        factors : ``{variables: l_A}`` by position, one axis per variable.

        Raises
        ------
        FullspanError : models of this kind are not closed under such factors.
        """
        raise FullspanError(
            "the margins of this kind of model cannot be changed exactly: it has no terms of its own to add; fit a "
            "FullSpan, a BoltzmannMachine or a FullSpanMixture"
        )

    def renewed(self, factors: Factors) -> Distribution:
        """The distribution of :meth:`reweighed`."""
        return type(self)(self.reweighed(factors))  # type: ignore[call-arg]

    def log_mean(self, factors: Factors) -> float:
        """``log E exp(sum_A l_A(x_A))`` under this distribution, from the table of all variables that are named."""
        where = tuple(sorted({i for scope in factors for i in scope}))
        with np.errstate(divide="ignore"):
            log = np.log(self.cells(where, {}, {}))
        return float(np.logaddexp.reduce((log + spread(factors, where)).ravel()))

    def by_chains(self, rng: np.random.Generator) -> Distribution:
        """The same distribution, asked by Gibbs chains: for models too wide to sum.

        Raises
        ------
        FullspanError : chains have nothing to add to this kind of model.
        """
        raise FullspanError(
            "this model is summed exactly over its own states or nodes, and Gibbs chains add nothing: leave out --gibbs"
        )

    # -- for implementations -----------------------------------------------------------------------------------------

    def allowed(self, given: Event | None) -> dict[int, Codes]:
        """Codes that an event allows, by position.

        Raises
        ------
        QueryError : it names no level of a variable, or an unknown one.
        """
        codes = codes_of(given, self.space)
        check_possible(codes, self.space)
        return codes

    def event_of(self, box: Box) -> dict[str, Any]:
        """Levels by name of a box of single codes."""
        return {self.space.names[i]: self.space.variables[i].levels[codes[0]] for i, codes in box.items()}

    def shape_of(self, where: tuple[int, ...], most: int = MAX_CELLS) -> tuple[int, ...]:
        """Levels of some variables.

        Raises
        ------
        TooLargeError : a table of them would have more than ``most`` cells.
        """
        shape = tuple(self.space.cards[i] for i in where)
        if math.prod(shape) > most:
            raise TooLargeError(
                f"a table of {math.prod(shape):,} cells; {most:,} are possible: ask for fewer variables"
            )
        return shape

    def checked_size(self, size: Any) -> int:
        """The number of states to draw.

        Raises
        ------
        QueryError : it is no whole number of at least 0.
        TooLargeError : the states would not fit into memory.
        """
        if not isinstance(size, numbers.Integral) or isinstance(size, bool) or size < 0:
            raise QueryError(f"a sample of {size!r} states was asked for; give a whole number of at least 0")
        n = len(self.space)
        require(
            16 * int(size) * n,
            budget(self.max_memory),
            f"a sample of {size:,} states of {n} variables",
            "draw fewer at once",
        )
        return int(size)

    def checked_impute(self, rows: Any, how: str, rng: np.random.Generator | None) -> Ints:
        """A copy of the rows to complete.

        Raises
        ------
        DataError, QueryError : the rows, ``how`` or the generator is not what it should be.
        """
        if how not in ("mode", "mean", "draw"):
            raise QueryError(f"how={how!r} is unknown; choose 'mode', 'mean' or 'draw'")
        if how == "draw" and rng is None:
            raise QueryError("draws need a random generator: pass rng=numpy.random.default_rng(seed)")
        return checked_codes(rows, self.visible, missing=True).astype(np.int64)

    def _log_prob_of(self, box: Box) -> float:
        """Log-probability of an event."""
        if not box:
            return 0.0
        return min(float(np.logaddexp.reduce(self.log_prob(self._rows_of(box, ())))), 0.0)

    def _rows_of(self, box: Box, where: tuple[int, ...]) -> Ints:
        """Partial rows whose disjoint union is a box: those of a cell of ``where`` together, the last cell fastest.

        Sets of several levels are written out, so that their number is multiplied.
        """
        # A variable of which every level is allowed is summed out by the model itself.
        others = [i for i, codes in box.items() if i not in where and len(codes) < self.space.cards[i]]
        sets = [box.get(i, tuple(range(self.space.cards[i]))) for i in (*where, *others)]
        if math.prod(map(len, sets)) > MAX_CELLS:
            raise TooLargeError(
                f"an event of {math.prod(map(len, sets)):,} combinations of levels; {MAX_CELLS:,} are summed: "
                "name single levels"
            )
        rows = np.full((math.prod(map(len, sets)), len(self.visible)), -1, dtype=np.int64)
        rows[:, [*where, *others]] = list(itertools.product(*sets))
        return rows


def with_factors(model: LogLinear, factors: Factors, log_mean: float) -> tuple[dict[Term, float], float]:
    """Weights by term, and log Z, of ``p(x) exp(sum_A l_A(x_A) - log_mean)``: those of terms inside the A change."""
    # The mean of the factors under p is what the reweighed distribution is divided by.
    theta, log_z = dict(model.weights), model.log_z + log_mean
    for scope, table in factors.items():
        order = np.argsort(scope)
        coefficients = expand(model.basis, [scope[k] for k in order], np.transpose(table, order))
        for digits in np.ndindex(coefficients.shape):
            if not any(digits):
                log_z -= float(coefficients[digits])  # a constant is no term
                continue
            term = tuple((scope[k], j) for k, j in zip(order.tolist(), digits, strict=True) if j)
            theta[term] = theta.get(term, 0.0) + float(coefficients[digits])
    return theta, log_z


def spread(factors: Factors, where: tuple[int, ...]) -> Array:
    """``sum_A l_A`` as one array with an axis for each variable of ``where``, which increases."""
    total: Array = np.zeros(())
    for scope, table in factors.items():
        order = np.argsort(scope)
        shape = [table.shape[scope.index(i)] if i in scope else 1 for i in where]
        total = total + np.transpose(table, order).reshape(shape)
    return total


def distinct_rows(rows: Ints, members: NDArray[np.intp]) -> Iterator[tuple[dict[int, Codes], NDArray[np.intp]]]:
    """Pairs (observed cells, rows that have just these) of some rows."""
    if not len(members):
        return
    different, inverse = np.unique(rows[members], axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    bounds = np.cumsum(np.bincount(inverse.ravel(), minlength=len(different)))
    for row, stop, start in zip(different, bounds, [0, *bounds[:-1]], strict=True):
        yield {i: (int(x),) for i, x in enumerate(row) if x >= 0}, members[order[start:stop]]
