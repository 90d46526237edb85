"""Exact answers to questions about a tree of hidden nodes, by passes over it: linear in the number of variables.

A condition fixes cells or narrows them to some levels; ``P(event | given)`` is the ratio of two likelihoods of partial
rows, and a table of a few variables is one such ratio per cell. Hidden nodes can be named too, as ``hidden rain`` of
the variable ``rain``: the passes sum them out, so such questions are answered by elimination on the tree's factors.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.engine.elimination.trees import TreeEngine
from fullspan.engine.elimination.trees.sums import TreeSums
from fullspan.errors import QueryError
from fullspan.model.hidden_tree import HiddenTree
from fullspan.model.loglinear import checked_codes
from fullspan.model.mixture import Mixture
from fullspan.query.distribution import PAIR_WORK, Distribution, Factors, Marginals
from fullspan.query.distributions.graph import GraphDistribution
from fullspan.query.distributions.mixture import MixtureDistribution
from fullspan.query.distributions.state_table import STEP_ENTRIES
from fullspan.query.language.boxes import Codes, both
from fullspan.query.language.events import Event, check_possible, in_words
from fullspan.query.questions import Mode


class TreeDistribution(Distribution):
    """Answers questions about one tree; by passes over it.

    Parameters
    ----------
    model : the tree.
    """

    def __init__(self, model: HiddenTree) -> None:
        self.model, self.sums = model, TreeSums(model)
        self.engine = self.sums.engine
        self.space = model.space if model.is_observed else model.graph().space

    @property
    def visible(self) -> Space:
        """The observed variables, which come first."""
        return self.model.space

    @cached_property
    def _nodes(self) -> GraphDistribution:
        """The same distribution with the hidden nodes as variables."""
        return GraphDistribution(self.model.graph())

    def _names_hidden(self, *boxes: Iterable[int]) -> bool:
        return any(i >= len(self.visible) for box in boxes for i in box)

    def _all_variables(self) -> tuple[int, ...]:
        return tuple(range(len(self.visible)))

    # -- rows -------------------------------------------------------------------------------------------------

    def log_prob(self, codes: Any) -> Array:
        return self.sums.log_prob(checked_codes(codes, self.visible, missing=True))

    def impute(self, codes: Any, how: str = "mode", rng: np.random.Generator | None = None) -> Any:
        known = self.checked_impute(codes, how, rng)
        if how == "draw" and rng is not None:
            drawn, log = self.engine.completed(known, rng)
            self._check_rows(known, log)
            return drawn
        filled = known.copy()
        means = {v.name: np.empty((len(known), v.card)) for v in self.visible.variables} if how == "mean" else {}
        for chunk, chances, log in self.engine.posteriors(known):
            self._check_rows(known[chunk], log, chunk.start)
            if how == "mode":
                filled[chunk] = chances.argmax(axis=2)
            for i, out in enumerate(means.values()):
                out[chunk] = chances[:, i, : out.shape[1]]
        return means if how == "mean" else filled

    def _check_rows(self, known: NDArray[Any], log: Array, first: int = 0) -> None:
        impossible = np.flatnonzero((known < 0).any(axis=1) & np.isneginf(log))
        if len(impossible):
            raise _impossible(f"what row {first + impossible[0] + 1} says")

    def sample(self, size: int, rng: np.random.Generator, given: Event | None = None) -> NDArray[np.int64]:
        n = self.checked_size(size)
        allowed = self.allowed(given)
        if self._names_hidden(allowed):
            return self._nodes.sample(n, rng, given)[:, : len(self.visible)]
        self._log_prob(allowed, check=True)
        return self.sums.sample(n, rng, allowed)

    # -- probabilities ----------------------------------------------------------------------------------------

    def marginals(self, given: Event | None = None) -> Marginals:
        """Of the observed variables, in one pass up and one down; by elimination given hidden nodes."""
        allowed = self.allowed(given)
        if self._names_hidden(allowed):
            log_prob, shares, _ = self._nodes.marginals(given)
            return Marginals(min(log_prob, 0.0), {name: shares[name] for name in self.visible.names})
        log_prob = self._log_prob(allowed, check=True)
        found = zip(self.visible.names, self.sums.marginals(allowed), strict=True)
        return Marginals(min(log_prob, 0.0), dict(found))

    def log_z_given(self, given: Event | None = None) -> float:
        allowed = self.allowed(given)
        return self._nodes.log_z_given(given) if self._names_hidden(allowed) else self._log_prob(allowed, check=True)

    def pairs(self, work: float = PAIR_WORK) -> Array | None:
        """By one pass for each level of each variable."""
        cards, model = self.visible.cards, self.model
        each = len(cards) * (STEP_ENTRIES + model.n_states**2 + model.n_states * max(cards))
        if sum(cards) * each > work:
            return None
        rows = np.full((sum(cards), len(cards)), -1)
        owner = np.repeat(np.arange(len(cards)), cards)
        rows[np.arange(len(rows)), owner] = np.concatenate([np.arange(card) for card in cards])
        real = np.concatenate([np.arange(max(cards)) < card for card in cards])
        found = []
        for _, chances, log in self.engine.posteriors(rows):
            for given, p in zip(chances.reshape(len(chances), -1), np.exp(log), strict=True):
                found.append(p * given[real] if p > 0 else np.zeros(sum(cards)))
        return np.stack(found)

    def cells(self, where: tuple[int, ...], event: Mapping[int, Codes], given: Mapping[int, Codes]) -> Array:
        check_possible(given, self.space)
        if self._names_hidden(where, event, given):
            return self._nodes.cells(where, event, given)
        shape = self.shape_of(where)
        joint, norm = both(given, event), self._log_prob(given, check=True)
        if not all(joint.values()):
            return np.zeros(shape)
        rows = np.full((math.prod(shape), len(self.visible)), -1)
        rows[:, list(where)] = np.array(list(itertools.product(*map(range, shape)))).reshape(len(rows), len(where))
        engine = TreeEngine(self.model, joint)
        log = engine.log_likelihood(engine.columns(rows)).reshape(shape)
        # The passes apply conditions to missing cells only; levels that a row fixes are checked here.
        for axis, i in enumerate(where):
            if i in joint:
                barred = [x for x in range(shape[axis]) if x not in joint[i]]
                log[(slice(None),) * axis + (barred,)] = -np.inf
        return np.minimum(np.exp(log - norm), 1.0)

    def _log_prob(self, allowed: Mapping[int, Codes], *, check: bool) -> float:
        """Log-probability of an event; where it is a condition, it may not be impossible."""
        log = self.sums.log_z(allowed)
        if check and allowed and math.isinf(log):
            raise _impossible(f"the condition {in_words(allowed, self.visible)}")
        return log

    def reweighed(self, factors: Factors) -> HiddenTree | Mixture:
        """A tree with the same edges; with factors of several variables a mixture.

        Where nodes are hidden, its components are trees, one for each combination of levels of all but one of the
        variables of such a factor; otherwise it is one graph.
        """
        if all(len(scope) == 1 for scope in factors):
            tree, _ = self.sums.reweighed(factors)
            if tree is not None:
                return tree
        return MixtureDistribution(Mixture(self.visible, np.ones(1), (self.model,))).reweighed(factors)

    def renewed(self, factors: Factors) -> Distribution:
        """The distribution of the tree or of the mixture."""
        model = self.reweighed(factors)
        distributions: dict[str, Callable[[Any], Distribution]] = {
            HiddenTree.kind: TreeDistribution,
            Mixture.kind: MixtureDistribution,
        }
        return distributions[model.kind](model)

    # -- modes and information --------------------------------------------------------------------------------

    def mode(self, given: Event | None = None) -> Mode:
        """The most probable state given an event, and its log probability given it, by max-sum on the tree.

        Raises
        ------
        QueryError : nodes are hidden: the mode over sums is not found by passes.
        """
        if not self.model.is_observed:
            raise QueryError(
                "the likeliest state of a tree with hidden nodes cannot be found exactly by passes; impute fills in "
                "the likeliest level of each cell, and sample draws states"
            )
        allowed = self.allowed(given)
        norm = self._log_prob(allowed, check=True)
        state, log = _max_sum(self.model, allowed)
        return Mode(state, log - norm)


def _impossible(condition: str) -> QueryError:
    return QueryError(
        f"{condition} has probability 0 under this tree, and no question can be answered given it; a tree fitted with "
        "pseudo_count= or smoothing= above 0 excludes nothing"
    )


def _max_sum(tree: HiddenTree, allowed: Mapping[int, Codes]) -> tuple[NDArray[np.int64], float]:
    """The likeliest state of a tree whose nodes are its variables, and its log-probability."""
    n, k = len(tree.space), tree.n_states
    below = np.zeros((n, k))
    for i, card in enumerate(tree.space.cards):
        below[i, [z for z in range(k) if z >= card or (i in allowed and z not in allowed[i])]] = -np.inf
    best = np.zeros((n, k), dtype=np.int64)
    with np.errstate(divide="ignore"):
        log_prior, log_transitions = np.log(tree.prior), np.log(tree.transitions)
    for i in tree.order[:0:-1]:
        through = log_transitions[i] + below[i]
        best[i] = through.argmax(axis=1)
        below[tree.parents[i]] += through.max(axis=1)
    root = tree.order[0]
    state = np.zeros(n, dtype=np.int64)
    state[root] = int((log_prior + below[root]).argmax())
    for i in tree.order[1:]:
        state[i] = best[i, state[tree.parents[i]]]
    return state, float((log_prior + below[root]).max())
