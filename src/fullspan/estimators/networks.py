"""Networks of other tools, read from files and asked: a facade of :mod:`fullspan.query.distributions.graph`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Level, Space
from fullspan.engine.elimination import ClusterTree
from fullspan.errors import ModelFileError, QueryError
from fullspan.estimators.answers.exchange import Exchange
from fullspan.estimators.answers.exploring import Explorable
from fullspan.estimators.answers.predictions import Predictions
from fullspan.estimators.answers.questions import Questions
from fullspan.estimators.inputs.reading import Reading
from fullspan.model.files.log_linear import write
from fullspan.model.files.networks.bayes import flaw
from fullspan.model.files.networks.bayes_text import FORMATS, write_bayes
from fullspan.model.files.networks.formats import read_factors
from fullspan.model.files.networks.uai import read_evidence, write_uai
from fullspan.model.fitted import Fitted
from fullspan.model.graph import FactorGraph
from fullspan.model.log_linear_form import log_linear_form
from fullspan.query.distribution import Distribution
from fullspan.query.distributions.graph import GraphDistribution
from fullspan.query.language.events import Event
from fullspan.query.language.result import MostProbable
from fullspan.query.questions import Answer, Given, Names

TARGETS = (".uai", *FORMATS, ".fsm")
"""Formats that a network can be written in."""


def read_graph(path: str | os.PathLike[str], max_memory: int | None = None) -> GraphModel:
    """Read a network, or a model file, as a :class:`GraphModel` that answers questions.

    Parameters
    ----------
    path : a ``.uai``, ``.bif``, ``.net``, ``.dsc`` or ``.xmlbif`` file, also ``.gz``, or a model file.
    max_memory : memory limit in bytes; most of the free memory by default.

    Raises
    ------
    ModelFileError : the file is missing or invalid; the message names the place and the reason.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pair.uai"
    ...     _ = path.write_text("MARKOV 2  2 2  1  2 0 1  4  3 1 1 3")
    ...     network = read_graph(path)
    >>> round(network.probability("x1=1 | x0=1"), 6)
    0.75
    """
    return GraphModel(read_factors(path), max_memory)


def evidence_of(space: Space, path: str | os.PathLike[str]) -> list[dict[str, Level]]:
    """The samples of a UAI evidence file, whose variables and states are numbered in the order of ``space``.

    Raises
    ------
    ModelFileError : the file is missing, not sound, or belongs to other variables.
    """
    variables, samples = space.variables, read_evidence(path, space)
    return [{variables[i].name: variables[i].levels[x] for i, x in sample.items()} for sample in samples]


class GraphModel(Questions, Predictions, Exchange, Explorable):
    """Answers questions about one factor graph, exactly up to rounding.

    Parameters
    ----------
    graph : the factors.
    max_memory : memory limit in bytes; most of the free memory by default.

    Attributes
    ----------
    distribution_ : what answers, a :class:`fullspan.query.distribution.Distribution`.

    Evidence and events are dictionaries ``{name: level}``; a list of levels means any one of them.

    Raises
    ------
    QueryError : by every question with an unknown name or level, or with evidence of probability 0.
    TooLargeError : by every question whose clusters are too large, before anything is allocated.

    Examples
    --------
    >>> import math
    >>> agree = np.log([[3.0, 1.0], [1.0, 3.0]])
    >>> chain = GraphModel(FactorGraph(Space.of_cards((2, 2, 2)), ((0, 1), (1, 2)), (agree, agree)))
    >>> round(math.exp(chain.log_z()))
    32
    >>> round(chain.probability("x0=1 | x2=1"), 12)
    0.625
    """

    def __init__(self, graph: FactorGraph, max_memory: int | None = None) -> None:
        self.graph, self.max_memory = graph, max_memory
        self._distribution = GraphDistribution(graph, max_memory)

    @property
    def distribution_(self) -> Distribution:
        """What answers."""
        return self._distribution

    @property
    def space(self) -> Space:
        """The variables."""
        return self.graph.space

    # -- files ------------------------------------------------------------------------------------------------

    def evidence(self, path: str | os.PathLike[str]) -> list[dict[str, Level]]:
        """The samples of a UAI evidence file; see :func:`evidence_of`."""
        return evidence_of(self.space, path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network; the suffix says how.

        ``.uai`` has no names. ``.bif``, ``.net``, ``.dsc`` and ``.xmlbif`` hold Bayesian networks: any other network
        is written as the conditional distributions of an elimination, p(x) = prod_v p(x_v | x_S(v)), the same
        distribution. ``.fsm`` is the model file of a log-linear model.

        Raises
        ------
        ModelFileError : the suffix is none of these, or the file cannot be written.
        TooLargeError : the conditional distributions would not fit into memory.
        FullspanError : a factor forbids a state, which a log-linear model cannot.
        """
        kind = Path(path).suffix.lower()
        if kind not in TARGETS:
            raise ModelFileError(f"{path} cannot be written: networks are written as {', '.join(TARGETS)}")
        if kind == ".uai":
            write_uai(self.graph, path)
        elif kind in FORMATS:
            write_bayes(self._bayesian(), path)
        else:
            write(Fitted.given(log_linear_form(self.graph, self.log_z())), path)

    def _bayesian(self) -> FactorGraph:
        """The same distribution as one table for each variable, the last of its scope, given variables before it."""
        graph = self.graph
        if flaw(graph.space, graph.scopes, [np.exp(table) for table in graph.tables]) is None:
            return graph
        found, _ = ClusterTree(graph, max_memory=self.max_memory).reweighed({})
        if found is None:
            raise QueryError("every state of the network has weight zero: its factors contradict each other")
        scopes = tuple((*parents, child) for child, *parents in found.scopes)
        return FactorGraph(found.space, scopes, tuple(np.moveaxis(table, 0, -1) for table in found.tables))

    @classmethod
    def of(cls, model: Any, max_memory: int | None = None) -> GraphModel:
        """The network of a fitted estimator: the factors of a log-linear model or a tree, hidden variables among them.

        Raises
        ------
        FullspanError : the model is no single product of factors, such as a mixture.
        """
        from fullspan.estimators.answers.exchange import graph_of

        return cls(graph_of(model.fitted_), max_memory)

    @classmethod
    def from_pyagrum(cls, network: Any, max_memory: int | None = None) -> GraphModel:
        """The network of a ``pyagrum.BayesNet`` or ``pyagrum.MarkovRandomField``; levels are its labels.

        Raises
        ------
        FullspanError : it is neither.
        """
        from fullspan.estimators.answers.exchange import from_pyagrum

        return cls(from_pyagrum(network), max_memory)

    @classmethod
    def from_pgmpy(cls, network: Any, max_memory: int | None = None) -> GraphModel:
        """The network of a pgmpy ``DiscreteBayesianNetwork`` or ``DiscreteMarkovNetwork``; levels are its state names.

        Raises
        ------
        FullspanError : it is neither, or a variable has no factor.
        """
        from fullspan.estimators.answers.exchange import from_pgmpy

        return cls(from_pgmpy(network), max_memory)

    def _factors(self) -> FactorGraph:
        return self.graph

    def _all_columns(self) -> Space:
        return self.distribution_.visible

    def _row_reading(self) -> Reading:
        return Reading()

    # -- sums -------------------------------------------------------------------------------------------------

    def log_z(self, evidence: Event | None = None) -> float:
        """``log Z(e)`` in nats; of a network that is normalised, such as a Bayesian one, the log-probability of e."""
        return self.distribution_.log_z_given(evidence)

    def marginals(self, evidence: Event | None = None) -> dict[str, Array]:
        """``P(x_i | e)`` of every variable, in the order of the variables, by one sweep forth and one back."""
        return self.distribution_.marginals(evidence).shares

    def log_z_and_marginals(self, evidence: Event | None = None) -> tuple[float, dict[str, Array]]:
        """Both, by the same two sweeps."""
        found = self.distribution_.marginals(evidence)
        return found.log_z, found.shares

    # -- questions --------------------------------------------------------------------------------------------

    def ask(self, text: str, given: Given = None) -> Answer:
        """Answer a question in words, such as ``P(a=y | b=n)``, ``H(a | b)`` or ``mode(| b=n)``."""
        return self.distribution_.ask(text, given)

    def most_probable(self, variables: Names = (), given: Given = None) -> MostProbable:
        """The most probable joint state of some variables, of all unless some are named."""
        return self.distribution_.most_probable(variables, given)

    def with_margins(self, margins: Any) -> GraphModel:
        """The network projected on margins; see :meth:`fullspan.FullSpan.with_margins`."""
        from fullspan.estimators.answers.what_if import targets
        from fullspan.query.projection import factors_for

        factors = factors_for(self.distribution_, targets(margins, self.space))
        return GraphModel(self.distribution_.reweighed(factors), self.max_memory)

    # -- states -----------------------------------------------------------------------------------------------

    def mode(self, given: Event | None = None) -> dict[str, Level]:
        """The most probable state given the evidence, as ``{name: level}``."""
        return self.space.labels(self.distribution_.mode(given).state.tolist())

    def sample(self, n_samples: int = 1, random_state: Any = None, given: Event | None = None) -> Any:
        """Independent states given the evidence, exact, as an Arrow table.

        Parameters
        ----------
        n_samples : number of states.
        random_state : seed or generator; the same seed gives the same states.
        given : the evidence, ``{name: level}``.
        """
        from fullspan.data import decode

        codes = self.distribution_.sample(n_samples, np.random.default_rng(random_state), given)
        return decode(codes, self.space)

    def log_prob(self, codes: Any) -> Array:
        """``log P(observed cells)`` of rows (m, n) of codes -> (m,), in nats; -1 marks a cell that is not observed.

        -inf where a factor forbids what a row says.
        """
        return self.distribution_.log_prob(codes)
