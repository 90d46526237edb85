"""Networks as objects of other packages, and from them: NetworkX, pyAgrum and pgmpy, factor by factor."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.data.space import Space, Variable
from fullspan.errors import FullspanError
from fullspan.model.files.networks.formats import factors_of
from fullspan.model.graph import FactorGraph

if TYPE_CHECKING:
    from types import ModuleType


class Exchange:
    """The methods of a model that is a product of factors."""

    @abstractmethod
    def _factors(self) -> FactorGraph:
        """The factors.

        Raises
        ------
        FullspanError : the model is no product of them.
        """

    def to_networkx(self) -> Any:
        """A ``networkx.Graph`` of the variables, with ``levels``, joined where they share a factor.

        Raises
        ------
        FullspanError : NetworkX is not installed, or the model is no product of factors.
        """
        return to_networkx(self._factors())

    def to_pyagrum(self) -> Any:
        """A ``pyagrum.MarkovRandomField`` with the same distribution; levels become text.

        Raises
        ------
        FullspanError : pyAgrum is not installed, a level holds ``|``, or the model is no product of factors.
        """
        return to_pyagrum(self._factors())

    def to_pgmpy(self) -> Any:
        """A ``pgmpy.models.DiscreteMarkovNetwork`` with the same distribution.

        ``VariableElimination`` of pgmpy leaves answers of Markov networks unnormalised:
        ``query(["a"], {"b": 0}).normalize(inplace=False)`` is the conditional distribution.

        Raises
        ------
        FullspanError : pgmpy is not installed, or the model is no product of factors.
        """
        return to_pgmpy(self._factors())


def graph_of(fitted: Any) -> FactorGraph:
    """The factors of a fitted record: of a log-linear model, or of a tree.

    Raises
    ------
    FullspanError : the model is no product of factors over its variables, such as a mixture, or predicts some columns
        from others.
    """
    if fitted.is_conditional:
        raise FullspanError("this model predicts some columns from others, and is not a network of all of them")
    model = fitted.model
    if model.kind == "log-linear":
        return factors_of(model)
    if model.kind == "tree":
        found: FactorGraph = model.graph()
        return found
    raise FullspanError(f"a model of the kind {model.kind!r} is not a single product of factors over its variables")


def to_networkx(graph: FactorGraph) -> Any:
    """The Markov graph: variables with their levels, joined where they share a factor."""
    networkx = _package("networkx", "networkx")
    found = networkx.Graph()
    for variable in graph.space.variables:
        found.add_node(variable.name, levels=list(variable.levels))
    names = graph.space.names
    for scope in graph.scopes:
        found.add_edges_from(itertools.combinations([names[i] for i in scope], 2))
    return found


def to_pyagrum(graph: FactorGraph) -> Any:
    """A ``pyagrum.MarkovRandomField`` with the same factors, those over the same variables multiplied; levels as text.

    Every factor is divided by its largest value, which changes no probability.
    """
    gum = _package("pyagrum", "pyagrum")
    found = gum.MarkovRandomField()
    for variable in graph.space.variables:
        if "|" in "".join(map(str, variable.levels)):
            raise FullspanError(f"a level of {variable.name!r} holds '|', which separates labels in pyAgrum: rename it")
        found.add(gum.LabelizedVariable(variable.name, variable.name, list(map(str, variable.levels))))
    for key, table in _merged(graph).items():
        factor = found.addFactor([graph.space.names[i] for i in key])
        place = [key.index(graph.space.position(name)) for name in reversed(factor.names)]
        ordered = np.transpose(np.exp(table - table.max()), place)  # pyAgrum's arrays have the last variable first
        factor[:] = np.ascontiguousarray(ordered)
    return found


def from_pyagrum(network: Any) -> FactorGraph:
    """The factors of a ``pyagrum.BayesNet`` or ``pyagrum.MarkovRandomField``; their levels are the labels.

    Raises
    ------
    FullspanError : it is neither.
    """
    if hasattr(network, "cpt"):
        factors = [network.cpt(node) for node in network.nodes()]
    elif hasattr(network, "factors") and hasattr(network, "factor"):
        factors = [network.factor(scope) for scope in network.factors()]
    else:
        raise FullspanError(f"a pyagrum.BayesNet or MarkovRandomField is needed; got {type(network).__name__}")
    variables = [network.variable(node) for node in network.nodes()]
    space = Space(tuple(Variable(v.name(), tuple(v.labels())) for v in variables))
    scopes = tuple(tuple(space.position(name) for name in reversed(factor.names)) for factor in factors)
    with np.errstate(divide="ignore"):
        tables = tuple(np.log(np.asarray(factor.toarray(), dtype=np.float64)) for factor in factors)
    return FactorGraph(space, scopes, tables)


def to_pgmpy(graph: FactorGraph) -> Any:
    """A ``pgmpy.models.DiscreteMarkovNetwork`` with the same factors, those over the same variables multiplied.

    Every factor is divided by its largest value, which changes no probability.
    """
    models, factors = _package("pgmpy.models", "pgmpy"), _package("pgmpy.factors.discrete", "pgmpy")
    found, variables = models.DiscreteMarkovNetwork(), graph.space.variables
    found.add_nodes_from(graph.space.names)
    merged = _merged(graph)
    merged |= {(i,): np.zeros(v.card) for i, v in enumerate(variables) if all(i not in key for key in merged)}
    for key, table in merged.items():
        own = [variables[i] for i in key]
        found.add_edges_from(itertools.combinations([v.name for v in own], 2))
        states = {v.name: list(v.levels) for v in own}
        values = np.exp(table - table.max())
        found.add_factors(factors.DiscreteFactor(list(states), [v.card for v in own], values, states))
    return found


def from_pgmpy(network: Any) -> FactorGraph:
    """The factors of a ``DiscreteBayesianNetwork`` or ``DiscreteMarkovNetwork``; their levels are the state names.

    Raises
    ------
    FullspanError : it is neither, or a variable has no factor.
    """
    if hasattr(network, "get_cpds"):
        factors = [cpd.to_factor() for cpd in network.get_cpds()]
    elif hasattr(network, "get_factors"):
        factors = list(network.get_factors())
    else:
        raise FullspanError(
            f"a pgmpy DiscreteBayesianNetwork or DiscreteMarkovNetwork is needed; got {type(network).__name__}"
        )
    levels = {name: tuple(names) for factor in factors for name, names in factor.state_names.items()}
    if missing := [name for name in network.nodes() if name not in levels]:
        raise FullspanError(f"the variable {missing[0]!r} has no distribution and no factor in this network")
    space = Space(tuple(Variable(str(name), levels[name]) for name in network.nodes()))
    scopes = tuple(tuple(space.position(str(name)) for name in factor.variables) for factor in factors)
    with np.errstate(divide="ignore"):
        tables = tuple(np.log(_in_order(factor, levels)) for factor in factors)
    return FactorGraph(space, scopes, tables)


def _in_order(factor: Any, levels: dict[Any, tuple[Any, ...]]) -> Any:
    """The values of a factor of pgmpy, its states in the order of ``levels``: each factor has an order of its own."""
    values = np.asarray(factor.values, dtype=np.float64)
    for axis, name in enumerate(factor.variables):
        own = {level: k for k, level in enumerate(factor.state_names[name])}
        values = values.take([own[level] for level in levels[name]], axis)
    return values


def _merged(graph: FactorGraph) -> dict[tuple[int, ...], Any]:
    """Logarithms of factors over the same variables summed, with the variables in their order."""
    tables: dict[tuple[int, ...], Any] = {}
    for scope, table in zip(graph.scopes, graph.tables, strict=True):
        if scope:
            order = np.argsort(scope)
            key = tuple(int(scope[k]) for k in order)
            tables[key] = tables.get(key, 0.0) + np.transpose(table, order)
    return tables


def _package(name: str, install: str) -> ModuleType:
    """A package that is installed only where it is wanted.

    Raises
    ------
    FullspanError : it is not installed.
    """
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise FullspanError(f"this needs {install}, which is not installed: pip install {install}") from None
