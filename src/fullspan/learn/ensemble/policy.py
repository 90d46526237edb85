"""Which candidates are stacked with k bootstrap fits of a search: networks, mixtures and pairwise models.

    k >= 4     networks drawn from their posterior, prior per table
    k >= 8     networks with a prior per state of the parents, mixtures and a pairwise model of middling smoothing
    k >= 16    mixtures and pairwise models of all smoothings

What is stacked with few fits must not take longer than they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from fullspan.data import Empirical
from fullspan.learn.ensemble.candidates import TRUSTED, Candidates, Learn
from fullspan.learn.ensemble.completion import Completions, completing
from fullspan.learn.ensemble.mixtures import SIZES, SMOOTHINGS, mixture_of
from fullspan.learn.ensemble.pairs import MAX_STATES, MAX_TERMS, RIDGES, PairsLearner, n_pair_terms
from fullspan.learn.networks.posterior import DRAWS, Spread, draw_networks

_FEW, _SOME, _MANY = 4, 8, 16
"""Fits from which on networks, one candidate of each family, and all candidates are stacked with them."""
_ROWS_PER_COMPONENT = 5
"""Rows for each component of a mixture; from fewer none can be learned."""
_Value = TypeVar("_Value")


def candidates_for(empirical: Empirical, max_order: int | None, k: int, further: Mapping[str, Learn]) -> Candidates:
    """The candidates for k fits, and ``further`` ones.

    Networks and mixtures learn from rows with missing values as the best network completes them. The mixtures of
    middling smoothing and the pairwise model of middling ridge show whether to learn more of their family.
    """
    completions = Completions(lambda data, basis, rng: draw_networks(data, basis, "all", rng, max_order, 0))
    networks, pairs = _networks(max_order, k), _pairs(empirical, max_order, k)
    mixtures = _mixtures(empirical, max_order, k)
    from_complete = {**networks, **{name: learn for series in mixtures for name, learn in series.items()}}
    completed = {name: completing(learn, completions) for name, learn in from_complete.items()}
    families = [_middle_first([list(series) for series in mixtures]), _middle_first([[name] for name in pairs])]
    return Candidates(
        {**completed, **pairs, **further},
        dict.fromkeys(networks, TRUSTED),
        [family for family in families if family],
    )


def _middle_first(series: list[list[str]]) -> list[list[str]]:
    middle = len(series) // 2
    return [*series[middle:], *series[:middle]]


def _networks(max_order: int | None, k: int) -> dict[str, Learn]:
    """Networks under both priors of their tables, or under one; at most as many as fits, and at most ``DRAWS``."""

    def learn(spread: Spread) -> Learn:
        return lambda data, basis, rng: draw_networks(data, basis, spread, rng, max_order, min(k, DRAWS))

    found = {"networks": learn("all"), "networks, prior by parents' state": learn("each")}
    return dict(list(found.items())[: 2 if k >= _SOME else 1 if k >= _FEW else 0])


def _mixtures(empirical: Empirical, max_order: int | None, k: int) -> list[dict[str, Learn]]:
    """Mixtures of decomposable models, one series of increasing sizes for each smoothing.

    The largest has at most k components, and at most as many as have 5 rows each; the smallest has 2 in any case.
    """
    most, starts = min(k, max(SIZES[0], empirical.total / _ROWS_PER_COMPONENT)), max(1, k // 16)
    sizes = [size for size in SIZES if size <= most]
    return [
        {f"mixture of {size}, {s:g} pseudo-rows": mixture_of(size, s, max_order, starts) for size in sizes}
        for s in _tried(SMOOTHINGS, k)
    ]


def _pairs(empirical: Empirical, max_order: int | None, k: int) -> dict[str, Learn]:
    """Pairwise models, where their table and weights are small enough."""
    if max_order == 1 or empirical.space.n_states > MAX_STATES or not 0 < n_pair_terms(empirical.space) <= MAX_TERMS:
        return {}
    return {f"all pairs, ridge of {rows:g} rows, {name}": PairsLearner(rows, name) for rows, name in _tried(RIDGES, k)}


def _tried(values: tuple[_Value, ...], k: int) -> tuple[_Value, ...]:
    """All values, the one in the middle, or none."""
    return values if k >= _MANY else values[len(values) // 2 :][:1] if k >= _SOME else ()
