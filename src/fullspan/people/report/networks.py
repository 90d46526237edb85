"""A network from a file as an estimator that was given and not learned, so that a report can be made of it."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from fullspan.estimators.explain.links import Links, links_of_network
from fullspan.estimators.networks import GraphModel, read_graph
from fullspan.estimators.without_terms import WithoutTerms
from fullspan.model.effects.interaction import Interaction
from fullspan.model.record import FitRecord
from fullspan.query.distribution import Distribution


@dataclass(frozen=True, eq=False, kw_only=True)
class _Given(FitRecord[Any]):
    """A network that nobody fitted."""

    log_likelihood: float = float("nan")


class Network(WithoutTerms):
    """The network in a file such as ``.uai`` or ``.bif``; rows are read as any estimator reads them."""

    def __init__(self, network: GraphModel) -> None:
        super().__init__()
        self._network = network
        self._accept(_Given(model=network.graph, total=0.0, n_rows=0, status="given"), "arrow")

    @classmethod
    def read(cls, path: Path) -> Network:
        """The network in a file.

        Raises
        ------
        ModelFileError : it cannot be read.
        """
        return cls(read_graph(path))

    def _learn(self, empirical: Any, watch: Any) -> NoReturn:
        raise NotImplementedError("a network is given")

    @property
    def distribution_(self) -> Distribution:
        """What answers."""
        return self._network.distribution_

    def _interaction_rows(self) -> Sequence[Interaction]:
        return [replace(link.row, nats_saved=link.strength) for link in self._links().links]

    def _links(self) -> Links:
        found = links_of_network(self._network.graph)
        return replace(found, report=html.escape(found.note))
