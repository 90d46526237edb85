"""One small distribution of every kind, with the probabilities of all its states by enumeration."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical, Space
from fullspan.learn.trees import fit_chow_liu
from fullspan.model import AveragedLogLinear, FactorGraph, LayeredMachine, Mixture, TruncatedLogLinear
from fullspan.model.algebra import Basis, BasisName
from fullspan.model.estimate import Estimate
from fullspan.model.latent_trees import LatentTrees
from fullspan.model.tree_layout import TreeLayout
from fullspan.query import Distribution
from fullspan.query.distributions import (
    AveragedDistribution,
    DecimatedDistribution,
    GraphDistribution,
    LayeredDistribution,
    LogLinearDistribution,
    MixtureDistribution,
    TreeDistribution,
    TruncatedDistribution,
)
from query.enumeration import ALL_BASES, CARDS, Enumerated, all_states, random_model
from trees import generic_tree, joint

Made = tuple[Distribution, Array]
"""A distribution, and p(x) of every visible state with one axis per variable."""
SPACE = Space.of_cards(CARDS)


def log_linear(basis: BasisName, by_table: bool) -> Made:
    """A model in one of the bases; without a table, as one whose dual table would not fit."""
    model = random_model(CARDS, basis, 3)
    distribution = LogLinearDistribution(model)
    distribution.most_states = None if by_table else 0
    return distribution, Enumerated.of(model).p


def _hidden() -> Made:
    model = random_model((*CARDS, 3), "indicator", 6)
    return LogLinearDistribution(model, n_hidden=1), Enumerated.of(model).p.sum(axis=-1)


def _averaged() -> Made:
    models = [random_model(CARDS, "walsh", seed) for seed in (5, 6)]
    p = np.mean([Enumerated.of(model).p for model in models], axis=0)
    return AveragedDistribution(AveragedLogLinear.of(models)), p


def _mixture() -> Made:
    models = [random_model(CARDS, "walsh", seed) for seed in (1, 2)]
    p = np.mean([Enumerated.of(model).p for model in models], axis=0)
    return MixtureDistribution(Mixture.of_average(AveragedLogLinear.of(models))), p


def latent_trees(seed: int, k: int = 3, *, linked: bool = True) -> LatentTrees:
    """Some trees of one shape, in single precision, or independent columns, in double."""
    rng = np.random.default_rng(seed)
    parents = np.array([1, -1, 1, 2] if linked else [-1] * len(CARDS))
    n_logits = TreeLayout(CARDS, parents).n_logits
    logits = rng.normal(size=(k, n_logits)).astype(np.float32 if linked else np.float64)
    return LatentTrees(SPACE, parents, rng.dirichlet(np.ones(k)), logits)


def mixed_average() -> AveragedLogLinear:
    """A log-linear model, a tree of hidden nodes, trees of one shape, and latent classes."""
    others = [(0.2, generic_tree(4, CARDS)), (0.3, latent_trees(5)), (0.1, latent_trees(6, linked=False))]
    return AveragedLogLinear.of([random_model(CARDS, "walsh", 5)], (), others)


def _stacked() -> Made:
    model = mixed_average()
    p = np.exp(model.log_prob(all_states(CARDS))).reshape(CARDS)
    return AveragedDistribution.of(SimpleNamespace(model=model, n_hidden=0)), p


def _tree() -> Made:
    rng = np.random.default_rng(2)
    rows = np.stack([rng.integers(card, size=60) for card in CARDS], axis=1)
    tree = fit_chow_liu(Empirical.from_codes(rows, space=SPACE)).model
    return TreeDistribution(tree), joint(tree)


def _hidden_tree() -> Made:
    tree = generic_tree(3, CARDS)
    return TreeDistribution(tree), joint(tree)


def truncated(unseen: float) -> Made:
    """A list of states, and a probability of all others together."""
    terms = (((0, 1),), ((1, 2),), ((2, 1),), ((0, 1), (2, 3)))
    others = np.array([[1, 1, 2, 1], [0, 0, 3, 1], [1, 0, 1, 0], [0, 2, 2, 0], [1, 2, 0, 1]])
    theta, basis = np.array([0.3, -0.7, 0.4, 1.1]), Basis("monomial", CARDS)
    states = TruncatedLogLinear(SPACE, basis, terms, theta, 0.0, others, 0.0).states.astype(np.int64)
    weights = np.exp(basis.evaluate(terms, states) @ theta)
    p = np.full(CARDS, unseen / (SPACE.n_states - len(states)))
    p[tuple(states.T)] = (1 - unseen) * weights / weights.sum()
    model = TruncatedLogLinear(SPACE, basis, terms, theta, float(np.log(weights.sum())), others, unseen)
    return TruncatedDistribution(model), p


def _graph() -> Made:
    """Factors that forbid states, and are not normalised."""
    rng = np.random.default_rng(8)
    scopes = ((0, 1), (2, 1), (3, 2, 0))
    tables = [rng.normal(size=[CARDS[i] for i in scope]) for scope in scopes]
    tables[0][1, 2] = -np.inf
    graph = FactorGraph(SPACE, scopes, tuple(tables))
    p = np.exp(graph.log_weight(all_states(CARDS))).reshape(CARDS)
    return GraphDistribution(graph), p / p.sum()


def _restricted() -> Made:
    rng = np.random.default_rng(7)
    space = Space.of_cards((2, 3, 2))
    units = 1 + 3 + 1
    machine = LayeredMachine(space, (rng.normal(size=units), rng.normal(size=3)), (rng.normal(size=(units, 3)),))
    x = machine.units.encode(all_states(space.cards)).astype(np.float64)
    log = x @ machine.biases[0] + np.logaddexp(0.0, x @ machine.weights[0] + machine.biases[1]).sum(axis=1)
    log_z = float(np.logaddexp.reduce(log))
    return LayeredDistribution(machine, Estimate.known(log_z)), np.exp(log - log_z).reshape(space.cards)


def _decimated() -> Made:
    """Spins on a chain with a field, the last one hidden."""
    space = Space.of_cards((2,) * 5)
    terms = (((0, 1),), ((2, 1),), *(((i, 1), (i + 1, 1)) for i in range(4)))
    theta = np.array([0.3, -0.5, 0.8, -0.6, 0.4, 1.1])
    from query.enumeration import normalised

    model = normalised(space, "walsh", terms, theta)
    return DecimatedDistribution(model, n_hidden=1), Enumerated.of(model).p.sum(axis=-1)


KINDS: dict[str, Callable[[], Made]] = {
    **{f"table, {basis}": partial(log_linear, basis, True) for basis in ALL_BASES},
    **{f"elimination, {basis}": partial(log_linear, basis, False) for basis in ALL_BASES},
    "hidden variables": _hidden,
    "averaged": _averaged,
    "mixture": _mixture,
    "stacked": _stacked,
    "tree": _tree,
    "hidden tree": _hidden_tree,
    "truncated": lambda: truncated(0.0),
    "truncated, unseen": lambda: truncated(0.1),
    "network": _graph,
    "restricted": _restricted,
    "decimated": _decimated,
}
NO_MODE = {"mixture", "stacked", "hidden tree"}
"""Sums whose likeliest state is not found by sums: they refuse the question."""
