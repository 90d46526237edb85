"""Questions to whatever has a distribution: fitted estimators, and networks from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullspan.errors import QueryError
from fullspan.estimators.inputs.evidence import Evidence
from fullspan.query.distribution import Distribution
from fullspan.query.language.result import Count, Table

Names = str | Sequence[str]


class Questions:
    """Something whose ``distribution_`` answers."""

    @property
    def distribution_(self) -> Distribution:
        """What answers."""
        raise NotImplementedError

    def probability(self, event: Mapping[str, Any] | str, given: Evidence = None) -> float:
        """``P(event | given)``, from a text such as ``"party=democrat | crime=n"`` or from dictionaries."""
        return self.distribution_.probability(event, given)

    def cut_bins(self, question: str, given: Evidence = None) -> tuple[str, ...]:
        """What a question takes from the data inside bins, in words: one sentence for each bound that cuts a bin.

        Empty where all bounds are edges of bins, and the answer is the model's alone.
        """
        return self.distribution_.cut_bins(question, given)

    def expected_rows(self, event: Mapping[str, Any] | str, n_rows: int | None = None) -> Count:
        """How many of ``n_rows`` rows, as many as were learned from by default, an event is expected to hold in.

        The interval of 95 % is that of independent draws from the model: it says nothing of errors of the model.

        Raises
        ------
        QueryError : the event cannot be read, or ``n_rows`` is no whole number of at least 0.
        """
        return self.distribution_.expected_rows(event, n_rows)

    def conditional(self, variables: Names, given: Evidence = None, *others: Any) -> Table:
        """The distribution of one variable or several, given the evidence."""
        if others:
            raise QueryError(
                f"conditional was given {2 + len(others)} arguments; the variables are one list and the evidence comes "
                "second, such as conditional(['a', 'b'], 'c=1') or conditional(['a', 'b'], {'c': 1})"
            )
        return self.distribution_.conditional(variables, given)

    def marginal(self, variables: Names, *others: str) -> Table:
        """The distribution of one variable or several, as a list of names or as ``marginal("a", "b")``."""
        first = [variables] if isinstance(variables, str) else variables
        return self.distribution_.marginal([*first, *others] if others else variables)

    def entropy(self, variables: Names | None = None, given: Mapping[str, Any] | Names | None = None) -> float:
        """Entropy in nats of all variables or some, given an event or other variables.

        ``given`` is an event as a dictionary or a text (``"crime=y"``), or the names of variables; a text that is the
        name of a variable means that variable.
        """
        return self.distribution_.entropy(variables, given)

    def mutual_information(self, a: Names, b: Names, given: Mapping[str, Any] | Names | None = None) -> float:
        """Information in nats that ``a`` and ``b`` have of each other, given as for :meth:`entropy`."""
        return self.distribution_.mutual_information(a, b, given)
