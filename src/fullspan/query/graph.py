"""Exact answers about networks: products of factors over any number of variables, as long as the clusters are small.

    p(x | e) = exp( sum_f g_f(x_f) ) / Z(e),     Z(e) the same sum over all states that agree with the evidence e

Every answer is a ratio of such sums, taken in the log domain over a tree of clusters.
"""

from __future__ import annotations

import itertools
import math
import numbers
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Level, Space
from fullspan.engine.elimination.clusters import ClusterTree
from fullspan.engine.memory import budget, require
from fullspan.errors import ModelFileError, QueryError, TooLargeError
from fullspan.model.files.evidence import read_evidence
from fullspan.model.files.formats import read_factors
from fullspan.model.files.log_linear import save
from fullspan.model.files.uai import write_uai
from fullspan.model.fitted import Fitted
from fullspan.model.graph import FactorGraph
from fullspan.model.log_linear_form import log_linear_form
from fullspan.query.asked import Asked, entropy
from fullspan.query.language.boxes import Codes, both
from fullspan.query.language.events import Event, check_possible, codes_of, in_words
from fullspan.query.language.result import MostProbable

Allowed = Mapping[int, Codes]
"""Codes allowed of the variables that an event names."""

_KEPT = 4
"""Trees of clusters that are kept, each for one set of clamped variables."""
MAX_ENTROPY_CELLS = 1 << 16
"""Most cells of a table from which an entropy is read: each is a sum."""
TARGETS = (".uai", ".fsm")
"""Formats that a network can be written in."""


def read_graph(path: str | os.PathLike[str], max_memory: int | None = None) -> GraphModel:
    """Read a ``.uai`` or ``.bif`` network (also ``.gz``), or a model file, to ask it questions.

    Raises
    ------
    ModelFileError : the file is missing or not sound; the message names the place and the reason.
    """
    return GraphModel(read_factors(path), max_memory)


