"""Questions in words and as events, answered by sums over boxes: what stands on top of every distribution.

With disjoint boxes e_k of the event and g_j of the condition, and a box B around all g_j,

    P(where, event | given) = sum_{jk} P(where, e_k g_j | B) / sum_j P(g_j | B).

Where a bound cuts a bin, each product ``e_k g_j`` and each ``g_j`` is a weighted sum of boxes of whole levels instead
(:mod:`fullspan.query.language.cuts`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.data.space import Space
from fullspan.errors import QueryError, TooLargeError
from fullspan.model.estimate import Estimate
from fullspan.query.language.boxes import EVERYTHING, MAX_BOXES, Box, Boxes, hull, intersection
from fullspan.query.language.cuts import INDEPENDENT, Cuts, Weighed
from fullspan.query.language.events import Event, check_possible, check_probable, codes_of, named, positions
from fullspan.query.language.parse import Query, event_of, parse
from fullspan.query.language.result import Count, MostProbable, Table

Names = str | Sequence[str]
Answer = float | Estimate | Table | MostProbable | Count
"""A probability or nats; the same with its error; a table; the most probable state; a number of rows."""
Given = Event | str | None
"""``{"crime": "y"}``, a text such as ``crime=y or age >= 44``, or nothing."""

MAX_CELLS = 1 << 20
"""Most cells of a table from which an entropy or a most probable state is read."""


class Mode(NamedTuple):
    """The most probable state, and its log-probability given the evidence."""

    state: Ints
    log_prob: float


class Asked(NamedTuple):
    """A question that was read, with all that is given: boxes of the pieces that its bounds cut bins into."""

    query: Query
    event: Boxes
    given: Boxes
    cuts: Cuts


class Questions(ABC):
    """Answers questions about the variables of :attr:`space`; a subclass sums over boxes and finds modes.

    :class:`fullspan.query.distribution.Distribution` is the one subclass that models implement; see the laws there.
    """

    space: Space
    """The variables that a question may name; hidden ones come last."""
    total: float | None = None
    """Rows that the model was learned from, which ``N(...)`` counts; None or 0 where that is not known."""

    @cached_property
    def visible(self) -> Space:
        """The observed variables, the first of :attr:`space`: rows, samples and modes are about these."""
        return self.space

    @abstractmethod
    def cells(self, where: tuple[int, ...], event: Box, given: Box) -> Array:
        """``P(where, event | given)``, one axis per variable of ``where``."""

    @abstractmethod
    def entropy_of(self, where: tuple[int, ...], given: Box) -> float:
        """Entropy of some variables by position, given an event, in nats."""

    @abstractmethod
    def mode(self, given: Event | None = None) -> Mode:
        """The most probable state of all observed variables given an event, and its log-probability given it."""

    def box_probability(self, event: Box, given: Box) -> float:
        """``P(event | given)`` of boxes."""
        return float(self.cells((), event, given))

    # -- questions --------------------------------------------------------------------------------------------

    def ask(self, text: str, given: Given = None) -> Answer:
        """Answer a question in words; ``given`` is known in addition to what the text says.

        ``P(A=a | B=b)`` is a number; ``P(A, C | B=b)`` a table, whose cells are joint with the other events on the
        left; ``H(A | B)`` and ``I(A; C | B)`` are in nats; ``mode(A, C | B=b)`` is the most probable state;
        ``N(A=a)`` counts the rows that are expected in a table as large as that of the fit.

        Raises
        ------
        QueryError : the text cannot be read, or the condition is impossible.
        """
        asked = self._read(text, given)
        query, cuts = asked.query, asked.cuts
        if query.kind == "entropy":
            return self._entropy_given(query.variables or self._all_variables(), query.known, asked.given, cuts)
        if query.kind == "mutual_information":
            return self._information(query.variables, query.others, query.known, asked.given, cuts)
        if query.kind == "count":
            return self._count(self.union_probability(asked.event, asked.given, cuts), None)
        if query.kind == "mode":
            return self._most_probable(query.variables, asked.given, cuts)
        return self.answer(query.variables, asked.event, asked.given, cuts)

    def cut_bins(self, text: str, given: Given = None) -> tuple[str, ...]:
        """What a question takes from the data inside bins, in words: one sentence for each bound that cuts a bin.

        Empty where all bounds are edges of bins.

        Raises
        ------
        QueryError : the text cannot be read.
        """
        return self._read(text, given).cuts.sentences()

    def bin_notes(self, text: str, given: Given = None) -> tuple[str, ...]:
        """What to say of bins under an answer: which were cut, and how, and which numbers stand for a whole bin."""
        cut = self.cut_bins(text, given)
        whole = [sentence for part in (text, given) if isinstance(part, str) for sentence in self._whole_bins(part)]
        return (*cut, *([INDEPENDENT] if cut else []), *dict.fromkeys(whole))

    def _whole_bins(self, text: str) -> tuple[str, ...]:
        return parse(text, self.space).whole_bins

    def answer(
        self, where: tuple[int, ...], event: Boxes, given: Boxes, cuts: Cuts | None = None
    ) -> float | Estimate | Table:
        """``P(where, event | given)``: a table, or one number if ``where`` is empty; with errors where estimated."""
        if where:
            return self.named(where, self.union_cells(where, event, given, cuts))
        return self.union_probability(event, given, cuts)

    def _read(self, text: str | Event | None, given: Given, cuts: Cuts | None = None) -> Asked:
        """A question and what else is given, read with the same pieces of bins."""
        query = parse(text, self.space, cuts) if isinstance(text, str) else Query()
        pieces = query.cuts or cuts or Cuts(self.space)
        event = query.event if isinstance(text, str) else pieces.of_boxes((codes_of(text, self.space),))
        if not isinstance(given, str):
            known = pieces.of_boxes((codes_of(given, self.space),))
        else:
            other = parse(given, self.space, pieces)
            if other.cuts and other.cuts != pieces:
                return self._read(text, given, other.cuts)
            known = event_of(other, given)
        return Asked(query, event, intersection(query.given, known) if given else query.given, pieces)

    def probability(self, event: str | Event, given: Given = None) -> float:
        """``P(event | given)``; the event may be a question in words that asks for one probability.

        Raises
        ------
        QueryError : a name or level is unknown, or the condition is impossible.
        """
        asked = self._read(event, given)
        if asked.query.kind != "probability":
            raise QueryError(f"{event!r} does not ask for a probability: use ask, or the method for that quantity")
        if asked.query.variables:
            name = self.space.names[asked.query.variables[0]]
            raise QueryError(f"{name!r} is given without a level, which asks for a table: use conditional or ask")
        return self.union_probability(asked.event, asked.given, asked.cuts)

    def expected_rows(self, event: str | Event, n_rows: int | None = None) -> Count:
        """How many of ``n_rows`` rows, as many as the model was learned from by default, an event holds in.

        Raises
        ------
        QueryError : the event cannot be read, or the number of rows is not known, or no whole number of at least 0.
        """
        asked = self._read(event, None)
        if isinstance(event, str):
            event_of(asked.query, event)
        return self._count(self.union_probability(asked.event, EVERYTHING, asked.cuts), n_rows)

    def _count(self, probability: float, n_rows: int | None) -> Count:
        n = self.total if n_rows is None else n_rows
        if n is None or (n_rows is None and n == 0):
            raise QueryError(
                "the number of rows behind this model is not known: ask for P(...) and multiply it by your rows; in "
                "Python, expected_rows(event, n_rows=...) does so"
            )
        if (isinstance(n_rows, bool) or n != round(n) or n < 0) and n_rows is not None:
            raise QueryError(f"n_rows is {n_rows!r}; a whole number of at least 0 is needed")
        return Count.of(probability, round(n))

    def conditional(self, variables: Names, given: Given = None) -> Table:
        """``P(variables | given)`` as a table with one axis per variable."""
        where = positions(variables, self.space)
        known = self._read(None, given)
        found = self.answer(where, EVERYTHING, known.given, known.cuts)
        assert isinstance(found, Table)  # some variable is asked about
        return found

    def marginal(self, variables: Names) -> Table:
        """``P(variables)`` as a table with one axis per variable."""
        return self.conditional(variables)

    def most_probable(self, variables: Names = (), given: Given = None) -> MostProbable:
        """The most probable joint state of some variables, of all observed ones unless some are named."""
        where = positions(variables, self.space) if variables else ()
        known = self._read(None, given)
        return self._most_probable(where, known.given, known.cuts)

    def named(self, where: Sequence[int], values: Array) -> Table:
        """Values with the names and levels of their axes."""
        chosen = [self.space.variables[i] for i in where]
        return Table(tuple(v.name for v in chosen), tuple(v.levels for v in chosen), values)

    # -- information ------------------------------------------------------------------------------------------

    def entropy(self, variables: Names | None = None, given: Event | Names | None = None) -> float:
        """``H(variables | given)`` in nats, of all variables unless some are named.

        Given an event (a dictionary, or a text that is no variable's name), the entropy of the distribution
        conditioned on it; given variables by name, the expected entropy once they are known, ``H(A, B) - H(B)``.
        """
        where = self._all_variables() if variables is None else positions(variables, self.space)
        return self._entropy_given(where, *self._known(given))

    def mutual_information(self, a: Names, b: Names, given: Event | Names | None = None) -> float:
        """``I(a; b | given)`` in nats, given nothing, an event, or other variables (by name); never negative."""
        space = self.space
        return self._information(positions(a, space), positions(b, space), *self._known(given))

    def _known(self, given: Event | Names | None) -> tuple[tuple[int, ...], Boxes, Cuts | None]:
        """The variables that are known, the event, and the bins it cuts."""
        space = self.space
        if given is None or isinstance(given, Mapping) or (isinstance(given, str) and given not in space.names):
            known = self._read(None, given)
            return (), known.given, known.cuts
        return positions(given, space), EVERYTHING, None

    def _entropy_given(
        self, where: tuple[int, ...], known: tuple[int, ...], given: Boxes, cuts: Cuts | None = None
    ) -> float:
        if not known:
            return self._entropy(where, given, cuts)
        return max(self._entropy(_joined(where, known), given, cuts) - self._entropy(known, given, cuts), 0.0)

    def _information(
        self,
        a: tuple[int, ...],
        b: tuple[int, ...],
        known: tuple[int, ...],
        given: Boxes,
        cuts: Cuts | None = None,
    ) -> float:
        parts = [_joined(a, known), _joined(b, known), _joined(a, b, known), known]
        h = [self._entropy(part, given, cuts) if part else 0.0 for part in parts]
        return max(h[0] + h[1] - h[2] - h[3], 0.0)

    def _entropy(self, where: tuple[int, ...], given: Boxes, cuts: Cuts | None) -> float:
        if len(given) == 1 and not cuts:
            return self.entropy_of(where, self._around(given))
        return entropy(self._table(where, given, cuts))

    # -- unions of boxes --------------------------------------------------------------------------------------

    def union_probability(self, event: Boxes, given: Boxes, cuts: Cuts | None = None) -> float:
        """``P(event | given)`` of disjoint unions."""
        if len(event) == len(given) == 1 and not cuts:
            return self.box_probability(event[0], self._around(given))
        return float(self.union_cells((), event, given, cuts))

    def union_cells(self, where: tuple[int, ...], event: Boxes, given: Boxes, cuts: Cuts | None = None) -> Array:
        """``P(where, event | given)`` of disjoint unions, one axis per variable of ``where``.

        Raises
        ------
        QueryError : the condition is impossible, or the pieces are too many.
        """
        if len(event) * len(given) > MAX_BOXES:
            raise QueryError(
                f"the event splits into {len(event)} pieces and the condition into {len(given)}; at most {MAX_BOXES} "
                "pairs of them are summed: ask for fewer alternatives at once"
            )
        condition = _weighed(given, cuts)
        around = self._around(tuple(box for _, box in condition))
        joint = _weighed(intersection(event, given), cuts) if cuts or len(given) > 1 else _weighed(event, None)
        pieces = [weight * self.cells(where, box, around) for weight, box in joint]
        total = np.sum(pieces, axis=0) if pieces else np.zeros([self.space.cards[i] for i in where])
        return np.asarray(np.minimum(total / self._share(condition, around), 1.0))

    def _around(self, given: Boxes) -> Box:
        """The box that all sums are conditioned on."""
        if not given:
            raise QueryError(
                "no state satisfies the condition, which has probability 0: no question can be answered given it"
            )
        around = given[0] if len(given) == 1 else hull(given)
        check_possible(around, self.space)
        return around

    def _share(self, given: Weighed, around: Box) -> float:
        """``P(given | around)``, which may not be 0."""
        if len(given) == 1:
            return given[0][0]
        share = sum(weight * self.box_probability(box, around) for weight, box in given)
        check_probable(math.log(share) if share > 0 else -math.inf, "the condition")
        return share

    def _table(self, where: tuple[int, ...], given: Boxes, cuts: Cuts | None = None) -> Array:
        """``P(where | given)``, if it is small enough to be searched."""
        n_cells = math.prod(self.space.cards[i] for i in where)
        if n_cells > MAX_CELLS:
            raise TooLargeError(
                f"a table of {n_cells:,} cells over {len(where)} variables; {MAX_CELLS:,} are possible: name fewer "
                "variables, or a condition without 'or' and with bounds at the edges of bins"
            )
        return self.union_cells(where, EVERYTHING, given, cuts)

    def _most_probable(self, where: tuple[int, ...], given: Boxes, cuts: Cuts | None = None) -> MostProbable:
        if where:
            cells = self._table(where, given, cuts)
            cell = np.unravel_index(int(cells.argmax()), cells.shape)
            variables = [self.space.variables[i] for i in where]
            levels = {v.name: v.levels[int(x)] for v, x in zip(variables, cell, strict=True)}
            return MostProbable(levels, math.log(float(cells[cell])))
        condition = _weighed(given, cuts)
        around = self._around(tuple(box for _, box in condition))
        if len(condition) == 1:
            return self._mode_in(around)
        share = self._share(condition, around)
        found = [(w * p, self._mode_in(box)) for w, box in condition if (p := self.box_probability(box, around)) > 0.0]
        # Modes of different boxes are compared by their joint probability: log P(state | box) + log P(box).
        best = max(found, key=lambda pair: pair[1].log_prob + math.log(pair[0]))
        return MostProbable(best[1].levels, best[1].log_prob + math.log(best[0] / share))

    def _mode_in(self, box: Box) -> MostProbable:
        found = self.mode(named(box, self.space))
        return MostProbable(self.visible.labels(found.state.tolist()), found.log_prob)

    def _all_variables(self) -> tuple[int, ...]:
        return tuple(range(len(self.space)))


def entropy(p: Array) -> float:
    """``-sum p log p``, in nats."""
    return max(-float(np.sum(p * np.log(p, out=np.zeros_like(p), where=p > 0))), 0.0)


def _weighed(boxes: Boxes, cuts: Cuts | None) -> Weighed:
    return cuts.weighed(boxes) if cuts else tuple((1.0, box) for box in boxes)


def _joined(*parts: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(i for part in parts for i in part))
