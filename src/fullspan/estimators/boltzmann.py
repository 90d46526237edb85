"""Exact Boltzmann machines as a scikit-learn estimator: the terms are given, the weights are learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from sklearn.utils.validation import check_is_fitted

from fullspan.data.space import Level
from fullspan.errors import FullspanError
from fullspan.estimators.density import DensityEstimator
from fullspan.estimators.explain.endings import diverging_terms, warn_at_boundary, warn_unmixed
from fullspan.estimators.inputs.checks import Applies, check_estimator
from fullspan.estimators.inputs.evidence import Evidence, Hidden, hidden_variables
from fullspan.estimators.inputs.seeds import generator
from fullspan.estimators.inputs.settings import noted, options_of
from fullspan.estimators.inputs.shared_parameters import Memory, Seed
from fullspan.estimators.inputs.tables import empty_of
from fullspan.learn.likelihood import solvers

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.learn.base.reporter import Reporter
    from fullspan.learn.likelihood.options import MachineOptions
    from fullspan.model.estimate import Estimate
    from fullspan.model.fitted import Fitted
    from fullspan.query.language.result import Table


@dataclass(eq=False, repr=False)
class BoltzmannMachine(Memory, Seed, DensityEstimator):
    """Exact maximum likelihood of a log-linear model with given terms: a Boltzmann machine of any order.

        p(x) = exp(sum_y theta_y Phi_y(x) - log Z),      y in the given terms

    so that the expectations of all given terms are those of the data. Variables may have any number of levels, some
    may be hidden, and cells may be missing.

    Parameters
    ----------
    order : maximum number of variables in a term; with a graph, in a clique. None for any number.
    graph : which variables interact: pairs of names, ``{name: neighbours}``, a square 0/1 matrix, or a networkx graph.
    terms : sets of variables that have a term of their own, taken literally, such as ``[["a"], ["a", "b"]]``.
    margins : sets of variables whose margins are fitted, with all their subsets: a hierarchical model, as in R's
        ``loglin``. At most one of ``graph``, ``terms`` and ``margins``.
    hidden : variables that are never observed: a number of binary units (named h1, h2, ...), a list of names, or
        ``{name: levels}``.
    basis : ``"monomial"`` (0/1 units, and R's treatment contrasts), ``"walsh"`` (spins) or ``"indicator"``.
    solver : ``"auto"``, ``"newton"``, ``"lbfgs"``, ``"gradient"`` or ``"ipf"`` (iterative proportional fitting); or,
        for variables beyond any table, ``"pcd"`` (persistent contrastive divergence), ``"cd"`` (contrastive
        divergence) or ``"pseudo"`` (pseudo-likelihood), whose log Z is estimated where it cannot be summed.
    l1 : penalty ``l1 sum |theta|`` on the weights, in nats per row.
    l2 : penalty ``l2/2 sum theta^2`` on the weights, in nats per row.
    shrinkage : ``"evidence"`` pulls the weights towards zero by a normal prior on pure interactions whose scale, one
        for each order, maximises the evidence: nothing to set. ``order=None`` then takes as many orders as 20,000
        weights allow. Complete rows only.
    em : with hidden variables or missing values, ``"auto"`` (the solver on the observed likelihood),
        ``"exact"`` or ``"inexact"`` alternating minimisation.
    restarts : number of random starts, of which the best is kept; only with hidden variables.
    tol : largest difference allowed between the expectations of model and data.
    max_iter : maximum number of iterations; the solver's own limit by default, for ``"pcd"`` and ``"cd"`` 10,000
        updates.
    learning_rate : step size of ``"pcd"`` and ``"cd"``.
    n_chains : number of Gibbs chains of ``"pcd"`` and ``"cd"``.
    n_sweeps : sweeps of these chains between two updates.
    mean_weights : of ``"pcd"`` and ``"cd"``, keep the mean of the weights over the second half of the updates, or else
        the last.
    average : number of fits, of the rows and of bootstrap samples, whose distributions are averaged; 1 for a single
        fit. See ``docs/models/averages.md``.
    max_memory : memory limit in bytes; by default the free memory, and at most 1 GiB or 100 KiB per row, whichever is
        more.

    Attributes
    ----------
    log_likelihood_ : of all rows, of what they say; NaN after :meth:`fit_margins` with probabilities.
    goodness_ : measures of fit, a :class:`fullspan.model.goodness.Goodness`.
    diverging_ : terms whose weights have no finite maximum, such as ``"a=y:b=n"``; the model is the limit.
    n_iter_ : iterations of the solver.
    oob_score_, oob_error_ : with ``average``, the mean log-likelihood of a row under the fits that have not seen it,
        and its standard error; None otherwise.
    log_z_estimate_ : log Z as an :class:`fullspan.model.estimate.Estimate`: exact, or with its error.
    learning_curve_ : of the solvers beyond the table, the mean log-likelihood of a row as learning goes on: a list of
        ``{"update", "log_likelihood", "error", "exact", "seconds"}``.

    And those of every estimator: ``model_``, ``space_``, ``terms_``, ``n_terms_``, ``log_z_``, ``divergence_``,
    ``description_length_``, ``history_``, ``status_``, ``n_features_in_``, ``feature_names_in_``.

    Notes
    -----
    Memory is two tables of ``prod_i |X_i|`` numbers, hidden variables included, and one more with hidden variables or
    missing cells; of ``"pcd"``, ``"cd"`` and ``"pseudo"`` it is that of the weights, the rows and the chains. A rate
    that makes these diverge is noticed: the fit stops, warns, and keeps the last weights that made sense.

    References
    ----------
    Byrne (1992), alternating minimization and Boltzmann machine learning.

    Examples
    --------
    >>> from fullspan import BoltzmannMachine
    >>> machine = BoltzmannMachine(order=1).fit([["rain", "wet"]] * 6 + [["dry", "dry"]] * 3 + [["dry", "wet"]])
    >>> round(machine.probability("x0=rain, x1=wet"), 6)
    0.42
    >>> machine.goodness_.df
    1
    """

    order: int | None = 2
    graph: Any = None
    terms: Any = None
    margins: Any = None
    hidden: Hidden = 0
    basis: Literal["monomial", "walsh", "indicator"] = "monomial"
    solver: Literal["auto", "newton", "lbfgs", "gradient", "ipf", "pcd", "cd", "pseudo"] = "auto"
    l1: float = 0.0
    l2: float = 0.0
    shrinkage: Literal["evidence"] | None = None
    em: Literal["auto", "exact", "inexact"] = "auto"
    restarts: int = 5
    tol: float = 1e-10
    max_iter: int | None = None
    learning_rate: float = 0.01
    n_chains: int = 100
    n_sweeps: int = 1
    mean_weights: bool = True
    average: int = 1

    _applies = (
        Applies(
            ("learning_rate", "n_chains", "n_sweeps", "mean_weights"),
            "solver='pcd' or solver='cd'",
            lambda of: of.solver in solvers.BY_CHAINS,
        ),
        Applies(("restarts",), "hidden variables", lambda of: bool(of.hidden)),
        Applies(("em",), "hidden variables or missing='em'", lambda of: bool(of.hidden) or of.missing == "em"),
    )

    def _learn(self, empirical: Empirical, watch: Reporter | None) -> Fitted:
        options, hidden = self._options(), hidden_variables(self.hidden)
        if self.average > 1:
            from fullspan.learn.ensemble import averaged_machine

            fitted = averaged_machine(empirical, options, hidden, self.average, self.random_state, watch)
        else:
            from fullspan.learn.likelihood.machine import fit_machine

            fitted = fit_machine(empirical, options, hidden, watch)
        return noted(fitted, options, hidden, self.random_state)

    def _options(self) -> MachineOptions:
        from fullspan.learn.likelihood.options import MachineOptions

        return options_of(self, MachineOptions, seed=generator(self.random_state))

    def _warn(self, fitted: Fitted) -> None:
        super()._warn(fitted)
        warn_at_boundary(fitted)

    def _accept(self, fitted: Fitted, kind: str, empirical: Empirical | None = None) -> None:
        super()._accept(fitted, kind, empirical)
        goodness = fitted.goodness
        self.goodness_ = goodness
        if goodness is not None:
            self.log_likelihood_ = goodness.log_likelihood
        self.learning_curve_ = list(fitted.settings.get("learning_curve", ()))
        self.log_z_estimate_ = fitted.log_z
        self.diverging_ = diverging_terms(fitted)
        self.n_iter_ = fitted.settings.get("iterations")

    def estimate(
        self, question: str, given: Evidence = None, random_state: Any = None, **walk: int
    ) -> Estimate | Table:
        """``P(event | given)`` by Gibbs chains, with its standard error: for machines too wide for exact answers.

        Parameters
        ----------
        question : such as ``"P(a=1 | b=0)"``, or ``"P(a | b=0)"`` for a table with errors.
        given : a further condition, as text or ``{name: level}``.
        random_state : seed or generator of the chains.
        walk : ``chains``, ``draws``, ``thin`` and ``warm_up`` of the walk; ``tempered=True`` for chains at several
            temperatures, which find modes that a single chain does not leave.

        Warns
        -----
        ConvergenceWarning : the chains have not mixed, so that the error is too small.
        """
        from fullspan.query.distributions.sampled import SampledDistribution

        check_is_fitted(self)
        chains = SampledDistribution(self.model_, generator(random_state), **walk)  # type: ignore[arg-type]
        answer: Any = chains.ask(question, self._event(given))
        warn_unmixed(chains.r_hat)
        found: Estimate | Table = answer
        return found

    def sample(self, n_samples: int = 1, random_state: Any = None, given: Evidence = None) -> Any:
        """Draw rows: independent and exact, or, where log Z could only be estimated, by Gibbs chains.

        Warns
        -----
        ConvergenceWarning : the chains have not mixed.
        """
        check_is_fitted(self)
        if self.log_z_estimate_.exact:
            return super().sample(n_samples, random_state, given)
        from fullspan.data import decode

        rng = generator(random_state)
        chains = self.distribution_.by_chains(rng)
        codes = chains.sample(n_samples, rng, self._event(given))
        warn_unmixed(chains.r_hat)
        return decode(codes, self._visible, like=empty_of(self._kind))

    def fit_margins(
        self,
        margins: Any,
        levels: Mapping[str, Sequence[Level]] | None = None,
        tolerance: float = 1e-6,
    ) -> Self:
        """Learn from margins instead of rows: the model of largest entropy that has them (raking).

        Parameters
        ----------
        margins : ``{("a", "b"): table, "c": table}``, a table of counts or of probabilities for each set of variables,
            with one axis for each of them; or any form that :func:`fullspan.rake` takes. All are counts with one total,
            or all are probabilities.
        levels : names of the levels, ``{"a": ["n", "y"]}``; those of the estimator, or else 0, 1, ...
        tolerance : how much two margins may differ on the variables they share, as a share of the total. Expectations
            on which they differ are averaged.

        Raises
        ------
        DataError : a table is none, two margins disagree, or no distribution has all of them.
        FullspanError : the estimator has terms, hidden variables or its own parameters for reading tables.

        Examples
        --------
        >>> from fullspan import BoltzmannMachine
        >>> machine = BoltzmannMachine().fit_margins({"sex": [0.5, 0.5], ("sex", "vote"): [[0.2, 0.3], [0.1, 0.4]]})
        >>> round(machine.probability("vote=1 | sex=0"), 6)
        0.6
        """
        from fullspan.data.tables.margin_counts import MarginCounts
        from fullspan.learn.likelihood.raking import fit_margins

        check_estimator(self)
        self._refuse_structure()
        read = MarginCounts.of(margins, (self.levels or {}) if levels is None else levels, tolerance)
        names = [[read.space.names[i] for i in sorted(scope)] for scope in read.scopes]
        options = replace(self._options(), order=None, margins=names)
        with self._watched() as watch:
            fitted = noted(fit_margins(read, options, watch), options, random_state=self.random_state)
        self._warn(fitted)
        self._accept(self._noted(fitted), "arrow")
        return self

    def _refuse_structure(self) -> None:
        for name in ("graph", "terms", "margins"):
            if getattr(self, name) is not None:
                raise FullspanError(f"fit_margins takes its terms from the margins; leave out {name}=")
        if self.order not in (None, 2):
            raise FullspanError("fit_margins takes its terms from the margins; leave out order=")
        if hidden_variables(self.hidden) or self.em != "auto":
            raise FullspanError("fit_margins does not support hidden variables; leave out hidden= and em=")
        if self.solver in ("pcd", "cd", "pseudo"):
            raise FullspanError(f"fit_margins reads no rows, which solver={self.solver!r} needs; use another solver")
        for name in ("columns", "bins", "count_column"):
            if getattr(self, name) is not None:
                raise FullspanError(f"fit_margins reads no rows, and has no use for {name}=; leave it out")
