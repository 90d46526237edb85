"""Questions that need nothing but tables of probabilities: in words, as events, conditionals and information.

A way of summing that fills :meth:`Questions.cells` answers all of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from fullspan.data.space import Space
from fullspan.query.answer import Mode
from fullspan.query.asked import Asked, entropy
from fullspan.query.language.boxes import Box, Codes
from fullspan.query.language.events import Event, check_possible, codes_of, named
from fullspan.query.language.result import MostProbable


class Questions(Asked):
    """Answers by tables ``P(where, event | given)`` over the variables of ``visible``."""

    visible: Space

    @property
    def asked_space(self) -> Space:
        return self.visible

    @abstractmethod
    def mode(self, given: Event | None = None) -> Mode:
        """The most probable state given an event, and its log probability given it."""

    def mode_of(self, given: Box) -> MostProbable:
        """The most probable state of all variables, given an event."""
        found = self.mode(named(given, self.visible))
        return MostProbable(self.visible.labels(found.state.tolist()), found.log_prob)

    def entropy_of(self, where: tuple[int, ...], given: Mapping[int, Codes]) -> float:
        """Entropy of some variables by position, given an event."""
        return entropy(self.cells(where, {}, given))

    def allowed(self, given: Event | None) -> dict[int, Codes]:
        """Codes that an event allows.

        Raises
        ------
        QueryError : it names no level of a variable, or an unknown one.
        """
        codes = codes_of(given, self.visible)
        check_possible(codes, self.visible)
        return codes
