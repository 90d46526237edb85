"""Averages of fits: a search or a machine, fitted again and again, and how it was done.

Beside the searches stand Bayesian networks averaged over their posterior, once for each of two priors of their tables,
mixtures of decomposable models, machines of all pairs, and, where shrinkage is asked for, a shrunken model; unseen rows
decide how much each is believed.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from fullspan.estimators.settings import noted, of_hidden
from fullspan.learn.averaging.beside import KNOWN
from fullspan.learn.averaging.fit import Bounds, fit_average
from fullspan.learn.averaging.ladders import Beside

if TYPE_CHECKING:
    import numpy as np

    from fullspan.data import Empirical
    from fullspan.data.space import Variable
    from fullspan.learn.averaging.stacking import Learn
    from fullspan.learn.likelihood.options import MachineOptions
    from fullspan.learn.search.options import Options
    from fullspan.learn.wide.fit import WideOptions
    from fullspan.model import LogLinear
    from fullspan.model.algebra.basis import Basis
    from fullspan.model.fitted import Fitted

Watch = Callable[[Any], None] | None
_Value = TypeVar("_Value")
_FEW, _SOME, _MANY = 4, 8, 16
"""Fits from which on networks, one of each kind, and all of the other ways stand beside them."""
_ROWS_OF_A_KIND = 5
"""Rows for each component of a mixture; of fewer none can be learned."""
_HELD_OUT = 0.2
"""Rows on which the share of a shrunken model beside one search is decided."""


def averaged_search(
    empirical: Empirical,
    options: Options,
    hidden: Sequence[Variable] = (),
    restarts: int = 5,
    k: int = 16,
    random_state: Any = None,
    watch: Watch = None,
    further: Mapping[str, Learn] | None = None,
    stop: threading.Event | None = None,
) -> Fitted:
    """The average of k searches, of the rows and of bootstrap samples, and what stands beside them.

    ``further`` are more of the latter; they look at ``stop``, which is set when someone has stopped.

    Raises
    ------
    FullspanError : more columns than a table that is averaged can have.
    """
    from fullspan.errors import FullspanError
    from fullspan.learn.averaging.gaps import MAX_STATES
    from fullspan.learn.networks.posterior import MAX_VARIABLES
    from fullspan.learn.search.fit import fit
    from fullspan.learn.search.incomplete import fit_incomplete
    from fullspan.learn.search.options import Limits

    def one(data: Empirical, bounds: Bounds, seed: np.random.Generator, watch: Callable[[Any], None]) -> Fitted:
        own = options if bounds.basis is None else replace(options, basis=bounds.basis)
        rounds, terms = bounds.rounds, bounds.terms
        if hidden:
            return fit_incomplete(data, own, hidden, restarts, seed, watch, limits=Limits(rounds, terms))
        if not data.is_complete:
            return fit_incomplete(data, own, (), 1, seed, watch, None, Limits(rounds, terms, bounds.completions))
        return fit(data, own, watch=watch, rounds=rounds, terms=terms)

    too_wide = not empirical.is_complete and empirical.space.n_states > MAX_STATES
    plain = bool(hidden) or options.by_terms or too_wide
    if len(empirical.space) > MAX_VARIABLES:
        raise FullspanError(
            f"average={k} was asked for {len(empirical.space)} columns; at most {MAX_VARIABLES} are possible: "
            "leave constant columns out with columns=, or use engine='elimination'"
        )
    beside = None if plain else _beside(empirical, options.max_order, k, further or {})
    fitted = fit_average(empirical, k, one, random_state, watch, beside, stop)
    settings = {**fitted.settings, **dataclasses.asdict(options), "restarts": restarts}
    return replace(fitted, settings={**settings, **of_hidden(hidden, random_state)})


def _beside(empirical: Empirical, max_order: int | None, k: int, further: Mapping[str, Learn]) -> Beside:
    """Networks and mixtures, which learn from rows with gaps as the best network completes them, pairs, and others.

    The mixtures of middling smoothing and the pairs of middling ridge show whether to learn more of their kind.
    """
    from fullspan.learn.averaging.gaps import Completions, with_gaps
    from fullspan.learn.networks.posterior import draw_networks

    completions = Completions(lambda data, basis, rng: draw_networks(data, basis, "all", rng, max_order, 0))
    networks, pairs = _networks(max_order, k), _pairs(empirical, max_order, k)
    mixtures = _mixtures(empirical, max_order, k)
    from_complete = {**networks, **{name: learn for ladder in mixtures for name, learn in ladder.items()}}
    completed = {name: with_gaps(learn, completions) for name, learn in from_complete.items()}
    kinds = [_middle_first([list(ladder) for ladder in mixtures]), _middle_first([[name] for name in pairs])]
    return Beside(
        {**completed, **pairs, **further},
        dict.fromkeys(networks, KNOWN),
        [ladders for ladders in kinds if ladders],
    )


def _middle_first(ladders: list[list[str]]) -> list[list[str]]:
    middle = len(ladders) // 2
    return [*ladders[middle:], *ladders[:middle]]


def _networks(max_order: int | None, k: int) -> dict[str, Learn]:
    """Networks under both priors of their tables, or under one, as many as there are fits, up to a number."""
    from fullspan.learn.networks.posterior import DRAWS, Spread, draw_networks

    def learn(spread: Spread) -> Learn:
        return lambda data, basis, rng: draw_networks(data, basis, spread, rng, max_order, min(k, DRAWS))

    found = {"networks": learn("all"), "networks, prior by parents' state": learn("each")}
    return dict(list(found.items())[: 2 if k >= _SOME else 1 if k >= _FEW else 0])


def _mixtures(empirical: Empirical, max_order: int | None, k: int) -> list[dict[str, Learn]]:
    """Mixtures of decomposable models for each smoothing, of more and more components.

    Up to the number of fits, and two, or as many as have some rows each.
    """
    from fullspan.learn.mixtures.way import SIZES, SMOOTHINGS, mixture_of

    most, starts = min(k, max(SIZES[0], empirical.total / _ROWS_OF_A_KIND)), max(1, k // 16)
    sizes = [size for size in SIZES if size <= most]
    return [
        {f"mixture of {size}, {s:g} pseudo-rows": mixture_of(size, s, max_order, starts) for size in sizes}
        for s in _tried(SMOOTHINGS, k)
    ]


def _pairs(empirical: Empirical, max_order: int | None, k: int) -> dict[str, Learn]:
    """Machines of all pairs, where their table and weights are few enough."""
    from fullspan.learn.likelihood.pairs import MAX_STATES, MAX_TERMS, RIDGES, PairsLearner, n_pair_terms

    if max_order == 1 or empirical.space.n_states > MAX_STATES or not 0 < n_pair_terms(empirical.space) <= MAX_TERMS:
        return {}
    return {f"all pairs, ridge of {rows:g} rows, {name}": PairsLearner(rows, name) for rows, name in _tried(RIDGES, k)}


def _tried(values: tuple[_Value, ...], k: int) -> tuple[_Value, ...]:
    """All values, or that in the middle, or none: what stands beside few fits must not take longer than they do."""
    return values if k >= _MANY else values[len(values) // 2 :][:1] if k >= _SOME else ()


def averaged_wide(
    empirical: Empirical, options: WideOptions, k: int = 16, random_state: Any = None, watch: Watch = None
) -> Fitted:
    """The average of k searches without a table, of the rows and of bootstrap samples."""
    from fullspan.learn.wide.fit import fit_wide

    def one(data: Empirical, bounds: Bounds, seed: np.random.Generator, watch: Callable[[Any], None]) -> Fitted:
        return fit_wide(data, options if bounds.basis is None else replace(options, basis=bounds.basis), watch)

    return fit_average(empirical, k, one, random_state, watch)


def averaged_machine(
    empirical: Empirical,
    options: MachineOptions,
    hidden: Sequence[Variable] = (),
    k: int = 16,
    random_state: Any = None,
    watch: Watch = None,
) -> Fitted:
    """The average of k machines, fitted to the rows and to bootstrap samples.

    Raises
    ------
    FullspanError : the solver holds no table over the states, so that there is none to average.
    """
    from fullspan.errors import FullspanError
    from fullspan.learn.likelihood.machine import fit_machine
    from fullspan.learn.likelihood.solvers import BEYOND_THE_TABLE

    if options.solver in BEYOND_THE_TABLE:
        raise FullspanError(
            f"average={k} needs the table of all states, which solver={options.solver!r} does without; use an exact "
            "solver, or average=1"
        )

    def one(data: Empirical, bounds: Bounds, seed: np.random.Generator, watch: Callable[[Any], None]) -> Fitted:
        return fit_machine(data, replace(options, seed=seed), hidden, watch)

    return noted(fit_average(empirical, k, one, random_state, watch), options, hidden, random_state)


def shrunken_search(
    empirical: Empirical, options: Options, k: int = 1, random_state: Any = None, watch: Watch = None
) -> Fitted:
    """A search, or the average of k, and beside it a model with all interactions, shrunken by evidence.

    The share of the latter makes rows likeliest that no part has seen: those of a fifth of the data, both models having
    been fitted to the rest for that purpose, or, in an average, all rows.

    Raises
    ------
    FullspanError : there are too many states.
    """
    from fullspan.learn.base.progress import Interrupted
    from fullspan.learn.shrinkage.fit import check_shrinkable

    check_shrinkable(empirical, None, options.max_memory)
    if k == 1:
        return _one_shrunken_search(empirical, options, random_state, watch)
    effective: dict[str, Any] = {}
    stop, lock = threading.Event(), threading.Lock()

    def told(step: Any) -> None:
        """Pass a step on, of a fit or of the shrunken model beside them, one at a time."""
        with lock:
            if stop.is_set():
                raise Interrupted
            try:
                if watch is not None:
                    watch(step)
            except KeyboardInterrupt:
                stop.set()
                raise

    def shrunken(data: Empirical, basis: Basis, rng: np.random.Generator) -> _OneModel:
        found = _OneModel.shrunken(data, basis.name, options.max_memory, told)
        effective.update(found.fitted.settings if data is empirical else {})
        return found

    fitted = averaged_search(empirical, options, (), 1, k, random_state, told, {"shrunken": shrunken}, stop)
    settings = {**fitted.settings, "shrinkage": "evidence", **effective, **of_hidden((), random_state)}
    return replace(fitted, settings=settings)


@dataclass(frozen=True)
class _OneModel:
    """A fitted model as a candidate beside the fits of an average."""

    fitted: Fitted

    @classmethod
    def shrunken(cls, data: Empirical, basis: Any, max_memory: int | None, watch: Watch) -> _OneModel:
        """The shrunken model of counted rows."""
        from fullspan.learn.base.progress import Interrupted
        from fullspan.learn.shrinkage.fit import fit_shrunken

        fitted = fit_shrunken(data, basis, None, max_memory, watch)
        if fitted.status == "interrupted":
            raise Interrupted
        return cls(fitted)

    def log_prob(self, states: Any) -> Any:
        return self.fitted.model.log_prob(states)

    def models(self) -> tuple[tuple[float, LogLinear], ...]:
        return ((1.0, self.fitted.model),)


def _one_shrunken_search(empirical: Empirical, options: Options, random_state: Any, watch: Watch) -> Fitted:
    import numpy as np

    from fullspan.learn.averaging.bootstrap import log_prob_of
    from fullspan.learn.averaging.stacking import best_shares
    from fullspan.learn.search.fit import fit
    from fullspan.learn.search.holdout import held_out
    from fullspan.learn.shrinkage.fit import fit_shrunken
    from fullspan.model.averaged import AveragedLogLinear

    fitted = fit(empirical, options, watch=watch)
    basis: Any = fitted.model.basis.name
    settings = {**fitted.settings, "average": 1, "shrinkage": "evidence", **of_hidden((), random_state)}
    if fitted.status == "interrupted":
        return replace(fitted, settings=settings)
    train, valid = held_out(empirical, _HELD_OUT, np.random.default_rng(0))
    background, share = fit_shrunken(empirical, basis, None, options.max_memory, watch), 0.5
    rivals: list[Fitted] = []
    if valid is not None and background.status == "converged":
        rivals = [fit(train, options, watch=watch), fit_shrunken(train, basis, None, options.max_memory, watch)]
        log_prob = np.stack([log_prob_of(rival.model, valid.states) for rival in rivals], axis=1)
        share = float(best_shares(log_prob, valid.counts)[1])
    if any(found.status == "interrupted" for found in (background, *rivals)):
        return replace(fitted, status="interrupted", settings=settings)
    model = AveragedLogLinear.of([fitted.model], [(share, background.model)])
    order = np.argsort([model.basis.index(term) for term in fitted.model.terms], kind="stable")
    surprise = -float(empirical.counts @ log_prob_of(model, empirical.states)) / empirical.total
    return replace(
        fitted,
        model=model,
        standard_errors=fitted.standard_errors[order],
        nats_saved=fitted.nats_saved[order],
        divergence=surprise - fitted.entropy,
        description_length=float("nan"),
        prior=None,
        settings={**settings, "share": share, **background.settings},
    )
