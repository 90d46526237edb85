"""Networks as objects of other packages, and from them: NetworkX graphs and pyAgrum's networks, factor by factor."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.data.space import Space, Variable
from fullspan.errors import FullspanError
from fullspan.model.files.networks.formats import factors_of
from fullspan.model.graph import FactorGraph

if TYPE_CHECKING:
    from types import ModuleType


def graph_of(fitted: Any) -> FactorGraph:
    """The factors of a fitted record: of a log-linear model, or of a tree.

    Raises
    ------
    FullspanError : the model is no product of factors over its variables, such as a mixture, or predicts some columns
        from others.
    """
    if fitted.is_conditional:
        raise FullspanError("this model predicts some columns from others, and is no network of all of them")
    model = fitted.model
    if model.kind == "log-linear":
        return factors_of(model)
    if model.kind == "tree":
        found: FactorGraph = model.graph()
        return found
    raise FullspanError(f"a model of the kind {model.kind!r} is no single product of factors over its variables")


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
    tables: dict[tuple[int, ...], Any] = {}
    for scope, table in zip(graph.scopes, graph.tables, strict=True):
        if scope:
            order = np.argsort(scope)
            key = tuple(int(scope[k]) for k in order)
            tables[key] = tables.get(key, 0.0) + np.transpose(table, order)
    for key, table in tables.items():
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
        raise FullspanError(f"this needs {name}, which is not installed: pip install {install}") from None
