"""Synthetic tables: rows drawn from a model, with columns, types, order and spelling of the original."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fullspan.data import Empirical
from fullspan.data.relations.columns import NaValues
from fullspan.data.tables.prototype import N_BINS, Prototype, prototype
from fullspan.data.tables.resampling import held_out
from fullspan.errors import DataWarning, require_whole, warn
from fullspan.estimators.answers.drawing import Forbid, conditioned, like_of, listed, texts_of
from fullspan.estimators.inputs.evidence import Evidence
from fullspan.estimators.inputs.reading import Reading
from fullspan.estimators.jobs.checking import SHARE, paired
from fullspan.query.language.parse import parse_event

if TYPE_CHECKING:
    from fullspan.arrays import Ints
    from fullspan.data.space import Space
    from fullspan.query.distribution import Distribution

_STRENGTH = 1.0
"""Most pseudo-rows of a table of a network: its shares are to be those of the rows, and what never happens rare."""
_LEAST_ROWS = 100
"""Rows from which on a fifth of them can choose between models."""
MAX_STATES, MAX_BINNED_STATES = 1 << 20, 1 << 12
"""States up to which the search may take the table of all of them, and the same where columns are cut into bins: their
margins have thousands of terms, with which elimination is far quicker."""
MAX_LEVELS = 400
"""Levels of all columns together up to which the full-span model is tried: a fit of more takes minutes."""


@dataclass(frozen=True, eq=False)
class Synthesizer:
    """A model of a table, and the table as the prototype of what is drawn; :func:`synthesizer` makes it.

    Attributes
    ----------
    prototype : the table, and what is made of its columns.
    distribution : the model of ``prototype.prepared``.
    learn : what learned it, from counts.
    """

    prototype: Prototype
    distribution: Distribution
    learn: Callable[[Empirical], Distribution]

    @property
    def space(self) -> Space:
        """The variables of the model."""
        return self.distribution.visible

    def draw(self, n: int, random_state: Any = None, given: Evidence = None, forbid: Forbid = ()) -> Any:
        """``n`` rows as an Arrow table; see :func:`synthesize`."""
        return self.draw_with_codes(n, random_state, given, forbid)[0]

    def draw_with_codes(
        self, n: int, random_state: Any = None, given: Evidence = None, forbid: Forbid = ()
    ) -> tuple[Any, Ints]:
        """The same, and the codes (n, variables) of the rows under the model."""
        require_whole(0, n_rows=n)
        rng = np.random.default_rng(random_state)
        conditions = [self.prototype.condition(text) for text in texts_of(given)]
        events = [self.prototype.condition(text) for text in listed(forbid)]
        codes = conditioned(self.distribution, n, rng, ", ".join(conditions) or None, events)
        return self.prototype.drawn(codes, self.space, rng), codes

    def like(self, data: Any, n: int | None, random_state: Any, given: Evidence, forbid: Forbid) -> Any:
        """Rows as a frame of the kind that was given, with a warning about columns that it lacks."""
        for note in self.notes():
            if "left out" in note:
                warn(note, DataWarning)
        drawn = self.draw(self.prototype.table.num_rows if n is None else n, random_state, given, forbid)
        return like_of(self.prototype.typed(drawn), data)

    def notes(self) -> list[str]:
        """What a person should know of the columns."""
        found = [f"column {name!r} is left out: it {why}" for name, why in self.prototype.left_out.items()]
        found += [f"column {name!r} numbers the rows, and is numbered anew" for name in self.prototype.numbered]
        return found + [f"column {name!r} is empty, and stays so" for name in self.prototype.empty]


def synthesizer(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    estimator: Any = None,
    bins: int = N_BINS,
    missing: bool = False,
    given: Evidence = None,
    forbid: Forbid = (),
    na_values: NaValues = None,
    verbose: bool = False,
) -> Synthesizer:
    """Learn a model of a table, to draw tables like it.

    Parameters
    ----------
    data : the table, or a :class:`Prototype` of it.
    estimator : what learns the model, unfitted, such as ``FullSpan()``; by default that or a network, whichever
        predicts held-out rows better, and a network where the columns have more than 400 levels together.
    bins : of columns of numbers and dates with more values than that.
    missing : whether missing cells are drawn as well, at the rate and in the places that the model finds.
    given, forbid : conditions that will be drawn under; numbers in them become edges of bins.

    Raises
    ------
    DataError, TooLargeError : as for ``fit``.
    """
    require_whole(2, bins=bins)
    thresholds = [*texts_of(given), *listed(forbid)]
    whole = data if isinstance(data, Prototype) else prototype(data, columns, bins, na_values, thresholds)
    reading = Reading(
        bins=whole.edges or None,
        na_values=[],
        max_levels=256,
        missing=("level" if missing else "em") if whole.has_missing else "error",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of bins and orders that nobody has chosen
        counted = reading.count(whole.prepared)
    for text in thresholds:
        parse_event(whole.condition(text), counted.space)  # what is misspelt is refused before anything is learned
    learn = partial(_best, verbose=verbose) if estimator is None else partial(_by, estimator)
    return Synthesizer(whole, learn(counted), learn)


def _by(estimator: Any, counted: Empirical) -> Distribution:
    """The distribution that an estimator learns."""
    from sklearn.base import clone

    found: Distribution = clone(estimator).partial_fit(counted).distribution_
    return found


def _best(counted: Empirical, verbose: bool = False) -> Distribution:
    """The full-span model where it predicts a fifth of the rows clearly better, and else the network; of all rows.

    The network is learned in a tenth of the time, from complete rows.
    """
    if not counted.is_complete or len(counted.space) < 2 or counted.n_rows < _LEAST_ROWS:
        return _full_span(counted, verbose)
    if sum(counted.space.cards) > MAX_LEVELS:
        return _network(counted)
    learned, rest = held_out(counted, SHARE, np.random.default_rng(0))
    if rest is None:
        return _network(counted)
    states = rest.states.astype(np.int64)
    ahead, error = paired(rest, _full_span(learned).log_prob(states), _network(learned).log_prob(states))
    return _full_span(counted, verbose) if ahead > error else _network(counted)


def _full_span(counted: Empirical, verbose: bool = False) -> Distribution:
    from fullspan.estimators.full_span import FullSpan

    most = MAX_BINNED_STATES if any(v.edges for v in counted.space.variables) else MAX_STATES
    engine: Literal["auto", "elimination"] = "elimination" if counted.space.n_states > most else "auto"
    return FullSpan(engine=engine, verbose=verbose).partial_fit(counted).distribution_


def _network(counted: Empirical) -> Distribution:
    from fullspan.learn.networks.network import fitted_tables
    from fullspan.learn.networks.search import learn_network
    from fullspan.model.graph import FactorGraph
    from fullspan.query.distributions import GraphDistribution

    found, cards = learn_network(counted), counted.space.cards
    shares = fitted_tables(counted, found.parents, min(found.strength, _STRENGTH))
    tables = [
        table.reshape([cards[i] for i in family], order="F")
        for family, table in zip(found.families, shares, strict=True)
    ]
    return GraphDistribution(FactorGraph(counted.space, tuple(map(tuple, found.families)), tuple(tables)))


def synthesize(
    data: Any,
    n_rows: int | None = None,
    *,
    columns: Sequence[str] | None = None,
    estimator: Any = None,
    bins: int = N_BINS,
    missing: bool = False,
    given: Evidence = None,
    forbid: Forbid = (),
    random_state: Any = None,
    na_values: NaValues = None,
) -> Any:
    """A synthetic table: rows drawn from a model of a table, like it in columns, types and order.

    Numbers and dates are drawn within their bin from the data's own values there, so that integers stay integers.
    Columns that number the rows are numbered anew, and other identifiers are left out with a warning.

    Parameters
    ----------
    data : the table: a path, a pandas, polars or Arrow frame, an array, a list of rows or an Ibis table.
    n_rows : rows to draw; as many as the table has by default.
    columns : columns to make; all by default.
    estimator : what learns the model, unfitted, such as ``FullSpan()``; by default that or a network, whichever
        predicts held-out rows better, and a network where the columns have more than 400 levels together.
    bins : of columns of numbers and dates with more values than that.
    missing : whether missing cells are drawn as well; otherwise no cell is missing.
    given : a condition that all rows meet, ``"region=north, age<30"`` or ``{"region": "north"}``. Exact, without
        rejection.
    forbid : events that no row shows, ``"sex=m, pregnant=y"``, or a list of them. Exact, without rejection.
    random_state : seed or generator.
    na_values : texts that mean a missing value, as for :class:`fullspan.FullSpan`.

    Returns
    -------
    A frame of the kind that was given; an Arrow table for a file.

    Raises
    ------
    DataError, TooLargeError : as for ``fit``.
    QueryError : a condition names an unknown column or level, or is impossible.

    Warns
    -----
    DataWarning : a column is left out.

    Examples
    --------
    >>> import fullspan as fs
    >>> rows = {"sex": ["f", "m"] * 40, "age": list(range(20, 60)) * 2}
    >>> drawn = fs.synthesize(rows, 100, given="age<30", forbid="sex=m, age>=25", random_state=0)
    >>> drawn.num_rows, max(drawn["age"].to_pylist()) < 30
    (100, True)
    """
    made = synthesizer(
        data, columns=columns, estimator=estimator, bins=bins, missing=missing, given=given, forbid=forbid,
        na_values=na_values,
    )  # fmt: skip
    return made.like(data, n_rows, random_state, given, forbid)