class GraphModel(Asked):
    """Answers questions about one factor graph, exactly up to rounding.

    Parameters
    ----------
    graph : the factors.
    max_memory : bytes that tables may take; most of the free memory unless given.

    Evidence and events are dictionaries ``{name: level}``; a list of levels means any one of them.

    Raises
    ------
    QueryError : by every question with an unknown name or level, or with evidence of probability 0.
    TooLargeError : by every question whose clusters are too large, before anything is allocated.

    Examples
    --------
    >>> agree = np.log([[3.0, 1.0], [1.0, 3.0]])
    >>> chain = GraphModel(FactorGraph(Space.of_cards((2, 2, 2)), ((0, 1), (1, 2)), (agree, agree)))
    >>> round(math.exp(chain.log_z()))
    32
    >>> round(chain.probability("x0=1 | x2=1"), 12)
    0.625
    """

    def __init__(self, graph: FactorGraph, max_memory: int | None = None) -> None:
        self.graph, self.max_memory = graph, max_memory
        self._trees: dict[tuple[int, ...], ClusterTree] = {}

    @property
    def space(self) -> Space:
        """The variables."""
        return self.graph.space

    # -- files ------------------------------------------------------------------------------------------------

    def evidence(self, path: str | os.PathLike[str]) -> list[dict[str, Level]]:
        """The samples of a UAI evidence file, whose variables and states are numbered in this model's order.

        Raises
        ------
        ModelFileError : the file is missing, not sound, or belongs to other variables.
        """
        variables = self.space.variables
        samples = read_evidence(path, self.space)
        return [{variables[i].name: variables[i].levels[x] for i, x in sample.items()} for sample in samples]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network as ``.uai``, which knows no names, or as a log-linear model in a ``.fsm`` file.

        Raises
        ------
        ModelFileError : the suffix is neither, or the file cannot be written.
        FullspanError : a factor forbids a state, which a log-linear model cannot.
        """
        kind = Path(path).suffix.lower()
        if kind not in TARGETS:
            raise ModelFileError(f"{path} cannot be written: networks are written as {' or '.join(TARGETS)}")
        if kind == ".uai":
            write_uai(self.graph, path)
        else:
            save(Fitted.given(log_linear_form(self.graph, self.log_z())), path)

    # -- sums -------------------------------------------------------------------------------------------------

    def log_z(self, evidence: Event | None = None) -> float:
        """``log Z(e)`` in nats; of a network that is normalised, such as a Bayesian one, the log-probability of e."""
        return self._log_z(self._allowed(evidence))

    def marginals(self, evidence: Event | None = None) -> dict[str, Array]:
        """``P(x_i | e)`` of every variable, in the order of the variables, by one sweep forth and one back."""
        return self.log_z_and_marginals(evidence)[1]

    def log_z_and_marginals(self, evidence: Event | None = None) -> tuple[float, dict[str, Array]]:
        """Both, by the same two sweeps."""
        allowed = self._allowed(evidence)
        with self._naming(allowed):
            beliefs = self._tree(allowed).beliefs(allowed)
        return beliefs.log_z, {name: beliefs.variable(i) for i, name in enumerate(self.space.names)}

    def _allowed(self, evidence: Event | None) -> Allowed:
        allowed = codes_of(evidence, self.space)
        check_possible(allowed, self.space)
        return allowed

    def _tree(self, allowed: Allowed, asked: Sequence[int] = ()) -> ClusterTree:
        """Clusters of the variables that an event and what is asked leave open; the last few are kept."""
        clamped = (*asked, *(i for i, codes in allowed.items() if len(codes) == 1 and i not in asked))
        tree = self._trees.pop(clamped, None) or ClusterTree(self.graph, clamped, max_memory=self.max_memory)
        self._trees[clamped] = tree
        while len(self._trees) > _KEPT:
            self._trees.pop(next(iter(self._trees)))
        return tree

    def _log_z(self, allowed: Allowed) -> float:
        log_z = self._tree(allowed).log_z(allowed)
        if log_z == -math.inf:
            raise self._impossible(allowed)
        return log_z

    @contextmanager
    def _naming(self, allowed: Allowed) -> Iterator[None]:
        """Name the evidence where the engine finds that it has probability 0."""
        try:
            yield
        except QueryError as error:
            raise self._impossible(allowed) from error

    def _impossible(self, allowed: Allowed) -> QueryError:
        if not allowed:
            return QueryError("the factors of this network forbid every state: it has no distribution")
        return QueryError(
            f"the evidence {in_words(allowed, self.space)} has probability 0 in this network, and nothing can be asked "
            "given it"
        )

    # -- questions --------------------------------------------------------------------------------------------

    @property
    def asked_space(self) -> Space:
        return self.space

    def entropy_of(self, where: tuple[int, ...], given: Allowed) -> float:
        """Entropy of some variables by position, given an event, from the table of their states.

        Raises
        ------
        TooLargeError : the table has more than 2^16 cells, each of which is a sum.
        """
        n_cells = math.prod(self.space.variables[i].card for i in where)
        if n_cells > MAX_ENTROPY_CELLS:
            raise TooLargeError(
                f"the entropy of {len(where)} variables of a network is a sum over {n_cells:,} states; "
                f"{MAX_ENTROPY_CELLS:,} are possible: ask for fewer variables"
            )
        return entropy(self.cells(where, {}, given))

    def mode_of(self, given: Allowed) -> MostProbable:
        """The most probable state, given an event, and its log-probability given it."""
        norm = self._log_z(given)
        with self._naming(given):
            state = self._tree(given).mode(given)
        return MostProbable(self.space.labels(state.tolist()), float(self.graph.log_weight(state[None, :])[0]) - norm)

    def cells(self, where: tuple[int, ...], event: Allowed, given: Allowed) -> Array:
        """``P(where, event | given)``, one axis per variable: a sum for each cell, with the variables clamped to it."""
        shape = tuple(self.space.variables[i].card for i in where)
        require(
            8 * math.prod(shape),
            budget(self.max_memory),
            f"a table of {math.prod(shape):,} cells",
            "ask about fewer variables at once",
        )
        norm, joint, out = self._log_z(given), both(given, event), np.zeros(shape)
        if not all(joint.values()):
            return out
        tree = self._tree(joint, where)
        for cell in itertools.product(*(joint.get(i, range(n)) for i, n in zip(where, shape, strict=True))):
            log_sum = tree.log_z({**joint, **{i: (x,) for i, x in zip(where, cell, strict=True)}})
            out[cell] = math.exp(min(log_sum - norm, 0.0))
        return out

    # -- states -----------------------------------------------------------------------------------------------

    def mode(self, given: Event | None = None) -> dict[str, Level]:
        """The most probable state given the evidence, as ``{name: level}``."""
        allowed = self._allowed(given)
        with self._naming(allowed):
            return self.space.labels(self._tree(allowed).mode(allowed).tolist())

    def sample(self, n_samples: int = 1, random_state: Any = None, given: Event | None = None) -> Any:
        """Independent states given the evidence, exact, as an Arrow table.

        Parameters
        ----------
        random_state : seed or generator; the same seed gives the same states.
        """
        from fullspan.data import decode

        if not isinstance(n_samples, numbers.Integral) or isinstance(n_samples, bool) or n_samples < 0:
            raise QueryError(f"a sample of {n_samples!r} states was asked for; give a whole number of at least 0")
        allowed, n = self._allowed(given), int(n_samples)
        require(16 * n * len(self.space), budget(self.max_memory), f"a sample of {n:,} states", "draw fewer at once")
        with self._naming(allowed):
            codes = self._tree(allowed).sample(n, np.random.default_rng(random_state), allowed)
        return decode(codes, self.space)

    def log_prob(self, codes: Any) -> Array:
        """``log p(x)`` of states (m, n) of codes -> (m,), in nats; -inf where a factor forbids the state."""
        return self.graph.log_weight(codes) - self.log_z()
