"""The methods of density estimation that are compared: each learns from rows, and scores others.

A method may decline a set, with the reason: too many states, cells missing, a package that is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.bench.density_sets import Split
from fullspan.data import Empirical
from fullspan.data.space import Space
from fullspan.estimators.compare.baselines import ChowLiu, Independent
from fullspan.query.distributions.log_linear import LogLinearDistribution
from fullspan.query.distributions.mixture import MixtureDistribution
from fullspan.query.distributions.tree import TreeDistribution

TABLE, PAIRWISE = 1 << 22, 1 << 18
"""States up to which the search runs on the dual table, and all pairs are fitted exactly."""
SHRUNKEN = 1 << 18
"""States up to which a shrunken model is stacked with averaged fits."""
RIVALS = Path(__file__).resolve().parents[3] / "benchmarks" / "rivals"
"""Where a checkout of the sources keeps them; they are not installed."""
_HIDDEN_UNITS, _FITS = 20, 16


@dataclass(frozen=True)
class Settings:
    """What may be changed: seconds to learn in, where a method knows a limit, the seed, and the most for a fold."""

    seconds: float = 420.0
    seed: int = 0
    limit: float = 600.0


@dataclass(frozen=True)
class Learned:
    """``log_prob`` of rows with -1 for missing cells, and what is worth knowing about the model."""

    log_prob: Callable[[Ints], Array]
    notes: dict[str, Any] = field(default_factory=dict)


class Declined(Exception):
    """A method does not apply to a set; the message says why."""


Method = Callable[[Split, Space, Settings], Learned]


def _counted(rows: Ints, space: Space) -> Empirical:
    return Empirical.from_codes(rows, space=space, allow_missing=True)


def independent(split: Split, space: Space, settings: Settings) -> Learned:
    """Every column by itself."""
    return Learned(Independent(_counted(split.known, space)).log_prob)


def chow_liu(split: Split, space: Space, settings: Settings) -> Learned:
    """The best tree."""
    return Learned(ChowLiu(_counted(split.known, space)).log_prob)


def pairwise(split: Split, space: Space, settings: Settings) -> Learned:
    """The exact machine of all pairs, with a ridge of one pseudo-row."""
    from fullspan.learn.likelihood.machine import fit_machine
    from fullspan.learn.likelihood.options import MachineOptions

    if space.n_states > PAIRWISE:
        raise Declined(f"more than {PAIRWISE:,} states")
    data = _counted(split.known, space)
    fitted = fit_machine(data, MachineOptions(order=2, basis="walsh", l2=1.0 / data.total, tol=1e-6))
    return Learned(LogLinearDistribution(fitted.model).log_prob, {"terms": len(fitted.model.terms)})


def hidden_trees(split: Split, space: Space, settings: Settings) -> Learned:
    """Hidden Chow–Liu trees."""
    from fullspan.learn.trees.hidden_tree import TreeOptions, fit_hidden_tree

    options = TreeOptions([16, 32], 0.3, 3, max_iter=120, seed=settings.seed, max_seconds=settings.seconds)
    fitted = fit_hidden_tree(_counted(split.train, space), options, _counted(split.valid, space))
    return Learned(TreeDistribution(fitted.model).log_prob, {"states": fitted.model.n_states})


def fullspan(split: Split, space: Space, settings: Settings) -> Learned:
    """One full-span model: on the dual table where it is small, else by elimination."""
    from fullspan.learn.search.fit import fit_search
    from fullspan.learn.search.options import Options
    from fullspan.learn.wide.fit import WideOptions, fit_wide

    data = _counted(split.known, space)
    if space.n_states <= TABLE:
        fitted = fit_search(data, Options())
        notes = {"terms": len(fitted.model.terms), "engine": "table"}
    else:
        fitted = fit_wide(data, WideOptions())
        notes = {"terms": len(fitted.model.terms), "engine": "elimination", "width": fitted.settings["width"]}
    return Learned(LogLinearDistribution(fitted.model).log_prob, notes)


def average(split: Split, space: Space, settings: Settings) -> Learned:
    """Sixteen full-span fits and other models, stacked; of wide sets, one search and the others, in limited time."""
    from fullspan.learn.ensemble import averaged_search, shrunken_search
    from fullspan.learn.search.options import Options
    from fullspan.query.distributions.averaged import AveragedDistribution

    if space.n_states > TABLE:
        return _stack(split, space, settings)
    data = _counted(split.known, space)
    if space.n_states <= SHRUNKEN:
        fitted = shrunken_search(data, Options(), _FITS, settings.seed, max_seconds=settings.seconds)
    else:
        fitted = averaged_search(data, Options(), k=_FITS, random_state=settings.seed, max_seconds=settings.seconds)
    return Learned(AveragedDistribution(fitted.model).log_prob, {"shares": fitted.settings.get("shares", {})})


def _stack(split: Split, space: Space, settings: Settings) -> Learned:
    from fullspan.learn.ensemble import StackOptions, stacked_wide
    from fullspan.query.distributions.averaged import AveragedDistribution

    options = StackOptions(_FITS, max_seconds=settings.seconds, seed=settings.seed)
    fitted = stacked_wide(_counted(split.train, space), options, _counted(split.valid, space))
    held_out = {step.move: round(-step.cost, 4) for step in fitted.history}
    notes = {"shares": fitted.settings["shares"], "held out": held_out, "status": fitted.status}
    return Learned(AveragedDistribution.of(fitted).log_prob, notes)


def mixture(split: Split, space: Space, settings: Settings) -> Learned:
    """A mixture of decomposable models; missing cells are summed over."""
    from fullspan.learn.decomposable.fit import MixtureOptions, fit_mixture

    options = MixtureOptions(max_seconds=settings.seconds, seed=settings.seed)
    fitted = fit_mixture(_counted(split.train, space), options, _counted(split.valid, space))
    notes = {"components": len(fitted.model.shares), "width": fitted.model.width, "valid": fitted.validation}
    return Learned(MixtureDistribution(fitted.model).log_prob, notes)


def restricted(split: Split, space: Space, settings: Settings) -> Learned:
    """A restricted Boltzmann machine whose log Z is exact: 20 hidden units."""
    from fullspan.estimators.layers.restricted import RestrictedBoltzmannMachine

    if any(card > 2 for card in space.cards) or any((rows < 0).any() for rows in (split.known, split.test)):
        raise Declined("its units are binary and always seen")
    machine = RestrictedBoltzmannMachine(n_hidden=_HIDDEN_UNITS, max_iter=50, random_state=settings.seed)
    machine.fit(split.known.astype(np.int8))
    return Learned(lambda rows: np.asarray(machine.score_samples(rows.astype(np.int8)), dtype=np.float64))


_BASELINES: dict[str, Method] = {
    "independent": independent,
    "chow-liu": chow_liu,
    "pairwise": pairwise,
    "hidden-trees": hidden_trees,
}
_OWN: dict[str, Method] = {"rbm": restricted, "fullspan": fullspan, "average": average, "mixture": mixture}


def _rivals() -> dict[str, Method]:
    """Methods of other projects, from the modules in ``benchmarks/rivals``; each has a ``NAME`` and ``learn``."""
    found: dict[str, Method] = {}
    for path in sorted(RIVALS.glob("*.py")):
        spec = spec_from_file_location(f"fullspan_rival_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        found[module.NAME] = module.learn
    return found


@cache
def all_methods() -> dict[str, Method]:
    """All methods by name: baselines, rivals where there is a checkout, and machines, the last three full-span ones."""
    return {**_BASELINES, **_rivals(), **_OWN}


def how_to_add_rivals() -> str:
    """A sentence for people where no rival was found; empty otherwise."""
    if any(RIVALS.glob("*.py")):
        return ""
    return (
        "only methods of fullspan are compared; from a checkout of its sources, benchmarks/rivals adds those of other "
        "projects, such as pyagrum"
    )
