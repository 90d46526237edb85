"""Averages of bootstrap fits: a search or a machine, fitted again and again, and how it was done."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fullspan.estimators.settings import noted, of_hidden
from fullspan.learn.averaging.fit import fit_average

if TYPE_CHECKING:
    import numpy as np

    from fullspan.data import Empirical
    from fullspan.learn.likelihood.machine import MachineOptions
    from fullspan.learn.search.fit import Options
    from fullspan.learn.wide.fit import WideOptions
    from fullspan.model.fitted import Fitted
    from fullspan.space import Variable

Watch = Callable[[Any], None] | None


def averaged_search(
    empirical: Empirical,
    options: Options,
    hidden: Sequence[Variable] = (),
    restarts: int = 5,
    k: int = 16,
    random_state: Any = None,
    watch: Watch = None,
) -> Fitted:
    """The average of k searches, each of a bootstrap sample."""
    from fullspan.learn.search.fit import fit
    from fullspan.learn.search.incomplete import fit_incomplete

    def one(data: Empirical, basis: str | None, seed: np.random.Generator, watch: Callable[[Any], None]) -> Fitted:
        own = options if basis is None else replace(options, basis=basis)
        if hidden:
            return fit_incomplete(data, own, hidden, restarts, seed, watch=watch)
        return fit(data, own, watch=watch)

    fitted = fit_average(empirical, k, one, random_state, watch)
    settings = {**fitted.settings, **dataclasses.asdict(options), "restarts": restarts}
    return replace(fitted, settings={**settings, **of_hidden(hidden, random_state)})


def averaged_wide(
    empirical: Empirical, options: WideOptions, k: int = 16, random_state: Any = None, watch: Watch = None
) -> Fitted:
    """The average of k searches without a table, each of a bootstrap sample."""
    from fullspan.learn.wide.fit import fit_wide

    def one(data: Empirical, basis: str | None, seed: np.random.Generator, watch: Callable[[Any], None]) -> Fitted:
        return fit_wide(data, options if basis is None else replace(options, basis=basis), watch)

    return fit_average(empirical, k, one, random_state, watch)


def averaged_machine(
    empirical: Empirical,
    options: MachineOptions,
    hidden: Sequence[Variable] = (),
    k: int = 16,
    random_state: Any = None,
    watch: Watch = None,
) -> Fitted:
    """The average of k machines, each fitted to a bootstrap sample.

    Raises
    ------
    FullspanError : the solver holds no table over the states, so that there is none to average.
    """
    from fullspan.errors import FullspanError
    from fullspan.learn.likelihood.machine import BEYOND_THE_TABLE, fit_machine

    if options.solver in BEYOND_THE_TABLE:
        raise FullspanError(
            f"average={k} needs the table of all states, which solver={options.solver!r} does without; use an exact "
            "solver, or average=1"
        )

    def one(data: Empirical, basis: str | None, seed: np.random.Generator, watch: Callable[[Any], None]) -> Fitted:
        return fit_machine(data, replace(options, seed=seed), hidden, watch)

    return noted(fit_average(empirical, k, one, random_state, watch), options, hidden, random_state)
