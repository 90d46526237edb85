"""How far a fitted model is from its data, in sentences; measured when the fit ends and kept among its settings.

seconds    of the whole fit, from reading the table to the last weight
baselines  mean log-likelihood of a row if columns were independent, and if all states were alike
rows       by which the rows are recognised again (:mod:`fullspan.data.row_sketch`)
misfit     the largest pairwise misfit of a model that was learned without the table of all states
           (:mod:`fullspan.query.pair_misfit`), or why it is not known
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.errors import FullspanError
from fullspan.learn.likelihood.solvers import BEYOND_THE_TABLE, IN_WORDS
from fullspan.model.estimate import Estimate

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.query.distribution import Distribution
    from fullspan.query.pair_misfit import PairMisfit

MAX_CHAIN_WORK = 5e9
"""Weights that Gibbs chains may visit, a few seconds; beyond, no rows are drawn."""
CHAIN_DRAWS, CHAIN_SWEEPS = 2000, 100
_SCORED = 10_000
"""Rows that are scored at once: their hidden units take 4 MB for 50 units."""


# -- measuring ------------------------------------------------------------------------------------------------


def recorded(fitted: Any, data: Empirical, seconds: float, measure: Callable[[], PairMisfit | None] | None) -> Any:
    """The fitted model with what is said about it here among its settings.

    Parameters
    ----------
    data : all rows given to the fit, those held out for its own choices included.
    measure : finds the largest pairwise misfit; called only for a model that does without the table of all states.
    """
    from fullspan.data.row_sketch import RowSketch

    found: dict[str, Any] = {"seconds": round(seconds, 3), "rows": RowSketch.of(data).to_json()}
    if not fitted.is_conditional:
        # Of the same rows: without something to compare with, a log-likelihood says nothing to a person.
        found["baselines"] = baselines(data)
        if approach(fitted) is not None and measure is not None:
            found["misfit"] = _measured(measure)
    return dataclasses.replace(fitted, settings={**fitted.settings, **found})


def _measured(measure: Callable[[], PairMisfit | None]) -> dict[str, Any]:
    try:
        found = measure()
    except (FullspanError, MemoryError) as error:
        return {"unknown": str(error)}
    return {"unknown": "there is one column only"} if found is None else dataclasses.asdict(found)


def baselines(data: Empirical) -> dict[str, float]:
    """Mean log-likelihood of a row, in nats: under the product of the columns' shares, and if all states were alike.

    Missing cells are left out.
    """
    alone = uniform = 0.0
    for own in data.level_counts():
        counts = own[own > 0]
        alone += float(counts @ np.log(counts / counts.sum())) if counts.size else 0.0
        uniform -= float(counts.sum()) * math.log(len(own))
    return {"independent": alone / data.total, "uniform": uniform / data.total}


def measured_by(distribution: Distribution, fitted: Any, data: Empirical) -> PairMisfit | None:
    """The largest pairwise misfit of a distribution; of one learned by chains, by chains if need be.

    Raises
    ------
    FullspanError : neither sums nor draws are affordable.
    """
    from fullspan.query.pair_misfit import N_DRAWS, pair_misfit, sampled_misfit

    rng = np.random.default_rng(0)

    def by_draws() -> PairMisfit | None:
        drawing, n_draws = distribution, N_DRAWS
        if fitted.settings.get("solver") in BEYOND_THE_TABLE:
            drawing, n_draws = distribution.by_chains(rng), CHAIN_DRAWS
            weights = sum(map(len, fitted.model.terms))
            _check_chain_work(weights * 500.0 * (500 + 10 * CHAIN_DRAWS / 500))
        return sampled_misfit(lambda size: drawing.sample(size, rng), data, n_draws)

    return pair_misfit(distribution, data, by_draws)


def measured_by_layers(machine: Any, data: Empirical) -> PairMisfit | None:
    """The same of a layered machine, from rows drawn by its chains.

    Raises
    ------
    FullspanError : that would take too long.
    """
    from fullspan.query.distributions.layered import LayeredDistribution
    from fullspan.query.pair_misfit import sampled_misfit

    _check_chain_work(machine.n_parameters * float(CHAIN_DRAWS * CHAIN_SWEEPS) / 4)  # by products of matrices
    drawing = LayeredDistribution(machine, Estimate(math.nan, math.nan), sweeps=CHAIN_SWEEPS)
    rng = np.random.default_rng(0)
    return sampled_misfit(lambda size: drawing.sample(size, rng), data, CHAIN_DRAWS)


def scored_by_layers(distribution: Any, data: Empirical) -> dict[str, Any]:
    """Mean log weight of the rows under a layered machine, which lacks log Z, and the baselines of the same rows.

    A deep machine scores complete rows only; ``total`` is the number of rows that count here.
    """
    rows = data
    if distribution.bound and not data.is_complete:
        kept = (np.asarray(data.states) >= 0).all(axis=1)
        rows = dataclasses.replace(data, states=np.asarray(data.states)[kept], counts=data.counts[kept])
    try:
        found = sum(
            float(rows.counts[k : k + _SCORED] @ distribution.log_weight(np.asarray(rows.states[k : k + _SCORED])))
            for k in range(0, len(rows.counts), _SCORED)
        )
    except (FullspanError, MemoryError) as error:
        return {"unknown": str(error)}
    if not len(rows.counts):
        return {"unknown": "no row is complete"}
    return {"log_weight": found / rows.total, "total": rows.total, "baselines": baselines(rows)}


def _check_chain_work(work: float) -> None:
    if work > MAX_CHAIN_WORK:
        raise FullspanError("drawing rows from so large a machine takes too long; compare it on held-out rows")


# -- saying ---------------------------------------------------------------------------------------------------


def approach(fitted: Any) -> str | None:
    """How a model does without the table of all states; None if it uses it, or was not learned from rows."""
    model, settings = fitted.model, fitted.settings
    if fitted.status == "given":
        return None
    if model.approach is not None:
        return str(model.approach)
    if fitted.by_elimination:
        return f"by elimination, width {settings['width']}" if "width" in settings else "by elimination"
    if settings.get("estimator") == "DecimatableBoltzmannMachine":
        return "by decimation, on the graph given"
    if settings.get("solver") in BEYOND_THE_TABLE:
        return f"by {IN_WORDS[settings['solver']]}"
    return None


def limit_line(fitted: Any) -> str | None:
    """One line that says how a model does without the full table, and what that leaves; None if it uses the table."""
    how = approach(fitted)
    if how is None or fitted.is_conditional:
        return None
    return f"{how}; {misfit_words(fitted.settings.get('misfit'))}"


def misfit_words(record: Any) -> str:
    """The largest pairwise misfit in words, from its record."""
    if not isinstance(record, dict):
        return "largest pairwise misfit: not known, as in files of earlier versions"
    if "unknown" in record:
        return f"largest pairwise misfit: not measured ({record['unknown']})"
    cell, model, data = (record.get(key, math.nan) for key in ("cell", "model", "data"))
    draws = record.get("draws", 0)
    if not (isinstance(cell, dict) and all(map(_is_finite, (model, data, draws)))):
        return "largest pairwise misfit: not known, the file's record of it cannot be read"
    cell = ", ".join(f"{name}={level}" for name, level in cell.items())
    if draws > 0:
        # An event never drawn has an error all the same.
        error = math.sqrt(max(model * (1 - model), 1.0 / draws) / draws)
        return (
            f"largest pairwise misfit found in {draws:,} draws: P({cell}) is about {model:.3f} ± {error:.3f} in the "
            f"model, {data:.3f} in the data"
        )
    digits = _digits(abs(model - data))
    if digits is None:
        return (
            f"largest pairwise misfit: none, every P of two columns is that of the data, such as P({cell}) {data:.3f}"
        )
    return f"largest pairwise misfit: P({cell}) is {model:.{digits}f} in the model, {data:.{digits}f} in the data"


def _digits(difference: float) -> int | None:
    """Decimals that show a difference, at least three; None below a millionth."""
    return None if difference < 1e-6 else max(3, 1 - math.floor(math.log10(difference)))


def is_weighted(fitted: Any) -> bool:
    """Whether the lines of the table stand for more or fewer rows: ``n_rows`` and ``n_dropped`` then count lines."""
    return bool(abs(fitted.total - (fitted.n_rows - fitted.n_dropped)) > 1e-9 * max(fitted.total, 1.0))


def row_words(fitted: Any) -> str:
    """The rows a model was learned from, as they count: sums of counts or weights; and how many were dropped."""
    lines = f"{'line' if fitted.n_dropped == 1 else 'lines'} " if is_weighted(fitted) else ""
    dropped = f" ({fitted.n_dropped:,} {lines}dropped: missing cells)" if fitted.n_dropped else ""
    return f"{fitted.total:,.10g} {'row' if fitted.total == 1 else 'rows'}{dropped}"


def mean_log_likelihood(fitted: Any) -> float:
    """Of a row learned from, in nats; NaN if not known."""
    if hasattr(fitted, "log_likelihood"):
        return float(fitted.log_likelihood)
    return -float(fitted.divergence + fitted.entropy) if hasattr(fitted, "divergence") else math.nan


def is_dense(fitted: Any) -> bool:
    """Whether there are at least as many rows as states: only then does the divergence from the data say much."""
    return bool(fitted.total >= fitted.model.space.n_states)


def likelihood_line(fitted: Any) -> str:
    """How well the rows are described: the divergence of a dense table, else the log-likelihood against baselines.

    With fewer rows than states nearly every row is alone in its state, and the divergence grows with what no model
    could learn.
    """
    if is_dense(fitted) and hasattr(fitted, "divergence"):
        return f"divergence from the data {fitted.divergence:.4f} nats per row"
    found = mean_log_likelihood(fitted)
    return f"log-likelihood {found:.4f} nats per row{_against(found, fitted.settings.get('baselines'))}"


def layers_facts(fitted: Any) -> dict[str, Any]:
    """The mean log-likelihood of a layered machine for JSON, with the error of log Z, and whether it is a bound."""
    record = fitted.settings.get("scored")
    known = isinstance(record, dict) and all(_is_finite(record.get(key)) for key in ("log_weight", "total"))
    if not known or not math.isfinite(fitted.log_z.value):
        return {"log_likelihood_per_row": math.nan}
    return {
        "log_likelihood_per_row": record["log_weight"] - fitted.log_z.value,
        "log_likelihood_standard_error": fitted.log_z.standard_error,
        "is_lower_bound": fitted.model.n_layers > 1,
        "baselines": record.get("baselines"),
    }


def layers_lines(fitted: Any) -> list[str]:
    """How well the rows are described by a layered machine, in one line; none if that is not known."""
    found = layers_facts(fitted)
    value, record = found["log_likelihood_per_row"], fitted.settings.get("scored")
    if math.isnan(value):
        why = record.get("unknown") if isinstance(record, dict) else None
        return [] if why is None else [f"log-likelihood not known: {why}"]
    error = found["log_likelihood_standard_error"]
    shown = f"{value:.4f}" + (f" ± {error:.2g}" if error > 0 else "")
    bound = "at least " if found["is_lower_bound"] else ""
    some = "" if record["total"] >= fitted.total else f" of the {record['total']:,.10g} complete rows"
    return [f"log-likelihood {bound}{shown} nats per row{some}{_against(value, found['baselines'])}"]


def _against(found: float, record: Any) -> str:
    if not isinstance(record, dict) or math.isnan(found):
        return ""
    named = [("independent columns", record.get("independent", math.nan)), ("uniform", record.get("uniform", math.nan))]
    if not all(_is_finite(base) for _, base in named):
        return ""
    parts = [f"{abs(found - base):.4f} {'above' if found >= base else 'below'} {name}" for name, base in named]
    return ", " + " and ".join(parts)


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def facts(fitted: Any) -> dict[str, Any]:
    """The same numbers for JSON."""
    settings = fitted.settings
    return {
        "log_likelihood_per_row": mean_log_likelihood(fitted),
        "baselines": settings.get("baselines"),
        "approach": approach(fitted),
        "pairwise_misfit": settings.get("misfit"),
        "fit_seconds": settings.get("seconds"),
    }
