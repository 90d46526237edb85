"""The full-span log-linear model as a scikit-learn estimator: its terms are searched for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fullspan.data.space import Level
from fullspan.estimators.density import generator
from fullspan.estimators.engines import choose_engine, wide_options
from fullspan.estimators.hidden import Hidden, hidden_variables
from fullspan.estimators.inputs.streaming import StreamingEstimator
from fullspan.estimators.settings import of_hidden, refuse_hidden

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.data.space import Variable
    from fullspan.learn.search.fit import Options
    from fullspan.model import LogLinear
    from fullspan.model.fitted import Fitted, StepLike

    Watch = Callable[[StepLike], None]


class FullSpan(StreamingEstimator):
    """Exact log-linear model of discrete data, its terms chosen from all orders by description length.

        p(x) = exp(sum_y theta_y Phi_y(x) - log Z),      y in the chosen terms

    Parameters
    ----------
    search : ``"full"``, terms and whole margins with joint refits and pruning; ``"paper"``, the published algorithm.
    basis : ``"auto"`` keeps the shorter description; ``"walsh"``, ``"indicator"`` or ``"monomial"``.
    penalty : ``"mdl"`` (the paper's description length), ``"combinatorial"``, ``"bic"``, or a factor on ``"mdl"``.
    l1 : weight of an L1 penalty on the weights; above 0, terms are searched one at a time, whatever ``search`` says.
    epsilon : the one-at-a-time search (``search="paper"`` or ``l1 > 0``) stops when a step gains less, in nats per row;
        the default search does not use it.
    max_order : most variables in a term; any by default.
    engine : ``"table"``, the dual table of all states; ``"elimination"``, margins whose elimination stays within
        ``max_width``, for hundreds of variables; ``"auto"`` takes the table unless it would take minutes, or more
        memory than is free or than 1 GiB and 100 KiB per row (``max_memory=`` sets another limit). See
        ``docs/wide.md``; ``search``, ``l1``, ``epsilon``, ``hidden``, ``dtype`` and ``device`` are of the table.
    max_width : most variables that one is joined to at once under ``engine="elimination"``; None for 4.
    hidden : variables that are never observed: a number of binary ones, names, or ``{name: levels}``. The search is
        then repeated on completed data, and the model without them is kept if its description is shorter.
    restarts : random first completions where there are hidden variables.
    random_state : seed or generator of these, and of the bootstrap samples.
    average : fits of the rows and of bootstrap samples whose distributions are averaged, with networks, mixtures and
        machines of all pairs beside them as far as unseen rows ask for it. That predicts better and takes up to so many
        times the time; 1 for one fit of the rows as they are. See ``docs/averaging.md``.
    shrinkage : ``"evidence"`` mixes a second model in, with all interactions of as many orders as 20,000 weights allow,
        shrunken by a prior that the data set themselves; its share is what unseen rows ask for. ``terms_`` and its
        standard errors are those of the search alone.
    missing : missing cells are an ``"error"``, ``"drop"`` their rows, are a ``"level"`` of their own, or are
        summed over, ``"em"``: the likelihood is that of the observed cells, and no row is lost.
    bins : cut numeric columns: a number of quantile bins, or ``{name: k | ("width", k) | edges}``.
    levels : ``{name: levels in order}`` for columns whose levels should not be inferred.
    columns : the columns to use, in order; all by default.
    count_column : the column that holds the count of each row.
    max_levels : most levels a column may have.
    na_values : texts that mean a missing cell, as a list for all columns or ``{column: texts}``; ``[]`` if only empty
        cells are missing. By default ``?``, ``NA``, ``N/A``, ``NaN``, ``null`` and ``None`` in CSV and TSV files.
    handle_unknown : a value that the model has no level for, in a further table: ``"error"``, or ``"missing"``, which
        takes it as a missing cell.
    dtype : numbers of the tables, ``"auto"``, ``"float32"`` or ``"float64"``.
    device : ``"cpu"``, ``"cuda"``, ``"sharded"`` (all devices that JAX sees, see ``docs/devices.md``), or ``"auto"``: a
        GPU if there is one and the table is large and fits it.
    max_memory : most bytes to use; the memory that is free by default.
    verbose : tell the progress on standard error.

    Attributes
    ----------
    terms_ : the chosen terms in words, with order, weight, standard error and nats saved, strongest first; with
        ``average``, how often each was chosen, and mean and spread of its weight.
    oob_score_, oob_error_ : with ``average``, the mean log-likelihood of a row under what has not seen it, and its
        standard error; None otherwise.
    n_terms_ : their number.
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

    def __init__(
        self,
        search: str = "full",
        basis: str = "auto",
        penalty: str | float = "mdl",
        l1: float = 0.0,
        epsilon: float = 1e-4,
        max_order: int | None = None,
        engine: str = "auto",
        max_width: int | None = None,
        hidden: Hidden = 0,
        restarts: int = 5,
        average: int = 1,
        shrinkage: str | None = None,
        random_state: Any = None,
        missing: str = "error",
        bins: Any = None,
        levels: Mapping[str, Sequence[Level]] | None = None,
        columns: Sequence[str | int] | None = None,
        count_column: str | None = None,
        max_levels: int = 64,
        na_values: Any = None,
        handle_unknown: str = "error",
        dtype: str = "auto",
        device: str = "auto",
        max_memory: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.search = search
        self.basis = basis
        self.penalty = penalty
        self.l1 = l1
        self.epsilon = epsilon
        self.max_order = max_order
        self.engine = engine
        self.max_width = max_width
        self.hidden = hidden
        self.restarts = restarts
        self.average = average
        self.shrinkage = shrinkage
        self.random_state = random_state
        self.missing = missing
        self.bins = bins
        self.levels = levels
        self.columns = columns
        self.count_column = count_column
        self.max_levels = max_levels
        self.na_values = na_values
        self.handle_unknown = handle_unknown
        self.dtype = dtype
        self.device = device
        self.max_memory = max_memory
        self.verbose = verbose

    def _learn(self, empirical: Empirical, watch: Watch | None, start: LogLinear | None = None) -> Fitted:
        """The model of counted data; the search begins at ``start`` instead of at independence, where it is given."""
        from fullspan.learn.search.fit import Options

        options = Options(**{name: getattr(self, name) for name in _OPTIONS})
        hidden, shrinks = hidden_variables(self.hidden), self.shrinkage is not None
        engine = self.engine if start is None else "table"
        choice = choose_engine(engine, empirical, options, hidden, shrinks=shrinks)
        fitted = choice.noted(self._searched(empirical, options, hidden, choice.is_wide, watch, start))
        return replace(fitted, settings={**fitted.settings, **self._given()})

    def _searched(
        self,
        empirical: Empirical,
        options: Options,
        hidden: tuple[Variable, ...],
        is_wide: bool,
        watch: Watch | None,
        start: LogLinear | None,
    ) -> Fitted:
        from fullspan.learn.search.fit import fit

        shrinks, k, state = self.shrinkage is not None, self.average, self.random_state
        if k > 1 or shrinks:
            from fullspan.estimators.averaging import averaged_search, averaged_wide, shrunken_search

            if is_wide:
                return averaged_wide(empirical, wide_options(options, self.max_width), k, state, watch)
            if not shrinks:
                return averaged_search(empirical, options, hidden, self.restarts, k, state, watch=watch)
            refuse_hidden(hidden)
            return shrunken_search(empirical, options, k, state, watch)
        if is_wide:
            from fullspan.learn.wide.fit import fit_wide

            return fit_wide(empirical, wide_options(options, self.max_width), watch)
        if not hidden:
            return fit(empirical, options, watch=watch, start=start)
        from fullspan.learn.search.incomplete import fit_incomplete

        return fit_incomplete(empirical, options, hidden, self.restarts, generator(state), watch, start)

    def _given(self) -> dict[str, Any]:
        """The parameters of the search as they were given, in JSON's types."""
        own = {name: getattr(self, name) for name in (*_OPTIONS, *_ABOUT_THEM)}
        return {**own, **of_hidden(hidden_variables(self.hidden), self.random_state)}


_OPTIONS = ("search", "basis", "penalty", "l1", "epsilon", "max_order", "dtype", "max_memory", "device")
_ABOUT_THEM = ("engine", "max_width", "restarts", "average", "shrinkage")
