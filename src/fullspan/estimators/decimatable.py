"""Decimatable Boltzmann machines as a scikit-learn estimator: sparse graphs of any size, exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from fullspan.data.space import Space
from fullspan.errors import FullspanError
from fullspan.estimators.density import DensityEstimator
from fullspan.estimators.inputs.checks import Applies
from fullspan.estimators.inputs.evidence import Evidence
from fullspan.estimators.inputs.reading import say_missing
from fullspan.estimators.inputs.seeds import generator
from fullspan.estimators.inputs.settings import OF_A_CALL, options_of, own_parameters
from fullspan.estimators.inputs.shared_parameters import Seed
from fullspan.estimators.inputs.tables import checked_table, checked_weight
from fullspan.estimators.inputs.targets import counted_with_outputs, refuse_unknown_inputs, share_right
from fullspan.graphs import Graph
from fullspan.model.ising import Ising
from fullspan.query.distributions.decimated import DecimatedDistribution

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.learn.base.reporter import Reporter
    from fullspan.model.fitted import Fitted

_ROLES = ("graph", "inputs", "hidden", "outputs")
"""Parameters whose effect the learner notes: they may be in one graph, or left to the columns."""


@dataclass(eq=False, repr=False)
class DecimatableBoltzmannMachine(Seed, DensityEstimator):
    """Boltzmann machine of two-level variables on a sparse graph, summed out node by node (Rueger 1997).

        p(s) = exp( sum_{ij in graph} w_ij s_i s_j + sum_i w_0i s_i ) / Z,      s_i = +-1

    Exact as the other machines are, but time grows with the number of nodes and not of states: the graph must be
    *decimatable*, which trees, chains, hidden Markov models and all graphs of treewidth 2 are. With outputs,
    p(outputs | inputs) is learned by the information gain (eq. 2), else the joint distribution of all columns.

    Parameters
    ----------
    graph : a :class:`fullspan.graphs.Graph`, which may have roles, pairs of names, ``{name: neighbours}``, or a
        networkx graph. Every column of the table is a node; every node has a bias.
    inputs : columns that are given and not learned. By default those of the graph; if there are outputs, all others.
    hidden : names of nodes that are no columns. By default those of the graph.
    outputs : columns to predict. By default those of the graph, or none. Where ``fit`` is given y, the names of its
        columns; by default its own names, or ``"y"``.
    solver : ``"lbfgs"``, ``"newton"`` (small machines), ``"gradient"``, or ``"em"``, which completes hidden nodes and
        missing cells by their expectations and fits the machine to these, again and again: never downhill, but slow.
    l2 : penalty ``l2 |w|^2 / 2`` in nats per row.
    restarts : number of random starts, of which the best is kept; only with hidden nodes.
    tol : largest difference allowed between the expectations of model and data.
    max_iter : maximum number of iterations; the solver's own limit by default.
    missing : what to do with missing values: report an ``"error"``, ``"drop"`` incomplete rows, or (``"em"``) sum them
        out; inputs must be known.

    Attributes
    ----------
    graph_ : the graph, with its nodes in the order of the columns, hidden ones last.
    machine_ : couplings and fields of s = 2x - 1, a :class:`fullspan.model.ising.Ising`.
    classes_ : the levels of the output, a list of them for several; where there are outputs.
    information_gain_ : ``sum q(inputs) KL(q(. | inputs) || p(. | inputs))`` in nats per row.
    log_likelihood_ : of all rows, given their inputs.
    n_iter_ : steps of the run that was kept.

    Examples
    --------
    >>> from fullspan import DecimatableBoltzmannMachine, graphs
    >>> rows = [[0, 0, 0]] * 4 + [[1, 1, 1]] * 3 + [[0, 0, 1]] * 2 + [[0, 1, 1], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    >>> machine = DecimatableBoltzmannMachine(graphs.chain(3)).fit(rows)
    >>> round(machine.probability("x0=1"), 4)
    0.3846
    """

    graph: Any = None
    inputs: Sequence[str] | None = None
    hidden: Sequence[str] | None = None
    outputs: Sequence[str] | str | None = None
    solver: Literal["lbfgs", "newton", "gradient", "em"] = "lbfgs"
    l2: float = 0.0
    restarts: int = 5
    tol: float = 1e-6
    max_iter: int | None = None

    _applies = (Applies(("restarts",), "hidden nodes", lambda of: bool(of.hidden or getattr(of.graph, "hidden", ()))),)

    @property
    def distribution_(self) -> DecimatedDistribution:
        """The distribution of the machine, given its inputs where it has some."""
        return cast("DecimatedDistribution", super().distribution_)  # which the registry gives this estimator

    # -- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : the table: of the inputs if y is given, else with the outputs among its columns.
        y : (rows,) or (rows, outputs) the outputs, each of which is a node of the graph.
        sample_weight : one weight per row, or, without y, the name of the column that holds them.

        Raises
        ------
        DataError, FullspanError : the table, the graph or a parameter is not what it should be.
        NotDecimatableError : the graph with the clamped nodes cannot be decimated; names the nodes that block it.
        """
        if y is None:
            return super().fit(X, None, sample_weight)

        def posed(table: Any) -> tuple[Empirical, Callable[..., Fitted]]:
            names = self._declared_outputs() or None
            empirical, outputs = counted_with_outputs(self._reading(), table, y, sample_weight, names)
            self.missing_ = say_missing(empirical.missing_cells, verbose=self.verbose)

            def learn(empirical: Empirical, watch: Reporter | None) -> Fitted:
                fitted = self._learn(empirical, watch, outputs)
                return replace(fitted, settings={**fitted.settings, "separate_outputs": True})

            return empirical, learn

        return self._fit(X, None, posed=posed)

    def _declared_outputs(self) -> tuple[str, ...]:
        """The outputs as they are named by the parameters or by the graph."""
        if self.outputs is None:
            return self.graph.outputs if isinstance(self.graph, Graph) else ()
        return (self.outputs,) if isinstance(self.outputs, str) else tuple(self.outputs)

    def _learn(self, empirical: Empirical, watch: Reporter | None, outputs: Sequence[str] | None = None) -> Fitted:
        from fullspan.learn.likelihood.decimatable import DecimatableOptions, fit_decimatable

        options = options_of(self, DecimatableOptions, seed=generator(self.random_state))
        graph = self._graph(empirical.space, self._declared_outputs() if outputs is None else tuple(outputs))
        fitted = fit_decimatable(empirical, graph, options, watch)
        return replace(fitted, settings={**fitted.settings, **own_parameters(self, (*OF_A_CALL, *_ROLES))})

    def _graph(self, space: Space, outputs: tuple[str, ...]) -> Graph:
        """The graph with its roles, those of the parameters first."""
        if self.graph is None:
            raise FullspanError("the machine needs a graph: give graph= as pairs of names, or one of fullspan.graphs")
        roles = self.graph if isinstance(self.graph, Graph) else Graph((), ())
        hidden = roles.hidden if self.hidden is None else tuple(self.hidden)
        inputs = roles.inputs if self.inputs is None else tuple(self.inputs)
        if outputs and self.inputs is None and not roles.inputs:
            inputs = tuple(name for name in space.names if name not in outputs)
        if isinstance(self.graph, Graph):
            return Graph(self.graph.names, self.graph.edges, inputs, hidden, outputs)
        return Graph.of(self.graph, None, inputs, hidden, outputs)

    def _accept(self, fitted: Fitted, kind: str, empirical: Empirical | None = None) -> None:
        super()._accept(fitted, kind, empirical)
        space, settings = fitted.model.space, fitted.settings
        roles = (tuple(settings[role]) for role in ("inputs", "hidden", "outputs"))
        self.graph_ = Graph(space.names, tuple((a, b) for a, b in settings["graph"]), *roles)
        self.machine_ = Ising.of(fitted.model)
        self._inputs, self._outputs = (self.graph_.positions(v) for v in (self.graph_.inputs, self.graph_.outputs))
        self.information_gain_ = fitted.divergence
        self.log_likelihood_ = float("nan") if fitted.goodness is None else fitted.goodness.log_likelihood
        self.n_iter_ = settings["iterations"]
        if settings.get("separate_outputs", settings.get("beside")):  # "beside": its name in files written before
            self._name_columns([name for name in self._visible.names if name not in self.graph_.outputs], kind)
        if self._outputs:
            classes = [np.array(space.variables[i].levels) for i in self._outputs]
            self.classes_ = classes[0] if len(classes) == 1 else classes

    # -- rows -------------------------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """``log p(row)`` in nats, or ``log p(what it says | inputs)`` where there are inputs; shape (rows,).

        Raises
        ------
        DataError : a value is no level, or a cell is missing under ``missing="error"``.
        """
        check_is_fitted(self)
        return self._log_prob(self._codes(X, partial=self.missing != "error"))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """With outputs, the share of rows whose outputs are all predicted right; else the mean of ``log p(row)``.

        Without y the outputs are columns of the table.

        Raises
        ------
        DataError : a value is no level, a cell is missing, or y is not as many outputs as are predicted.
        """
        check_is_fitted(self)
        if y is not None and self._outputs:
            return share_right(self.predict(X), y, sample_weight)
        table = self._table(X, len(self._visible))
        empirical = self._reading().count_again(table, self._visible, checked_weight(sample_weight))
        if not self._outputs:
            return float(empirical.counts @ self._log_prob(empirical.states)) / empirical.total
        refuse_unknown_inputs(empirical.states, self._visible)
        likeliest = self.distribution_.means(empirical.states[:, list(self._inputs)])[:, list(self._outputs)] > 0.5
        right = (likeliest == empirical.states[:, list(self._outputs)]).all(axis=1)
        return float(np.average(right, weights=empirical.counts))

    def sample(self, n_samples: int = 1, random_state: Any = None, given: Evidence = None) -> Any:
        """Draw rows, independent and exact, by reversing the decimation; all inputs must be given.

        Raises
        ------
        FullspanError : an input is not given: the distribution of inputs was not learned.
        """
        return super().sample(n_samples, random_state, given)

    # -- predicting -------------------------------------------------------------------------------------------

    def predict_proba(self, X: Any, column: str | None = None) -> Any:
        """Probability of each level of the output, (rows, 2); a list of such arrays for several outputs.

        A machine without outputs or inputs predicts any ``column`` from the others, and each of them if none is named.

        Raises
        ------
        FullspanError : the machine has inputs, and a column is named or there are no outputs.
        DataError : an input is missing, or has a value that is no level.
        """
        check_is_fitted(self)
        if column is not None or not (self._outputs or self._is_conditional()):
            return super().predict_proba(X, column)
        ones = self.distribution_.means(self._input_codes(X))[:, list(self._outputs)]
        found = [np.stack([1.0 - p, p], axis=1) for p in ones.T]
        return found[0] if len(found) == 1 else found

    def predict(self, X: Any, column: str | None = None) -> NDArray[Any]:
        """The likeliest level of each output, (rows,), or (rows, outputs) for several; see :meth:`predict_proba`."""
        check_is_fitted(self)
        if column is not None or not (self._outputs or self._is_conditional()):
            return super().predict(X, column)
        found = self.predict_proba(X)
        if isinstance(found, list):
            return np.stack([c[p.argmax(axis=1)] for c, p in zip(self.classes_, found, strict=True)], axis=1)
        return np.asarray(self.classes_[found.argmax(axis=1)])

    def _input_codes(self, X: Any) -> NDArray[np.int32]:
        check_is_fitted(self)
        if not self._outputs:
            raise FullspanError("the machine has no outputs; name them with outputs= to predict")
        table = checked_table(X)
        if isinstance(table, np.ndarray) and table.ndim == 2:
            table = self._inputs_among(table)
        known = Space(tuple(self.space_.variables[i] for i in self._inputs))
        checked = checked_table(table, len(known), type(self).__name__)
        codes = self._reading().encode(checked, known, allow_missing=False)
        refuse_unknown_inputs(codes, known)
        return codes

    def _inputs_among(self, table: NDArray[Any]) -> NDArray[Any]:
        """The inputs of an array that has all columns, or all but the outputs."""
        columns = list(range(len(self._visible)))
        for given in (columns, [i for i in columns if i not in self._outputs]):
            if table.shape[1] == len(given):
                return table[:, [given.index(i) for i in self._inputs]]
        return table
