"""The full-span log-linear model as a scikit-learn estimator: its terms are searched for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from fullspan.data import Empirical
from fullspan.errors import DataError, FullspanError
from fullspan.estimators.checkpoints import Checkpoints, restored_on_error
from fullspan.estimators.density import DensityEstimator
from fullspan.estimators.engines import choose_engine, wide_options
from fullspan.estimators.inputs.checks import Applies, check_estimator
from fullspan.estimators.inputs.evidence import Hidden, hidden_variables
from fullspan.estimators.inputs.reading import say_missing
from fullspan.estimators.inputs.seeds import generator
from fullspan.estimators.inputs.settings import options_of, own_parameters
from fullspan.estimators.inputs.shared_parameters import Memory, Seed
from fullspan.estimators.inputs.tables import checked_table, checked_weight, kind_of

if TYPE_CHECKING:
    from fullspan.data.space import Variable
    from fullspan.estimators.inputs.reading import Reading
    from fullspan.learn.private.accountant import Privacy
    from fullspan.learn.search.options import Options
    from fullspan.learn.wide.fit import WideOptions
    from fullspan.model import LogLinear
    from fullspan.model.fitted import Fitted
    from fullspan.model.record import StepLike

    Watch = Callable[[StepLike], None]


_NOT_PRIVATE = (
    *("search", "penalty", "l1", "max_order", "engine", "max_width", "hidden", "average", "shrinkage", "dtype"),
    *("device", "checkpoint", "count_column", "max_levels", "max_memory"),
)
"""Parameters of the search, and of tables, that a private fit does not have."""
_OF_A_CALL = ("verbose", "checkpoint", "checkpoint_every", "resume", "private")
"""Parameters that say nothing about the model, and the budget, which the learner notes."""


class StreamingEstimator(DensityEstimator):
    """An estimator that can go on where it stopped counting."""

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, learn: bool = True) -> Self:
        """Add the rows of a further table, and learn the model of all rows so far.

        The model is that of ``fit`` on all rows at once: the counts add up, and the search starts anew from them; its
        time does not grow with the rows. Columns that the first table has cut into bins keep their edges.

        A call that raises leaves counts and model as they were, so that it can be repeated. A search that Ctrl-C stops
        with a model at hand does not raise: it warns, and its rows are counted.

        Parameters
        ----------
        X : the table; or counts that were made elsewhere, an :class:`fullspan.data.Empirical`.
        y : ignored.
        sample_weight : one weight per row, or the name of the column that holds them; None with counts, which are
            weighted already.
        learn : False adds the counts only; the model stays as it is until the next table.

        Raises
        ------
        DataError, TooLargeError : as for ``fit``; or the table has other variables than those before, or
            weights were given with counts.
        FullspanError : the model was read from a file, which holds no counts.
        """
        started = time.perf_counter()
        check_estimator(self)
        before: Empirical | None = getattr(self, "_counted", None)
        if before is None and hasattr(self, "model_"):
            raise FullspanError("a model file holds no counts to add to; fit the earlier rows again first")
        counts, kind = self._count_further(X, sample_weight, before)
        with restored_on_error(self):
            self.missing_ = say_missing(counts.missing_cells, verbose=self.verbose)
            self._counted = counts if before is None else before + counts
            if learn:
                with self._watched() as watch:
                    fitted = self._learn(self._counted, watch)
                self._warn(fitted)
                seconds = time.perf_counter() - started
                self._accept(self._noted(fitted), kind, self._counted)
                self._record(self._counted, seconds)
        return self

    def _count_further(self, X: Any, sample_weight: Any, before: Empirical | None) -> tuple[Empirical, str]:
        """The counts of a further table, and its kind."""
        if isinstance(X, Empirical):
            if sample_weight is not None:
                raise DataError(
                    "counts were given with sample_weight=; they are weighted already: give the weights to "
                    "fullspan.data.count, or give the table itself"
                )
            return X, kind_of(X)
        table = checked_table(X, self._width(before), type(self).__name__)
        return self._further(before).count(table, checked_weight(sample_weight)), kind_of(table)

    def _width(self, before: Empirical | None) -> int | None:
        """Columns that a further array must have, where all of them are variables."""
        reading = self._reading()
        return None if before is None or reading.columns or reading.count_column else len(before.space)

    def _further(self, before: Empirical | None) -> Reading:
        """How to read the next table: the same columns, and the bins that there are."""
        reading = self._reading()
        if before is None:
            return reading
        edges = {v.name: list(v.edges) for v in before.space.variables if v.edges is not None}
        return replace(reading, bins=edges or None) if reading.bins is not None else reading


@dataclass(eq=False, repr=False)
class FullSpan(Memory, Seed, StreamingEstimator):
    """Exact log-linear model of discrete data, its terms chosen from all orders by description length.

        p(x) = exp(sum_y theta_y Phi_y(x) - log Z),      y in the chosen terms

    Parameters
    ----------
    search : ``"full"``, terms and whole margins with joint refits and pruning; ``"paper"``, the published algorithm.
    basis : ``"walsh"``, ``"indicator"`` or ``"monomial"``; ``"auto"`` keeps the one with the shortest description.
    penalty : price of a term, ``"mdl"``, ``"combinatorial"``, ``"bic"``, or a factor on ``"mdl"``. With
        ``search="paper"`` or ``l1`` that is the paper's description length, or BIC; ``"bic"`` is refused elsewhere. The
        default search takes only the price of the names from it, for margins once, and one nat per effective weight.
    l1 : weight of an L1 penalty on the weights; above 0, terms are searched one at a time, whatever ``search`` says.
    epsilon : stop when a step gains less, in nats per row; only for ``search="paper"`` or ``l1`` above 0.
    max_order : maximum number of variables in a term; any by default.
    engine : ``"table"``, the dual table of all states; ``"elimination"``, terms of any order whose elimination stays
        cheap, for hundreds of variables; ``"auto"`` takes the table unless it would take minutes, or more
        memory than is free, or more than 1 GiB and more than 100 KiB per row (``max_memory=`` sets another limit). See
        ``docs/cookbook/wide.md``. ``search``, ``l1``, ``epsilon``, ``dtype`` and ``device`` need the table.
    max_width : by elimination, the maximum number of variables that remain when one is summed out; None for no limit
        but the budget of cells.
    hidden : variables that are never observed: a number of binary ones, names, or ``{name: levels}``. The search is
        then repeated on completed data, and the model without them is kept if its description is shorter. By
        elimination it begins with latent classes, runs once, and keeps them.
    restarts : number of random starts where there are hidden variables.
    average : number of fits, of the rows and of bootstrap samples, whose distributions are averaged, together with
        networks, mixtures and pairwise models as far as they improve the likelihood of held-out rows. That predicts
        better and takes up to ``average`` times as long; 1 for a single fit. By elimination, one search is stacked with
        a continuous latent variable, mixtures and hidden trees, the larger the higher the number. See
        ``docs/models/averages.md``.
    max_seconds : time limit of ``average`` in seconds; None for no limit. What was learned by then is averaged.
    shrinkage : ``"evidence"`` mixes a second model in, with all interactions of as many orders as 20,000 weights allow,
        shrunken by a prior set by evidence; its share is the one that predicts held-out rows best. ``terms_`` and its
        standard errors are those of the search alone.
    dtype : precision of the tables, ``"auto"``, ``"float32"`` or ``"float64"``.
    device : ``"cpu"``, ``"cuda"``, ``"sharded"`` (all devices that JAX sees, see ``docs/devices.md``), or ``"auto"``: a
        GPU if there is one and the table is large and fits it.
    private : a :class:`fullspan.Privacy`: learn under differential privacy. Everything read from the rows is noisy and
        charged to the budget, also levels that are not given. ``levels`` and the edges of ``bins`` must not be made
        from the rows. The model file holds no counts, fingerprints or history. See ``docs/cookbook/private.md``.
    checkpoint : file to which the search writes its best model so far.
    checkpoint_every : seconds between two checkpoints.
    resume : start from the checkpoint, if there is one, in its basis.

    Attributes
    ----------
    terms_ : the chosen terms in words, with order, weight, standard error and nats saved, strongest first; with
        ``average``, how often each was chosen, and mean and spread of its weight.
    oob_score_, oob_error_ : with ``average``, the mean log-likelihood of a row under what has not seen it, and its
        standard error; None otherwise.
    n_terms_ : number of terms.
    space_ : the variables and their levels.
    model_ : the model itself, a :class:`fullspan.model.loglinear.LogLinear`.
    log_z_ : log of its partition function.
    divergence_ : KL(data || model) in nats per row.
    description_length_ : nats to describe model and data.
    history_ : the moves of the search.
    status_ : how it ended, such as ``"converged"`` or ``"interrupted"``.
    n_features_in_, feature_names_in_ : as in scikit-learn; names only where the table has them.

    Notes
    -----
    A table is a path, a pandas, polars or Arrow frame, an array, a list of rows or an Ibis table. Columns are found by
    name where there are names, so that their order does not matter. Memory is two tables of ``prod_i |X_i|`` numbers.
    Standard errors after the default search are posterior standard deviations of the weights under the fitted prior;
    after the one-at-a-time search there is no prior, and they come from the Fisher information alone.

    References
    ----------
    Takabatake & Akaho (2022), full-span log-linear model and fast learning algorithm.

    Examples
    --------
    >>> from fullspan import FullSpan
    >>> model = FullSpan().fit([["rain", "wet"]] * 60 + [["dry", "dry"]] * 30 + [["dry", "wet"]] * 10)
    >>> max(term.order for term in model.terms_)
    2
    """

    search: Literal["full", "paper"] = "full"
    basis: Literal["auto", "walsh", "indicator", "monomial"] = "auto"
    penalty: str | float = "mdl"
    l1: float = 0.0
    epsilon: float = 1e-4
    max_order: int | None = None
    engine: Literal["auto", "table", "elimination"] = "auto"
    max_width: int | None = None
    hidden: Hidden = 0
    restarts: int = 5
    average: int = 1
    max_seconds: float | None = 600.0
    shrinkage: Literal["evidence"] | None = None
    dtype: Literal["auto", "float32", "float64"] = "auto"
    device: Literal["auto", "cpu", "cuda", "sharded"] = "auto"
    private: Privacy | None = None
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: float = 30.0
    resume: bool = False

    _applies = (
        Applies(("epsilon",), "search='paper' or l1 above 0", lambda of: of.search == "paper" or of.l1 > 0),
        Applies(("restarts",), "hidden variables", lambda of: bool(of.hidden)),
        Applies(("dtype",), "the table, engine='table' or 'auto'", lambda of: of.engine != "elimination"),
        Applies(("checkpoint_every",), "checkpoint=", lambda of: of.checkpoint is not None),
        Applies(("max_seconds",), "average= above 1", lambda of: of.average > 1),
        Applies(_NOT_PRIVATE, "a fit without private=", lambda of: of.private is None),
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, validation: Any = None) -> Self:
        """Learn the model of a table.

        Parameters
        ----------
        X : the table.
        y : ignored.
        sample_weight : one weight per row, or the name of the column that holds them.
        validation : a further table with the same columns, on which models are weighed; only for ``average`` above 1
            where the search is by elimination. Without one, a tenth of the rows is held out there.

        Raises
        ------
        DataError, TooLargeError : the table cannot be read, or its states are too many.
        FullspanError : a parameter is not what it should be, or ``validation`` has no effect.

        Warns
        -----
        ConvergenceWarning : the learner was stopped early; the best model so far is kept.
        """
        if self.private is not None:
            return self._fit_privately(X, sample_weight, validation)
        return self._fit(X, sample_weight, validation)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, learn: bool = True) -> Self:
        if self.private is not None:
            raise FullspanError("a private model is learned from one table, whose counts are not kept; use fit")
        return super().partial_fit(X, y, sample_weight, learn)

    partial_fit.__doc__ = StreamingEstimator.partial_fit.__doc__

    def _fit_privately(self, X: Any, sample_weight: Any, validation: Any) -> Self:
        """Learn from noisy counts; nothing else of the rows is kept or measured."""
        from fullspan.estimators.private import learn_privately

        check_estimator(self)
        if sample_weight is not None or validation is not None:
            raise FullspanError("with private= every row counts once: leave out sample_weight= and validation=")
        table = checked_table(X)
        fitted = learn_privately(self, table)
        with restored_on_error(self):
            self.missing_: Mapping[str, Mapping[str, int]] = {}
            self._accept(self._noted(fitted), kind_of(table))
        return self

    def _accept(self, fitted: Fitted, kind: str, empirical: Empirical | None = None) -> None:
        super()._accept(fitted, kind, empirical)
        if self.private is not None:  # a file has it as a dictionary
            from fullspan.estimators.private import checked_privacy

            self.private = checked_privacy(self.private)

    def _learn(self, empirical: Empirical, watch: Watch | None, valid: Empirical | None = None) -> Fitted:
        from fullspan.learn.search.options import Options

        options = options_of(self, Options)
        hidden, shrinks = hidden_variables(self.hidden), self.shrinkage is not None
        checkpoints = Checkpoints.of(self, watch)
        start = checkpoints.start(empirical, hidden)
        watch = checkpoints if checkpoints.path is not None else watch
        engine = self.engine if start is None else "table"
        choice = choose_engine(engine, empirical, options, hidden, shrinks=shrinks)
        if valid is not None and not (choice.is_wide and self.average > 1):
            raise FullspanError(
                "validation= has no effect here: it weighs models for average= above 1, searched by elimination"
            )
        if choice.is_wide and (self.average > 1 or shrinks):
            if hidden:
                raise FullspanError(
                    f"average={self.average} by elimination does not support hidden variables; leave out hidden=, or "
                    "average= for one search with them"
                )
            fitted = self._stacked(empirical, wide_options(options, self.max_width), valid, watch)
        else:
            fitted = self._searched(empirical, options, hidden, choice.is_wide, watch, start)
        fitted = choice.noted(fitted)
        return replace(fitted, settings={**fitted.settings, **own_parameters(self, _OF_A_CALL)})

    def _searched(
        self,
        empirical: Empirical,
        options: Options,
        hidden: tuple[Variable, ...],
        is_wide: bool,
        watch: Watch | None,
        start: LogLinear | None,
    ) -> Fitted:
        from fullspan.learn.search.fit import fit_search

        shrinks, k, state = self.shrinkage is not None, self.average, self.random_state
        if k > 1 or shrinks:
            from fullspan.learn.ensemble import averaged_search, shrunken_search

            if not shrinks:
                return averaged_search(
                    empirical, options, hidden, self.restarts, k, state, watch, max_seconds=self.max_seconds
                )
            if hidden:
                raise FullspanError(
                    "shrinkage='evidence' does not support hidden variables; leave out hidden= or shrinkage="
                )
            return shrunken_search(empirical, options, k, state, watch, self.max_seconds)
        if is_wide:
            from fullspan.learn.wide.fit import fit_wide

            wide = wide_options(options, self.max_width)
            return fit_wide(empirical, wide, watch, hidden, self.restarts, generator(state))
        return fit_search(empirical, options, watch, start, None, hidden, self.restarts, generator(state))

    def _stacked(self, empirical: Empirical, wide: WideOptions, valid: Empirical | None, watch: Watch | None) -> Fitted:
        """The search by elimination, stacked with models of other kinds."""
        from fullspan.learn.ensemble import StackOptions, stacked_wide

        where = "cuda" if self.device == "cuda" else "cpu"
        own = StackOptions(self.average, wide, self.max_seconds, generator(self.random_state), where)
        return stacked_wide(empirical, own, valid, watch)
